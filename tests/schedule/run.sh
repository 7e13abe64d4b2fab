#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo stat threads and kymo stat spans --why: traces whose answers are known, real ones against an evaluation in Python, and
# a program beside what the kernel itself accounts for it.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/schedule
cd "$TMPDIR" || exit 1

# ---- known answers ----

as_drawn() { # KIND WORDS…
  python3 "$here/made.py" made "${@:2}" || return 1
  local status=0
  [ "$1" != lost ] || status=1
  "$kymo" stat threads --json made >threads 2>said
  [ $? = $status ] || { cat said; return 1; }
  "$kymo" stat spans --why --json made >spans 2>said
  [ $? = $status ] || { cat said; return 1; }
  python3 "$here/expected.py" "$1" threads spans
}
check 'states, causes, wakers and spans' as_drawn plain
check 'after lost events a state is unknown until an event says it' as_drawn lost lost
check 'without wakeups and system calls' as_drawn bare bare
check 'events that contradict a state' as_drawn unseen unseen

says() { # LINE COMMAND…: it prints this line
  "${@:2}" >printed 2>&1
  grep -qxF -- "$1" printed || { echo "expected: $1"; cat printed; return 1; }
}
words() {
  python3 "$here/made.py" made && python3 "$here/made.py" bare bare && python3 "$here/made.py" lost lost && python3 "$here/made.py" early early || return 1
  says 'The traces have no sched_wakeup and no sched_waking: blocked is also the time in which a thread waits for a CPU.' "$kymo" stat threads bare &&
    says 'The traces have no system calls (sys_enter_*, sys_exit_*): only waits in uninterruptible sleep (disk) have a cause.' "$kymo" stat threads bare &&
    says 'Events of the kernel are missing (losses: 1, contradictions: 0): what rests on them has a *, and what is not known is "not seen".' "$kymo" stat threads lost &&
    says 'c/300 6.400 us 1.000 us 2.500 us 0 ns 0 ns 0 ns 0 ns 0 ns 2.500 us 1.100 us blocked' squeezed threads made &&
    says '2.900 us 1 2.900 us futex a/100' squeezed threads made &&
    says '2.900 us 0.000002100 futex b/200 a/100' squeezed threads made &&
    says '    on a CPU 1.650 us (20 %), runnable 2.500 us (31 %), blocked 3.900 us (48 %)' "$kymo" stat spans --why made &&
    says '    blocked in futex 2.900 us (36 %), 1 time' "$kymo" stat spans --why made &&
    says '1.000 us 0.000008000 disk an interrupt in c/300 a/100' squeezed threads --prefix a early &&
    says '    longest wait: 2.900 us in futex, woken by b/200' "$kymo" stat spans --why made &&
    says '    on a CPU 1.000 us (50 %), runnable 0 ns (0 %), blocked 0 ns (0 %), not seen 1.000 us (50 %)' "$kymo" stat spans --why made || return 1
  "$kymo" stat spans made >printed && ! grep -q 'on a CPU' printed && [ "$(grep -c work printed)" = 3 ]
}
squeezed() { "$kymo" stat "$@" | sed -E 's/ +/ /g; s/^ | $//g'; }
check 'the words of the tables' words
as_csv() {
  "$kymo" stat threads --csv --sort name made >printed &&
    cmp printed - <<'E' || { cat printed; return 1; }
thread,tid,running,runnable,blocked,disk,futex,socket,sleep,other,unknown,not_seen,waits,longest,at_end,doubts
"a",100,4600,2500,3900,1000,2900,0,0,0,0,0,2,2900,running,0
"b",200,8200,0,2300,0,0,0,0,0,2300,500,0,0,blocked,0
"c",300,6400,1000,2500,0,0,0,0,0,2500,1100,0,0,blocked,0
"d",400,300,100,0,0,0,0,0,0,0,0,0,0,ended,0
E
  "$kymo" stat spans --why --csv --worst 1 made >printed &&
    cmp printed - <<'E' || { cat printed; return 1; }
span,duration,begin,end,tid,running,runnable,blocked,disk,futex,socket,sleep,other,unknown,not_seen,doubts
"app:work",8050,1500,9550,100,1650,2500,3900,1000,2900,0,0,0,0,0,0
E
}
check 'as CSV' as_csv
chosen() {
  [ "$("$kymo" stat threads --csv --top 2 --sort max made 2>said | cut -d, -f1,2)" = $'thread,tid\n"a",100\n"b",200' ] &&
    [ "$("$kymo" stat threads --csv --prefix c made | cut -d, -f1,2)" = $'thread,tid\n"c",300' ] &&
    [ "$("$kymo" stat spans --csv --worst 1 --prefix no made)" = 'span,duration,begin,end,tid' ]
}
check 'rows that are chosen' chosen
refusals() {
  "$kymo" stat threads --why made 2>said
  [ $? = 2 ] && grep -qxF 'kymo stat: threads: there is no --why' said || { cat said; return 1; }
  "$kymo" stat threads --sort mean made 2>said
  [ $? = 2 ] && grep -qxF 'kymo stat: threads: --sort is total, count, max or name' said || { cat said; return 1; }
  "$kymo" stat spans --sort max made 2>said
  [ $? = 2 ] && grep -qxF 'kymo stat: spans: there is no --sort: the slowest come first' said || { cat said; return 1; }
  ${KYMO_CC:-cc} $sanitizer -I"$KYMO_SOURCE/include" "$KYMO_SOURCE/tests/spans/spans.c" -o spans -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread &&
    "$kymo" record -q -o recorded -- ./spans && "$kymo" stat spans --csv recorded >printed && [ "$(wc -l <printed)" = 6 ] || return 1
  "$kymo" stat spans --why recorded >printed 2>said
  [ $? = 2 ] && [ ! -s printed ] && [ "$(cat said)" = "kymo stat: the traces have no events of a kernel's scheduler (sched_switch)" ] || { cat said; return 1; }
}
check 'what they refuse' refusals

