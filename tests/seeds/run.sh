#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
# heavy
#
# The seeds of the fuzzers still lead past all checks. When a format changes, its seeds become outdated: each is then refused at
# once, and a fuzzer that begins with them tries nothing else. fuzz/seeds/reached names those that are worth their place;
# KYMO_REWRITE=1 rewrites it. Stale seeds are made anew by fuzz/seeds/make, or KYMO_REWRITE=1 and tests/described.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1

for program in "$KYMO_BUILD"/fuzz/replay_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  target=${program##*/replay_}
  "$program" --reached "$KYMO_SOURCE/fuzz/corpus/$target" >said 2>&1 || not_ok "$target" "ended with $?: $(tail -1 said)"
  sed -n "s/^reached /$target\//p" said >>reached
done
LC_ALL=C sort -o reached reached
[ "${KYMO_REWRITE:-}" != 1 ] || cp reached "$KYMO_SOURCE/fuzz/seeds/reached"

# KYMO_BUILD may lack a target, whose libraries are not installed
for target in $(cut -d/ -f1 "$KYMO_SOURCE/fuzz/seeds/reached" | uniq); do
  what="the seeds of fuzz_$target come past all checks"
  [ -x "$KYMO_BUILD/fuzz/replay_$target" ] || { skip "$what" 'not built'; continue; }
  stale=$(grep "^$target/" "$KYMO_SOURCE/fuzz/seeds/reached" | LC_ALL=C comm -23 - reached)
  if [ -z "$stale" ]; then ok "$what"; else not_ok "$what" "stale: $(echo $stale)"; fi
done
# the files of the list are checked: a file that is no seed would reach nothing
mkdir corpus && printf 'no seed' >corpus/none
unreached() { ! "$KYMO_BUILD/fuzz/replay_$1" --reached corpus | grep -q reached; }
for target in beside described elf key registry; do
  [ -x "$KYMO_BUILD/fuzz/replay_$target" ] && check "fuzz_$target reaches nothing with other bytes" unreached $target
done
