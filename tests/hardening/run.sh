#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The command and the shared libraries are hardened in the default build: readelf finds each protection in the files
# themselves. The code that records an event pays nothing for it.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

everything='kymo libkymo.so libkymo-trace.so libkymo-calls.so libkymo-functions.so'
preloaded='libkymo-calls.so libkymo-functions.so' # what they define is called for each call of a program, and holds no array

for file in $everything; do
  in_build="$KYMO_BUILD/$file"
  loaded_anywhere() { readelf -hW "$in_build" | grep -qE '^ *Type: +DYN '; }
  relocations_are_read_only() {
    readelf -lW "$in_build" | grep -q GNU_RELRO && readelf -dW "$in_build" | grep -qE '\(FLAGS\).*BIND_NOW' &&
      ! readelf -dW "$in_build" | grep -q TEXTREL
  }
  # a segment is written to or executed
  nothing_is_written_and_executed() {
    readelf -lW "$in_build" | awk '$1 ~ /^(LOAD|GNU_STACK)$/ { seen++; if (/ RWE /) both++ } END { exit seen < 2 || both }'
  }
  check "$file: its code is loaded at any address" loaded_anywhere
  check "$file: full RELRO" relocations_are_read_only
  check "$file: no stack or segment is both written and executed" nothing_is_written_and_executed
done
check 'kymo: is a position-independent program' sh -c 'readelf -dW "$1" | grep -qE "FLAGS_1.*PIE"' sh "$KYMO_BUILD/kymo"

asks_of_libc() { readelf --dyn-syms -W "$KYMO_BUILD/$1" | grep -qE " UND $2(@| |\$)"; }
is_optimised() { meson introspect --buildoptions "$KYMO_BUILD" | jq -e '.[] | select(.name == "optimization") | .value | . != "0" and . != "plain"' >"$TMPDIR/optimised"; }
for file in kymo libkymo.so libkymo-trace.so; do
  check "$file: stack protector" asks_of_libc "$file" __stack_chk_fail
  if is_optimised; then check "$file: FORTIFY" asks_of_libc "$file" '__[a-z]+_chk'
  else skip "$file: FORTIFY" 'the build is not optimised'; fi
done

# The linker keeps the mark of a file only if the C library's start files have it too, so each object is asked, and
# whether calls may land on the exported functions.
objects_are_marked() {
  local folder object
  for folder in libcore.a.p librecorder.a.p libreader.a.p kymo.p libkymo-calls.so.p libkymo-functions.so.p; do
    for object in "$KYMO_BUILD/$folder"/*.o; do
      readelf -nW "$object" 2>/dev/null | grep -q 'IBT, SHSTK' || { echo "not marked: $object"; return 1; }
    done
  done
}
calls_may_land() {
  local file unmarked
  for file in libkymo.so libkymo-trace.so; do
    unmarked=$(objdump -d --no-show-raw-insn "$KYMO_BUILD/$file" |
      awk 'NR == FNR { exported[$1] = 1; next } /^[0-9a-f]+ </ { name = substr($2, 2, length($2) - 3); at = FNR; next }
           name in exported && FNR == at + 1 { if (!/endbr64/) print name }' <(nm -D --defined-only "$KYMO_BUILD/$file" | awk '$2 == "T" { print $3 }') -)
    [ -z "$unmarked" ] || { echo "$file: $unmarked"; return 1; }
  done
}
if [ "$(uname -m)" = x86_64 ]; then
  check 'CET: every object is marked' objects_are_marked
  check 'CET: exported functions are marked where calls land' calls_may_land
else
  skip CET 'another machine'
fi

# ---- the hot path ----

for file in $preloaded; do
  check_fails "$file: calls of a program check no canary" asks_of_libc "$file" __stack_chk_fail
done

# A program that is hardened itself pays nothing at its call sites but the mark at the function's entry.
cat >"$TMPDIR/site.c" <<'EOF'
#include <kymo/trace.h>
void site(uint64_t number, const char *text);
void site(uint64_t number, const char *text) {
  KYMO(hardened, number, number);
  KYMO(hardened, text, text, (int)number);
  KYMO_SAME(hardened, same, number);
}
EOF
code_of() { objdump -d --no-show-raw-insn "$1" | sed -n '/^[0-9a-f]* <site/,/^$/p'; }
call_sites_are_plain() {
  local flags='-fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2'
  [ "$(uname -m)" != x86_64 ] || flags="$flags -fcf-protection=full"
  "$1" -O2 $flags -I"$KYMO_SOURCE/include" -c "$TMPDIR/site.c" -o "$TMPDIR/site.o" || return 1
  code_of "$TMPDIR/site.o" >"$TMPDIR/code"
  [ "$(wc -l <"$TMPDIR/code")" -gt 50 ] && [ "$(grep -c endbr "$TMPDIR/code")" -le "$(grep -c '^[0-9a-f]* <' "$TMPDIR/code")" ] || return 1
  ! readelf -sW "$TMPDIR/site.o" | grep -E ' UND .*_chk'
}
for compiler in gcc clang; do
  if command -v $compiler >/dev/null; then check "call sites of a hardened program check nothing, $compiler" call_sites_are_plain $compiler
  else skip "call sites of a hardened program, $compiler" 'not installed'; fi
done
canaries_of() {
  objdump -d --no-show-raw-insn "$1" |
    awk '/^[0-9a-f]+ </ { name = substr($2, 2, length($2) - 3) } /call.*__stack_chk_fail@plt>$/ { print name }' | sort -u
}
built_events_are_plain() {
  canaries_of "$KYMO_BUILD/libkymo-trace.so" >"$TMPDIR/canaries"
  grep -qx kymo_begin_slow_ "$TMPDIR/canaries" && ! grep -xE 'kymo_build_(integer|float|text|bytes|space|next)' "$TMPDIR/canaries"
}
if [ "$(uname -m)" = x86_64 ]; then check 'events built in pieces check no canary' built_events_are_plain; fi