# ---- real traces ----

real() { # FILE LEAST: at least this many threads agree
  "$kymo" cat -q --format json "$1" >events && "$kymo" stat threads -q --json "$1" >threads || return 1
  local count
  count=$(python3 "$here/check.py" events threads) && [ "$count" -ge "$2" ] || { echo "$count threads"; return 1; }
}
data=${KYMO_SHARED:-/nonexistent}/data/kernel
if [ -d "$data" ]; then
  xz -dc "$data/s390x-v6.trace.dat.xz" >s390x
  check 'a trace of s390x, beside an evaluation in Python' real s390x 20
  check 'one of x86-64, some of whose switches are missing' real "$data/x86_64-v7-zstd.trace.dat" 30
  xz -dc "$data/arm32-v6.trace.dat.xz" >arm32
  no_scheduler() {
    "$kymo" stat threads arm32 >printed 2>said
    [ $? = 2 ] && [ ! -s printed ] && [ "$(cat said)" = "kymo stat: the traces have no events of a kernel's scheduler (sched_switch)" ] || { cat said; return 1; }
  }
  check 'a trace without the scheduler' no_scheduler
else
  skip 'real traces' 'no reference data'
fi

# ---- a program ----

live() {
  mkdir -p tracefs
  ${KYMO_CC:-cc} $sanitizer -O1 -D_GNU_SOURCE -I"$KYMO_SOURCE/include" "$here/work.c" -o work -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread || return 1
  KYMO_CLOCK=monotonic unshare -m sh -c 'mount -t tracefs nodev tracefs && exec "$@"' - \
    python3 "$here/live.py" tracefs kernel.dat "$kymo" record -q -o program -- ./work file >truth 2>said || { cat said; return 1; }
  # what is added to the kernel's times for those of the program, a time of day
  local offset
  offset=$("$kymo" info --json program | python3 -c 'import json, sys; clock = json.load(sys.stdin)["traces"][0]["clocks"][0]; print(clock["offset_seconds"] * clock["frequency"] + clock["offset_cycles"])')
  "$kymo" stat spans -q --why --force-correlate --clock-offset-ns "kernel.dat=$offset" --json program kernel.dat >spans 2>said || { cat said; return 1; }
  python3 "$here/attributed.py" truth spans && real kernel.dat 10
}
if [ ! -r /proc/self/schedstat ]; then
  skip 'each span of a program has the reasons that the kernel accounts for' 'the kernel has no schedstat'
elif [ "$(id -u)" != 0 ] || ! unshare -m sh -c 'mkdir -p probe && mount -t tracefs nodev probe && [ -d probe/instances ]' 2>/dev/null; then
  skip 'each span of a program has the reasons that the kernel accounts for' 'no tracefs, or no right to it'
else
  check 'each span of a program has the reasons that the kernel accounts for' live
fi
