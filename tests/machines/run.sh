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

# ---- other kinds of tracepoints ----

patched_there() { # by code on aarch64, by branches elsewhere
  source=$KYMO_SOURCE/tests/recorder-points/patched.c
  local atomics=()
  [ "$machine" != powerpc ] || atomics=(-latomic)
  build "$KYMO_CC" "$KYMO_BUILD/libkymo-trace.a" patched -DKYMO_PATCH "${atomics[@]}" || return 1
  KYMO_ENABLE='*' KYMO_OUT=patched.out $KYMO_STARTER ./patched points || return 1
  "$here/kymo" cat --format json patched.out/* | jq -r .event | sed 's/patched://' | tr '\n' ' ' >names
  [ "$(cat names)" = 'loop loop inlined inlined declared declared span_begin same span_end ' ] || { cat names; return 1; }
  KYMO_ENABLE=nothing KYMO_OUT=switched.out $KYMO_STARTER ./patched switching 30 >recorded || return 1
  "$here/kymo" cat --format text switched.out/* >/dev/null && [ "$(cat recorded)" -gt 0 ]
}
check "$machine: tracepoints are switched under four threads" patched_there

printed_there() { # formats, rendered here, beside what that machine prints
  python3 "$KYMO_SOURCE/tests/recorder-printf/generate.py" 100 20 foreign >printf.c
  source=printf.c
  local atomics=()
  [ "$machine" != powerpc ] || atomics=(-latomic)
  build "$KYMO_CC" "$KYMO_BUILD/libkymo-trace.a" printf -O0 -Wno-format -Wno-overflow "${atomics[@]}" || return 1
  KYMO_ENABLE='*' KYMO_BUFFER=1M KYMO_OUT=printf.out $KYMO_STARTER ./printf >printf.expected || return 1
  "$here/kymo" cat printf.out/* | sed -nE 's/^\[[^]]*\] [^ ]+ [^ ]+ ([a-z]+:[a-z0-9_]+) "(.*)"$/\1 \2/p' >printf.found
  [ "$(wc -l <printf.expected)" = 2000 ] && cmp printf.expected printf.found || { diff printf.expected printf.found | head -6; return 1; }
}
check "$machine: what KYMO_PRINTF recorded there is printed here as there" printed_there

kinds_there() { # wide texts too, which are converted there
  source=$KYMO_SOURCE/tests/recorder-printf/kinds.c
  local atomics=()
  [ "$machine" != powerpc ] || atomics=(-latomic)
  build "$KYMO_CC" "$KYMO_BUILD/libkymo-trace.a" kinds "${atomics[@]}" && KYMO_ENABLE='*' KYMO_OUT=kinds.out $KYMO_STARTER ./kinds || return 1
  "$here/kymo" cat kinds.out/* | sed -nE 's/^\[[^]]*\] [^ ]+ [^ ]+ ([a-z]+:[a-z0-9_]+) "(.*)"$/\1 \2/p' | diff "$KYMO_SOURCE/tests/recorder-printf/kinds.txt" -
}
check "$machine: texts, wide ones, and odd values recorded there are printed here as here" kinds_there

streams_there() { # raw logs, merged here by a description
  source=$KYMO_SOURCE/tests/rawmerge/program.c
  local atomics=() order=little
  [ "$machine" != powerpc ] || atomics=(-latomic)
  case $machine in s390x | powerpc) order=big ;; esac
  build "$KYMO_CC" "$KYMO_BUILD/libkymo-trace.a" streams -D_GNU_SOURCE "${atomics[@]}" || return 1
  $KYMO_STARTER ./streams log thread 3000 || return 1
  python3 "$KYMO_SOURCE/tests/rawmerge/logs.py" reference $order log.wanted log_*
  printf 'TRACE log; BYTES %s; RECORD line EVENT IS length: UNSIGNED 16 LENGTH OF RECORD; sec,usec: UNSIGNED 32; : BYTES TO END; END; LAYOUT REPEAT line; END TRACE.' \
    "${order^^}" >log.tdl
  "$here/kymo" merge --description log.tdl --by sec,usec -o log.merged log_* && cmp log.wanted log.merged && [ -s log.merged ] && [ "$(ls log_* | wc -l)" = 3 ]
}
check "$machine: raw logs written there are merged here" streams_there

streamed_there() { # a framed log, whose numbers are in that machine's order
  source=$KYMO_SOURCE/tests/frames/turns.c
  local atomics=()
  [ "$machine" != powerpc ] || atomics=(-latomic)
  build "$KYMO_CC" "$KYMO_BUILD/libkymo-trace.a" turns "${atomics[@]}" && $KYMO_STARTER ./turns framed 3 200 || return 1
  KYMO=$here/kymo PYTHONDONTWRITEBYTECODE=1 python3 "$KYMO_SOURCE/tests/frames/compare.py" framed_thread* >counts || return 1
  grep -q '^600 events' counts || { cat counts; return 1; }
}
check "$machine: a framed log of there is read here" streamed_there

[ -x "$KYMO_BUILD/tests/foreign_cat" ] || exit 0
read_there() {
  source=$KYMO_SOURCE/tests/recorder-types/types.c
  local format
  build gcc "$here/libkymo-trace.a" here && KYMO_ENABLE='*' KYMO_OUT=here.out ./here || return 1
  for format in json text babeltrace2; do
    "$here/kymo" cat --format $format here.out/* >here.txt || return 1
    $KYMO_STARTER "$KYMO_BUILD/tests/foreign_cat" --format $format here.out/* >there.txt || return 1
    cmp here.txt there.txt || return 1
  done
}
check "$machine: its reader reads this machine's trace identically" read_there
