#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo compile takes every construct of TDL, warns of what looks wrong and refuses what is wrong. The exact messages about
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
check 'one text compiles to the same bytes twice' same_bytes "$KYMO_SOURCE/tests/tdl/pass-tables.tdl"

warns() {
  "$kymo" compile -o "$TMPDIR/key" "$KYMO_SOURCE/tests/tdl/pass-warnings.tdl" 2>"$TMPDIR/words" || return 1
  [ "$(grep -c ': warning: W' "$TMPDIR/words")" = "$(grep -c ': warning: W' "$KYMO_SOURCE/tests/tdl/pass-warnings.expect")" ]
}
check 'prints every warning, and succeeds' warns

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

# Each line of habits.txt is refused within a record with the right form of it, which is accepted.
describe_line() { # LINE
  printf 'TRACE t;\n  BYTES LITTLE;\n  CLOCK c IS EPOCH "1970-01-01T00:00:00Z" RESOLUTION 1 us;\n  TOKEN k = ("A"=1, "B"=2);\n'
  printf '  RECORD r EVENT IS\n    x: UNSIGNED 8;\n    t: UNSIGNED 8 TOKEN k;\n%s\n  END;\n  LAYOUT REPEAT r;\nEND TRACE.\n' "$1"
}
habits() {
  local line right
  while IFS= read -r line; do
    describe_line "$line" >"$TMPDIR/habit.tdl"
    right=$("$kymo" compile -o "$TMPDIR/key" "$TMPDIR/habit.tdl" 2>&1 | sed -n 's/.*: error: .*; write: //p')
    printf '%s\n    %s\n' "$line" "${right:--}"
    describe_line "$right" >"$TMPDIR/habit.tdl"
    "$kymo" compile -o "$TMPDIR/key" "$TMPDIR/habit.tdl" 2>"$TMPDIR/words" || sed 's/^/    REFUSED: /' "$TMPDIR/words"
  done <"$KYMO_SOURCE/tests/tdl/habits.txt" >"$TMPDIR/habits"
  [ -n "${KYMO_REWRITE:-}" ] && cp "$TMPDIR/habits" "$KYMO_SOURCE/tests/tdl/habits.expect"
  ! grep REFUSED "$TMPDIR/habits" && diff -u "$KYMO_SOURCE/tests/tdl/habits.expect" "$TMPDIR/habits"
}
check 'habits of C are answered with what is accepted' habits

# every description that the document shows
awk -v dir="$TMPDIR" '/^```tdl$/ { file = dir "/doc" ++count ".tdl"; next } /^```/ { file = "" } file { print >file }' \
  "$KYMO_SOURCE/docs/tdl.md"
for file in "$TMPDIR"/doc*.tdl; do
  check "compiles TRACE $(sed -n 's/^TRACE \([a-z]*\).*/\1/p' "$file") of docs/tdl.md" "$kymo" compile -o "$TMPDIR/key" "$file"
done
