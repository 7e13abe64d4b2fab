#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The same files work in the build folder, installed under another root (DESTDIR), under another prefix, and after that prefix was
# moved: the command and programs with libkymo find the descriptions that ship with them.
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
  int status = kymo_key_find(&key, argc > 1 ? argv[1] : "pcap", &error);
  if (status == KYMO_OK)
    kymo_key_release(key);
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
