#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The same files work in the build folder, installed under another root (DESTDIR), under another prefix, and after that prefix was
# moved: the command and programs with libkymo find the descriptions that ship with them, CMake finds both libraries. What runs after an
# installation updates the loader's list of them, or says what remains to be done.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
unset KYMO_DESCRIPTIONS LD_LIBRARY_PATH

# ---- descriptions ----

cat >find.c <<'C'
#include <kymo/read.h>
#include <stdio.h>
int main(int argc, char **argv) {
  struct kymo_schema *key;
  struct kymo_error error;
  int status = kymo_description_find(&key, argc > 1 ? argv[1] : "pcap", &error);
  if (status == KYMO_OK)
    kymo_description_release(key);
  else
    printf("%s\n", error.message);
  return status == KYMO_OK ? 0 : 3;
}
C
# a capture of one packet of four bytes
printf '\324\303\262\241\2\0\4\0\0\0\0\0\0\0\0\0\377\377\0\0\1\0\0\0\1\0\0\0\2\0\0\0\4\0\0\0\4\0\0\0abcd' >capture
echo 'some bytes' >bytes

# Each case names the directory, so that descriptions which an installed kymo has elsewhere do not count.
# command_finds COMMAND DIRECTORY: without a word which description it is, and by name
command_finds() {
  [ "$("$1" cat --as nothing-like-it bytes 2>&1)" = "kymo cat: no description is called 'nothing-like-it' in $2" ] || { "$1" cat --as nothing-like-it bytes; return 1; }
  "$1" cat capture | grep -F 'pcap:packet' && "$1" cat --as pcap capture | grep -F 'pcap:packet'
}
# library_finds LIBRARIES DIRECTORY: a program that is not beside them
library_finds() {
  local said
  said=$(LD_LIBRARY_PATH=$1 ./find nothing-like-it)
  [ "$said" = "no description is called 'nothing-like-it' in $2" ] || { echo "$said"; return 1; }
  LD_LIBRARY_PATH=$1 ./find pcap
}
# both_find WHERE COMMAND LIBRARIES DIRECTORY
both_find() {
  check "$1: the command finds descriptions" command_finds "$2" "$4"
  check "$1: a program with libkymo finds descriptions" library_finds "$3" "$4"
}
check 'a program with libkymo is built' gcc -Wall -Werror find.c -o find -I"$KYMO_SOURCE/include" -L"$KYMO_BUILD" -lkymo

build=$(realpath "$KYMO_BUILD")
both_find 'build folder' "$build/kymo" "$build" "$build/descriptions"
check 'build folder: holds the descriptions of the source' diff -r -x meson.build -x '*.p' "$KYMO_SOURCE/descriptions" "$build/descriptions"

here=$(realpath .)
check 'DESTDIR: meson install' meson install -C "$KYMO_BUILD" --no-rebuild --quiet --destdir "$here/stage"
bin=$(dirname "$(find "$here/stage" -path '*/bin/kymo')")
libraries=$(dirname "$(find "$here/stage" -name libkymo.so)")
prefix=${bin%/bin}
both_find DESTDIR "$bin/kymo" "$libraries" "$prefix/share/kymo/descriptions"
check 'DESTDIR: holds the descriptions of the source' diff -r -x meson.build "$KYMO_SOURCE/descriptions" "$prefix/share/kymo/descriptions"

mv "$prefix" "$here/moved"
both_find 'moved prefix' moved/bin/kymo "moved${libraries#"$prefix"}" "$here/moved/share/kymo/descriptions"
mkdir links && ln -s "$here/moved/bin/kymo" links/kymo
check 'moved prefix: the command finds descriptions through a link to it' command_finds links/kymo "$here/moved/share/kymo/descriptions"
# a directory of that name that holds something else does not count
mkdir moved/bin/descriptions && echo text >moved/bin/descriptions/readme.txt
check 'moved prefix: a directory "descriptions" without descriptions is passed over' command_finds moved/bin/kymo "$here/moved/share/kymo/descriptions"
wanted() { [ "$(KYMO_DESCRIPTIONS=$here moved/bin/kymo cat --as nothing-like-it bytes 2>&1)" = "kymo cat: no description is called 'nothing-like-it' in $here" ]; }
check 'moved prefix: KYMO_DESCRIPTIONS comes first' wanted

# ---- documents ----

