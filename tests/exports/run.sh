#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The shared libraries export exactly what the public headers declare, and every symbol that a static
# library brings into a program is ours by name. libkymo-trace needs libc and nothing else.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

# Prints what the headers declare and do not define: functions as the compiler saw them, and variables.
declared() {
  printf '#include <%s>\n' "$@" >"$TMPDIR/headers.c"
  gcc -I"$KYMO_SOURCE/include" -aux-info "$TMPDIR/seen" -fsyntax-only "$TMPDIR/headers.c"
  grep -F "$KYMO_SOURCE/include/kymo/" "$TMPDIR/seen" | grep -E ':N[CF] \*/ extern' >"$TMPDIR/ours"
  {
    names ':NC ' | grep -vxFf <(names ':NF ')
    gcc -E -P -I"$KYMO_SOURCE/include" "$TMPDIR/headers.c" |
      sed -nE 's/^extern (__thread )?struct kymo_[a-z_]+ \*?(kymo_[a-z_]+).*/\2/p'
  } | sort -u
}
names() { grep -F "$1" "$TMPDIR/ours" | sed -E 's/ \(.*//; s/.*[ *]//' | sort -u; }
exported() { nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u; }
global() { nm -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u; }

compare() {
  local library=$1 difference
  shift
  difference=$(diff <(declared "$@") <(exported "$KYMO_BUILD/$library") | grep '^[<>]' || true)
  if [ -z "$difference" ]; then
    ok "$library exports what its headers declare"
  else
    printf '%s\n' "$difference" | sed 's/^</    declared only:/; s/^>/    exported only:/'
    not_ok "$library exports what its headers declare" "the headers and the .map file differ"
  fi
}
compare libkymo.so kymo/error.h kymo/filter.h kymo/schema.h kymo/read.h kymo/sink.h kymo/live.h kymo/stat.h
compare libkymo-trace.so kymo/trace.h kymo/bprintf.h kymo/define.h

hidden=$(exported "$KYMO_BUILD/libkymo.so" | grep -vxFf <(exported "$KYMO_BUILD/kymo") || true)
if [ -z "$hidden" ]; then ok 'the command exports to plug-ins what libkymo does'
else not_ok 'the command exports to plug-ins what libkymo does' "$(echo $hidden)"; fi
foreign=$(exported "$KYMO_BUILD/kymo" | grep '^kymo_' | grep -vxFf <(exported "$KYMO_BUILD/libkymo.so") || true)
if [ -z "$foreign" ]; then ok 'the command exports nothing else'
else not_ok 'the command exports nothing else' "$(echo $foreign)"; fi

for library in libkymo.a libkymo-trace.a; do
  foreign=$(global "$KYMO_BUILD/$library" | grep -vE '^(kymo_|__start_kymo|__stop_kymo)' || true)
  if [ -z "$foreign" ]; then ok "$library defines only names that begin with kymo_"
  else not_ok "$library defines only names that begin with kymo_" "$(echo $foreign)"; fi
done

needed=$(readelf -d "$KYMO_BUILD/libkymo-trace.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
  grep -vE '^(libc\.so|libpthread\.so|ld-linux)' || true)
if [ -z "$needed" ]; then ok 'libkymo-trace needs libc only'
else not_ok 'libkymo-trace needs libc only' "$(echo $needed)"; fi

for library in libkymo libkymo-trace; do
  soname=$(readelf -d "$KYMO_BUILD/$library.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  if [ "$soname" = "$library.so.1" ]; then ok "$library has a soname"
  else not_ok "$library has a soname" "it is '$soname'"; fi
done
