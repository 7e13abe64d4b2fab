#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: s390x powerpc arm aarch64 i386
#
# One program with every type in two threads, built for another machine and run there; what this machine reads of its
# trace is line by line what its own gave (tests/recorder-types), whatever byte order, sizes and alignments. Where the
# reader was built as well, it reads this machine's trace the same way.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

here=${KYMO_BUILD%/rungs/*} # what was built for this machine
machine=${KYMO_BUILD##*/}
source=$KYMO_SOURCE/tests/recorder-types/types.c
expected=$KYMO_SOURCE/tests/recorder-types/types.json
export KYMO_RINGS=$TMPDIR/rings
cd "$TMPDIR" || exit 1
if [ ! -x "$here/kymo" ]; then
  skip "$machine" "no kymo in $here (make)"
  exit
fi

# build COMPILER LIBRARY PROGRAM [FLAGS…]: static, so that nothing else of the machine is needed
build() {
  local compiler=$1 library=$2 program=$3
  shift 3
  "$compiler" -O2 -Wall -Wextra -Werror -fno-pic -I"$KYMO_SOURCE/include" "$source" -static -no-pie -o "$program" "$library" -pthread "$@"
}
# one line an event: what one thread did, numbered by who
events() { jq -c 'select(.event) | {event, fields}'; }
both_threads() { for who in 1 2; do jq -c --argjson who $who '.fields.who = $who' "$expected"; done; }

recorded_there() {
  local atomics=()
  [ "$machine" != powerpc ] || atomics=(-latomic) # 64-bit atomics are calls there
  build "$KYMO_CC" "$KYMO_BUILD/libkymo-trace.a" there "${atomics[@]}" || return 1
  KYMO_ENABLE='*' KYMO_OUT=there.out $KYMO_STARTER ./there
}
read_here() {
  "$here/kymo" cat --format json there.out/* | events | sort >there.json
  both_threads | events | sort | diff - there.json >difference || { head -c 2000 difference; return 1; }
}
read_by_babeltrace2() {
  babeltrace2 there.out/* >bt2.txt && "$here/kymo" cat --format babeltrace2 there.out/* | cmp bt2.txt -
}
check "$machine: every type is recorded" recorded_there
check "$machine: this machine reads the same as from its own" read_here
check "$machine: babeltrace2 reads the same as kymo" read_by_babeltrace2

[ -x "$KYMO_BUILD/tests/foreign_cat" ] || exit 0
read_there() {
  local format
  build gcc "$here/libkymo-trace.a" here && KYMO_ENABLE='*' KYMO_OUT=here.out ./here || return 1
  for format in json text babeltrace2; do
    "$here/kymo" cat --format $format here.out/* >here.txt || return 1
    $KYMO_STARTER "$KYMO_BUILD/tests/foreign_cat" --format $format here.out/* >there.txt || return 1
    cmp here.txt there.txt || return 1
  done
}
check "$machine: its reader reads this machine's trace identically" read_there