documents=moved/share/doc/kymo
# Each page and example that a help, a manual page, a header or another page names, as docs/NAME.md; X stands for any. $documents has the source's folders.
named() {
  local command view
  {
    moved/bin/kymo --help
    for command in $(moved/bin/kymo --help | sed -nE 's/^  ([a-z]+)  .*/\1/p' | grep -v '^kymo$'); do moved/bin/kymo help "$command"; done
    for view in $(moved/bin/kymo help stat | sed -n '/^Statistics:/,$s/^  \([a-z]*\) .*/\1/p'); do moved/bin/kymo help stat "$view"; done
    cat moved/share/man/man?/* moved/include/kymo/*.h "$documents"/*.md "$documents"/docs/*.md
  } | grep -oE '\b(docs|examples)/[A-Za-z0-9_./-]+\.(md|svg|c|h|py)\b' | grep -v '/X\.' | sort -u
}
names_are_there() {
  local name missing=0
  named >names && [ "$(wc -l <names)" -gt 15 ] || { cat names; return 1; }
  while read -r name; do [ -f "$documents/$name" ] || { echo "$name is not installed"; missing=1; }; done <names
  return $missing
}
pages_are_there() {
  (cd "$KYMO_SOURCE/docs" && find . -maxdepth 1 \( -name '*.md' -o -name '*.svg' -o -name '*.html' \) && find ./pictures -type f) | sort >pages
  diff pages <(cd "$documents/docs" && find . -type f | sort)
}
check 'documents: all pages are installed' pages_are_there
check 'documents: what help, manual pages, headers and pages name is installed' names_are_there
check 'documents: all links of installed pages lead somewhere' python3 "$KYMO_SOURCE/tests/documents/links.py" "$documents"/*.md "$documents"/docs/*.md

# ---- the libraries for --calls ----

calls_work() { rm -rf calls && "$1" record -q --calls libc -o calls cat capture >/dev/null && "$1" cat calls | grep -F libc:; }
check 'build folder: record --calls finds its library' calls_work "$build/kymo"
check 'moved prefix: record --calls finds its library' calls_work moved/bin/kymo
check 'moved prefix: record --calls finds its library through a link to the command' calls_work links/kymo

# ---- CMake ----

mkdir project && cat >project/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.18)
project(app C CXX)
find_package(kymo 0.2 REQUIRED COMPONENTS trace kymo)
find_package(kymo REQUIRED) # a second time, as by two parts of a project
message(STATUS "kymo ${kymo_VERSION} in ${kymo_DIR}")
add_executable(app app.c)
target_link_libraries(app PRIVATE kymo::trace)
add_executable(appxx app.cc)
target_link_libraries(appxx PRIVATE kymo::trace)
add_executable(find ../find.c)
target_link_libraries(find PRIVATE kymo::kymo)
C
cat >project/app.c <<'C'
#include <kymo/trace.h>
int main(void) {
  for (int i = 0; i < 3; i++)
    KYMO(app, step, i);
}
C
cp project/app.c project/app.cc

# cmake_builds PREFIX: finds kymo below PREFIX, and the programs run without LD_LIBRARY_PATH
cmake_builds() {
  rm -rf project/build
  cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$1" && cmake --build project/build &&
    [ "$(project/build/find nothing-like-it)" = "no description is called 'nothing-like-it' in $1/share/kymo/descriptions" ] &&
    ldd project/build/app | grep -F "libkymo-trace.so.1 => $1/"
}
cmake_records() {
  local program
  for program in app appxx; do
    rm -rf trace && "$here/moved/bin/kymo" record -q -o trace "project/build/$program" && [ "$("$here/moved/bin/kymo" cat trace | grep -c app:step)" = 3 ] || return 1
  done
}
# cmake_asks WORDS: only find_package(kymo WORDS)
cmake_asks() {
  rm -rf asks && mkdir asks && printf 'cmake_minimum_required(VERSION 3.19)\nproject(asks C)\nfind_package(kymo %s)\n' "$1" >asks/CMakeLists.txt
  cmake -S asks -B asks/build -DCMAKE_PREFIX_PATH="$here/moved"
}
cmake_refuses() { ! cmake_asks "$1" >asked 2>&1 && tr -s ' \n' ' ' <asked | grep -F "$2" || { cat asked; false; }; }
if ! command -v cmake >/dev/null; then
  skip 'find_package(kymo)' 'cmake is not here'
else
  check 'CMake: a project finds kymo below the moved prefix' cmake_builds "$here/moved"
  check 'CMake: its programs record' cmake_records
  for version in 0.2 0 '0.2.0 EXACT' 0.1.1...0.2.0 0.2...0.9; do
    check "CMake: version $version is found" cmake_asks "$version REQUIRED"
  done
  check 'CMake: version 0.1.5 is refused, whose interface was another one' cmake_refuses '0.1.5 REQUIRED' 'version: 0.2.0'
  check 'CMake: version 0.3 is refused' cmake_refuses '0.3 REQUIRED' 'version: 0.2.0'
  check 'CMake: version 1 is refused' cmake_refuses '1 REQUIRED' 'version: 0.2.0'
  check 'CMake: version 0.1.1...<0.2.0 is refused' cmake_refuses '0.1.1...<0.2.0 REQUIRED' 'version: 0.2.0'
  check 'CMake: a component that does not exist is refused' cmake_refuses 'REQUIRED COMPONENTS reader' 'kymo has no component "reader", only trace and kymo'
fi

# ---- after an installation ----

# after EXPECTED PREFIX KNOWN: what after-install.sh prints if PATH and PKG_CONFIG_PATH name the prefix KNOWN; loader/ldconfig is asked
mkdir loader
cat >loader/ldconfig <<'C'
#!/bin/sh
case "$*" in
  '-N -X -v') printf '%s: (from /etc/ld.so.conf.d/local.conf:1)\n' /lib "$LOOKED_AT" ;;
  -p) cat "$LOADER/cache" 2>/dev/null ;;
  '') [ -z "$IS_USER" ] && printf '\tlibkymo-trace.so.1 (libc6,x86-64) => %s/libkymo-trace.so.1\n' "$LOOKED_AT" >"$LOADER/cache" ;;
esac
C
chmod +x loader/ldconfig
export LOADER=$PWD/loader LOOKED_AT=/usr/local/lib
after() {
  rm -f loader/cache
  sed "s,@PREFIX@,$2,; s,@BINDIR@,$2/bin,; s,@LIBDIR@,$2/lib,; s,@PYTHONDIR@,${PACKAGES-}," "$KYMO_SOURCE/scripts/after-install.sh.in" >after-install.sh
  diff - <(PATH=$LOADER:$3/bin:/usr/bin:/bin PKG_CONFIG_PATH=$3/lib/pkgconfig IS_USER=${IS_USER-} sh after-install.sh 2>&1) <<<"$1"
}
as_root() {
  after '
kymo is installed in /usr/local.
Programs find its libraries.' /usr/local /usr/local
}
as_user() {
  IS_USER=yes after '
kymo is installed in /usr/local.
For programs to find its libraries, as root:
    ldconfig' /usr/local /usr/local
}
elsewhere() {
  after '
kymo is installed in /home/me/kymo.
For a shell to find the command, and pkg-config the libraries:
    export PATH=/home/me/kymo/bin:$PATH
    export PKG_CONFIG_PATH=/home/me/kymo/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
Programs that are linked with the flags of pkg-config, or by CMake, find its libraries. Others need one of:
    export LD_LIBRARY_PATH=/home/me/kymo/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    echo /home/me/kymo/lib >/etc/ld.so.conf.d/kymo.conf && ldconfig    # as root' /home/me/kymo /usr/local
}
python_package() {
  mkdir -p packages/kymo && PACKAGES=$PWD/packages after "
kymo is installed in /usr/local.
Programs find its libraries.
For Python to find the package kymo:
    export PYTHONPATH=$PWD/packages\${PYTHONPATH:+:\$PYTHONPATH}" /usr/local /usr/local &&
    PYTHONPATH=$PWD/packages PACKAGES=$PWD/packages as_root
}
check 'after an installation: PYTHONPATH is named where Python does not look' python_package
check 'after an installation, root: the list of the loader is updated' as_root
check 'after an installation, a user: ldconfig is named' as_user
check 'after an installation below another prefix: the remaining steps are printed' elsewhere

# A checkout in the home directory may have the name of the prefix: there, an installation would remove the headers of the source.
into_the_source() {
  mkdir -p own/build && cp "$KYMO_SOURCE/Makefile" own/ && touch own/build/build.ninja && ln -sfn own link || return 1
  local said prefix
  for prefix in "$PWD/own" "$PWD/link/"; do
    # also what sets a build folder up, since a later installation has its prefix
    said=$(make -C own -n --no-print-directory BUILD=new all PREFIX="$prefix" 2>&1) && return 1
    said=$(make -C own -n --no-print-directory install PREFIX="$prefix" 2>&1) && return 1
    grep -F "PREFIX=$prefix is the folder of the source: choose another one" <<<"$said" || { echo "$said"; return 1; }
  done
  make -C own -n --no-print-directory install PREFIX="$PWD/own/stage" | grep -F "meson configure -Dprefix=$PWD/own/stage"
}
check 'make install: the folder of the source is refused as the prefix' into_the_source

# The real loader, and what `make install` does to it: /usr/local and the files of the loader are this test's own.
if ! unshare -m true 2>/dev/null; then
  skip 'make install: programs find the libraries' 'a mount namespace of its own is not allowed'
elif [ "$(meson introspect --buildoptions "$KYMO_BUILD" | jq -r '.[] | select(.name == "prefix").value')" != /usr/local ]; then
  skip 'make install: programs find the libraries' 'the build folder is for another prefix than /usr/local'
else
  cat >own-system.sh <<'C'
set -eu
mkdir local etc && cp -a /etc/. etc && mount --bind local /usr/local && mount --bind etc /etc
mkdir -p /usr/local/bin
make -C "$KYMO_SOURCE" --no-print-directory BUILD="$KYMO_BUILD" install >said 2>&1 || { cat said; exit 1; }
grep -A 1 '^kymo is installed' said | diff - <(printf 'kymo is installed in /usr/local.\nPrograms find its libraries.\n')
gcc -Wall -Werror project/app.c -o app -lkymo-trace && kymo record -q -o system-trace ./app && [ "$(kymo cat system-trace | grep -c app:step)" = 3 ]
readelf -d app | grep -E 'R(UN)?PATH' && exit 1
gcc -Wall -Werror project/app.c -o app $(pkg-config --cflags --libs kymo-trace) && ./app
C
  check 'make install: programs find the libraries' env PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin unshare -m bash own-system.sh
fi
