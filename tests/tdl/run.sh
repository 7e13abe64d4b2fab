#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo compile takes every construct of TDL, warns of what looks wrong and refuses what is wrong. What exactly is told of
# each file is held by unit/test_tdl.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

kymo=$KYMO_BUILD/kymo

for file in "$KYMO_SOURCE"/tests/tdl/pass-*.tdl; do
  check "compiles $(basename "$file" .tdl)" "$kymo" compile -o "$TMPDIR/key" "$file"
done

# the same text, the same bytes
same_bytes() {
  "$kymo" compile -o "$TMPDIR/one" "$1" && "$kymo" compile -o "$TMPDIR/two" "$1" && cmp "$TMPDIR/one" "$TMPDIR/two"
}
check 'one text makes the same key twice' same_bytes "$KYMO_SOURCE/tests/tdl/pass-tables.tdl"

warns() {
  "$kymo" compile -o "$TMPDIR/key" "$KYMO_SOURCE/tests/tdl/pass-warnings.tdl" 2>"$TMPDIR/words" || return 1
  [ "$(grep -c ': warning: W' "$TMPDIR/words")" = "$(grep -c ': warning: W' "$KYMO_SOURCE/tests/tdl/pass-warnings.expect")" ]
}
check 'says every warning, and succeeds' warns

# each refusal as the golden file has it, with the name of the command in front, and exit code 1
refuses() {
  local expected=$KYMO_SOURCE/tests/tdl/$1.expect status
  "$kymo" compile --from tdl -o "$TMPDIR/no" "$KYMO_SOURCE/tests/tdl/$1.tdl" 2>"$TMPDIR/words"
  status=$?
  [ "$status" = 1 ] && [ ! -e "$TMPDIR/no" ] &&
    diff <(sed "s|^kymo compile: ||; s|^$KYMO_SOURCE/tests/tdl/$1.tdl|FILE|" "$TMPDIR/words") "$expected"
}
for name in fail-e11-character fail-e21-empty-text fail-e31-field fail-e52-same-constant fail-e58-time; do
  check "refuses $name, and writes nothing" refuses "$name"
done

# every description that the document shows
awk -v dir="$TMPDIR" '/^```tdl$/ { file = dir "/doc" ++count ".tdl"; next } /^```/ { file = "" } file { print >file }' \
  "$KYMO_SOURCE/docs/tdl.md"
for file in "$TMPDIR"/doc*.tdl; do
  check "compiles TRACE $(sed -n 's/^TRACE \([a-z]*\).*/\1/p' "$file") of docs/tdl.md" "$kymo" compile -o "$TMPDIR/key" "$file"
done
