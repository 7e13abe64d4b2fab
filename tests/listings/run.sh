#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
# heavy
#
# What is stored of listed types, byte by byte, and that call sites are found: C and C++, gcc and clang, levels of
# optimisation, programs and shared libraries, and other machines where their compilers and emulators are installed.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

folder=$KYMO_SOURCE/tests/listings
cd "$TMPDIR" || exit

# recorder GCC: recorder.c as an object of its machine, which is made once
recorder() {
  [ -e "recorder-$1.o" ] || $1 -std=gnu11 -I"$KYMO_SOURCE/include" -O1 -fPIC -c "$folder/recorder.c" -o "recorder-$1.o"
}

# build GCC COMPILER FLAGS…: a program, and elsewhere.c in a library of its own that must need no text relocations
build() {
  local gcc=$1 compiler=$2 language='c -std=c11'
  shift 2
  case $compiler in *++) language='c++ -std=c++17' ;; esac
  local flags="-D_GNU_SOURCE -I$KYMO_SOURCE/include -Wall -Wextra -pedantic -Wshadow -Werror $*"
  case $compiler in clang*) flags="$flags -Wno-unused-command-line-argument" ;; esac
  recorder "$gcc" &&
    $compiler -x $language $flags -fPIC -shared -Wl,-z,text "$folder/elsewhere.c" -o libelsewhere.so &&
    $compiler -x $language $flags -rdynamic -Wl,-z,text "$folder/program.c" -x none "recorder-$gcc.o" \
      -L. -lelsewhere -Wl,-rpath,"$TMPDIR" $libraries -o program
}

runs_well() {
  rm -f program said
  build "${@:2}" || return 1
  if $1 ./program >said 2>&1 && ! grep -q '^not ok' said; then return 0; fi
  grep -v '^ok' said
  return 1
}

# try WHAT STARTER GCC COMPILER FLAGS…
try() {
  local what=$1
  shift
  if command -v ${1%% *} >/dev/null && command -v "$3" >/dev/null; then
    check "$what" runs_well "$@"
  else
    skip "$what" "$1 $3 not installed"
  fi
}

libraries=
for compiler in gcc clang g++ clang++; do
  for flags in '-O0 -fPIE -pie' '-O2 -fno-pic -no-pie' '-O2 -fPIE -pie' '-O3 -flto'; do
    try "$compiler $flags" env gcc $compiler $flags
  done
  try "$compiler, sanitized" env gcc $compiler -O1 -fsanitize=address,undefined -fno-sanitize-recover
done
try 'g++ -std=c++11' env gcc g++ -O2 -std=c++11

# what `kymo list` finds in programs of machines that keep addresses in the file
lists_sites() {
  "$KYMO_BUILD/kymo" list ./program >list && grep -q '^listing:envelope ' list && [ "$(grep -c '^listing:' list)" -ge 18 ]
}

# machine, emulator: call sites are data there in position-independent code of 32 bits
while read -r machine emulator; do
  libraries=
  case $machine in powerpc-*) libraries=-latomic ;; esac
  for how in 'gcc -O2 -fPIE -pie' 'gcc -O2 -fno-pic -no-pie' 'g++ -O0 -fPIE -pie'; do
    try "$machine-$how" "$emulator -L /usr/$machine" $machine-gcc $machine-$how
    case $machine-$how in
      i686-*-gcc* | arm-*-gcc*) [ ! -x program ] || check "kymo list of $machine-$how" lists_sites ;;
    esac
  done
done <<'END'
i686-linux-gnu qemu-i386
arm-linux-gnueabihf qemu-arm
powerpc-linux-gnu qemu-ppc
aarch64-linux-gnu qemu-aarch64
s390x-linux-gnu qemu-s390x
END
