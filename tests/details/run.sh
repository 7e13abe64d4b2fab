#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo cat --format details on all traces of the shared data that babeltrace2 2.1 printed so: byte for byte
# the same; of a trace that it gave up, what it printed until then. `differences` lists what is forgiven.
# (tests/differential compares with the installed babeltrace2.)
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
data=$(realpath -m "${KYMO_SHARED:-/nonexistent}/data/ctf")
here=$KYMO_SOURCE/tests/details
export TZ=UTC LC_ALL=C.UTF-8

# What is forgiven in a case: its words in the file `differences`.
forgiven() { grep -v '^#' "$here/differences" | grep -F -m1 "$1"$'\t' | cut -f2; }

# Takes what is forgiven out of both texts.
forgive() {
  case $1 in
    file-names) sed -E -i 's,^(  Name: TRACE/).*,\1,' "$2" ;;
    blanks) sed -i 's/ $//' "$2" ;;
  esac
}

# print CASE: theirs and ours to $TMPDIR
print() {
  if [ -f "$1/expect.details.gz" ]; then zcat "$1/expect.details.gz"; else cat "$1/expect.details"; fi >"$TMPDIR/theirs"
  timeout 60 "$kymo" cat -f details "$1/trace" >"$TMPDIR/ours" 2>"$TMPDIR/words"
  ended=$?
  sed -i "s,$1/trace,TRACE,g" "$TMPDIR/ours"
}

# same CASE: equal and all is well, or ours begins with what they printed until they gave up
same() {
  if grep -q '^status ok' "$1/verdict"; then
    [ "$ended" = 0 ] && diff "$TMPDIR/theirs" "$TMPDIR/ours"
  else
    [ "$ended" != 0 ] && cmp -n "$(stat -c %s "$TMPDIR/theirs")" "$TMPDIR/theirs" "$TMPDIR/ours"
  fi
}

[ -d "$data" ] || { skip 'details as babeltrace2 2.1 prints them' 'KYMO_SHARED is not there'; exit 0; }
while IFS= read -r expectation; do
  case=$(dirname "$expectation") name=${case#"$data"/}
  print "$case"
  what=$(forgiven "$name")
  [ -n "$what" ] && forgive "$what" "$TMPDIR/theirs" && forgive "$what" "$TMPDIR/ours"
  check "$name${what:+, $what aside}" same "$case"
done < <(find "$data" -name 'expect.details*' | sort)
