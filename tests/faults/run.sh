#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Memory and files that fail: each allocation, and each system call on files, fails once, in a run of its own (shim.c, sweep.c):
#
#   of a command           it ends without a crash, with words and an exit status that is not 0, unless nothing is missing from what
#                          it prints and writes
#   of kymo record         the same, and its program runs to its end (judge.sh)
#   of the recorder in a   the program is not changed: its output, its exit status; what the trace lacks is said in words or counted
#   program (traced.c)     in it, and the trace can be read (judge.sh)
#
#   KYMO_FAULTS=all   every call, and every one with all that follow
#   KYMO_ROUNDS=N     this number of calls of each kind, evenly over all of them (10)
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
here=$KYMO_SOURCE/tests/faults
cd "$TMPDIR" || exit 1
export XDG_CACHE_HOME=$TMPDIR/cache
${KYMO_CC:-gcc} -D_GNU_SOURCE -g -O1 -Wall -Wextra -Wshadow -Werror -shared -fPIC -o faults.so "$here/shim.c" "$here/sweep.c" -ldl >said 2>&1 ||
  { cat said; not_ok 'the library of faults builds' 'it does not'; exit 1; }

# ---- what is read ----

python3 "$here/data.py" "$TMPDIR/data" && cd "$TMPDIR/data" && python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" ctf1 &&
  may_lose "$kymo" convert -q ctf1 --to ctf2 --output ctf2 && "$kymo" convert -q some.ev --output some.cpel &&
  python3 "$KYMO_SOURCE/tests/cpel/elog.py" random 3 some.elog >/dev/null || { not_ok 'data is made' 'it is not'; exit 1; }
programs=$KYMO_SOURCE/tests/recorder-printf
must_build kinds
programs=$KYMO_SOURCE/tests/recorder
must_build worker
programs=$KYMO_SOURCE/tests/recorder-types
must_build types types.c gcc -g
programs=$KYMO_SOURCE/tests/streams
must_build program
programs=$here
must_build traced
must_build patched traced.c gcc -DKYMO_PATCH
must_build instrumented traced.c gcc -finstrument-functions
programs=$KYMO_SOURCE/tests/recorder
must_build plugin.so plugin.c gcc -shared -fPIC -DPLUGIN=1
KYMO_ENABLE='*' KYMO_OUT=$PWD/out KYMO_RINGS=$TMPDIR/none "$bin/kinds" >/dev/null && mv out/* recorded && rmdir out
KYMO_ENABLE='*' KYMO_RINGS=$PWD/rings "$bin/worker" -t 2 -n 100 -e kill 2>/dev/null
KYMO_ENABLE='*' KYMO_OUT=$PWD/out KYMO_RINGS=$TMPDIR/none "$bin/traced" events >/dev/null; mv out/* numbers && rmdir out
gcc -O1 -finstrument-functions "$KYMO_SOURCE/tests/functions/program.c" -o program -ldl && # names of addresses, by files
  KYMO_ENABLE='functions:*' KYMO_OUT=$PWD/out KYMO_RINGS=$TMPDIR/none LD_PRELOAD=$KYMO_BUILD/libkymo-functions.so ./program >/dev/null
mv out/* named && rmdir out
"$bin/traced" framed >/dev/null; mv out logs
mkdir frames && (cd frames && "$bin/program" text log framed small >/dev/null)
cp "$KYMO_SOURCE/descriptions/pcap.tdl" .
python3 "$KYMO_SOURCE/tests/view/kernel.py" kernel 2000 || { not_ok 'data of the viewer is made' 'it is not'; exit 1; }
python3 "$KYMO_SOURCE/tests/view/kernel.py" losing 20000 || { not_ok 'data with losses is made' 'it is not'; exit 1; }
rings=$(echo rings/*)
[ -e recorded/metadata ] && [ -e named/metadata ] && [ -e "$rings/rings" ] && [ -e frames/log_thread0 ] || { not_ok 'data is recorded' 'it is not'; exit 1; }

# ---- the sweep ----

most=${KYMO_ROUNDS:-10}
kinds=alloc,io,short
[ "${KYMO_FAULTS:-}" = all ] && kinds=alloc,alloc+,io,io+,short most=0
if ! FAULTS=io FAULTS_AT=0 LD_PRELOAD=$TMPDIR/faults.so /bin/true; then
  skip 'faults of system calls' 'they cannot be intercepted on this machine'
  kinds=alloc
  [ "${KYMO_FAULTS:-}" = all ] && kinds=alloc,alloc+
fi

# verdict NAME REPORT
verdict() {
  cat "$2"
  if ! grep -qE ': [1-9][0-9]* calls' "$2" || grep -qE '^  BAD|CANNOT RUN' "$2"; then
    not_ok "$1" 'a fault is not reported'
  else
    ok "$1"
  fi
}

# sweep ARGUMENTS… of kymo, words of which that are files here become absolute
sweep() {
  local name="$*" arguments=() word before= report=$TMPDIR/sweep.$BASHPID
  for word; do
    [ -e "$word" ] && [ "${word:0:1}" != / ] && [ "$before" != --to ] && word=$PWD/$word
    arguments+=("$word")
    before=$word
  done
  FAULTS=$kinds FAULTS_NAME="$name" FAULTS_MOST=$most LD_PRELOAD=$TMPDIR/faults.so "$kymo" "${arguments[@]}" >"$report" 2>&1
  verdict "kymo $name" "$report"
}

# sweep_index WHAT TRACE WORD…: what the viewer's index says (tests/view/probe.c)
sweep_index() {
  local report=$TMPDIR/sweep.$BASHPID
  FAULTS=$kinds FAULTS_NAME="index $*" FAULTS_MOST=$most LD_PRELOAD=$TMPDIR/faults.so "$KYMO_BUILD/tests/view_probe" "$1" "$PWD/$2" "${@:3}" >"$report" 2>&1
  verdict "index of the viewer: $*" "$report"
}

# sweep_traced EVENTS NAME=VALUE… -- PROGRAM CASE [ARGUMENT]: the recorder in it. In the folder of a run, "out" gets the trace.
# PRELOAD=LIBRARY: with this library before the program and the faults. What libkymo-calls asks of libc for the program must not fail, so its recorder's does
sweep_traced() {
  local events=$1 report=$TMPDIR/sweep.$BASHPID variables=()
  shift
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  local name="$2 ${variables[*]}" preload= variable
  for variable in "${variables[@]}"; do
    case $variable in PRELOAD=*) preload=$KYMO_BUILD/${variable#*=}: ;; esac
  done
  env kymo="$kymo" EVENTS="$events" EXPECTED_STATUS=$((7 << 8)) EXPECTED_OUTPUT=$'begins\nends' FAULTS=$kinds FAULTS_MOST=$most \
    FAULTS_NAME="$name" FAULTS_IN=libkymo-trace FAULTS_CHECK="$here/judge.sh" KYMO_OUT=out KYMO_RINGS=rings PROGRAM="$2" \
    XDG_RUNTIME_DIR="$TMPDIR/runtime" KYMO_CONTROL=0 "${variables[@]}" LD_PRELOAD="$preload$TMPDIR/faults.so" "$bin/$2" "${@:3}" >"$report" 2>&1
  verdict "traced: $name" "$report"
}
mkdir -m 700 "$TMPDIR/runtime"

# sweep_recorded EVENTS OPTION… -- PROGRAM CASE: kymo record of it; and whether the trace has all of its events, if kymo record succeeds
sweep_recorded() {
  local events=$1 report=$TMPDIR/sweep.$BASHPID name
  shift
  name="record $*"
  env kymo="$kymo" EVENTS="$events" EXPECTED_OUTPUT=$'begins\nends' FAULTS=$kinds FAULTS_MOST=$most FAULTS_NAME="$name" \
    FAULTS_CHECK="$here/judge.sh" KYMO_RINGS=rings TRACED_STATUS=${TRACED_STATUS:-0} PROGRAM=traced PATH="$bin:$PATH" \
    LD_PRELOAD="$TMPDIR/faults.so" "$kymo" record -o out "$@" >"$report" 2>&1
  verdict "kymo $name" "$report"
}

# sweep_all: of each line of the input, on two processors: "traced EVENTS …", "recorded EVENTS …", or a command with its arguments.
# "index WHAT TRACE …": what the viewer's index says. "flight": the same of a program that returns 5.
# "every": each call fails once, also if others are only sampled: a list of losses seldom grows
# "loose": what it writes differs from run to run, so what counts is the exit status. "info" of rings too: its line with the cause says
# nothing where /proc/PID/stat cannot be read, which is read only if another process has the number by now
sweep_all() {
  local part parts=()
  cat >commands
  for part in 0 1; do
    while read -ra line; do
      case ${line[0]} in
        traced) sweep_traced "${line[@]:1}" ;;
        flight) TRACED_STATUS=5 RECORDED_STATUS=5 sweep_recorded "${line[@]:1}" ;;
        recorded) sweep_recorded "${line[@]:1}" ;;
        index) sweep_index "${line[@]:1}" ;;
        every) most=0 sweep_"${line[1]}" "${line[@]:2}" ;;
        loose) FAULTS_LOOSE=1 sweep "${line[@]:1}" ;;
        *) sweep "${line[@]}" ;;
      esac
    done < <(grep -v '^$' commands | sed -n "$((part + 1))~2p") >"report.$part" &
    parts+=($!)
  done
  wait "${parts[@]}"
  cat report.0 report.1
}

# What the server of kymo view answers, without its sockets: it may say that memory is missing, or answer nothing; but nothing that
# differs from what it answers otherwise.
sweep_api() {
  local report=$TMPDIR/sweep.api
  printf '%s\n' '#!/bin/sh' 'case $1 in 0 | 256) exit $(($1 >> 8)) ;; *) echo "ends with $1"; exit 2 ;; esac' >any_end.sh && chmod +x any_end.sh
  MEMORY_MAY_FAIL=1 FAULTS=${kinds%%,*} FAULTS_NAME=view FAULTS_MOST=$((most * 5)) FAULTS_CHECK=$PWD/any_end.sh LD_PRELOAD=$TMPDIR/faults.so \
    "$KYMO_BUILD/fuzz/replay_view_api" "$KYMO_SOURCE/fuzz/corpus/view_api" >"$report" 2>&1
  verdict 'requests of the page' "$report"
}
if [ -x "$KYMO_BUILD/fuzz/replay_view_api" ]; then sweep_api; else skip 'requests of the page' 'replay_view_api is not built'; fi

# A file that cannot be read while the formats look at it is no file without a trace, nor one of another format.
probed() {
  local at file said=$TMPDIR/probed
  cp some.cpel other && cp some.elog another && mkdir -p below && cp other below
  for file in other another frames/log_thread0 below; do
    for at in {1..40}; do
      FAULTS=io FAULTS_AT=$at LD_PRELOAD=$TMPDIR/faults.so "$kymo" info "$file" 2>&1 >/dev/null
    done >"$said"
    grep -qE "$file.*: byte 0: cannot read: Input/output error" "$said" && ! grep -qE 'no trace found|fits' "$said" || { echo "$file"; sort "$said" | uniq -c; return 1; }
  done
}
[ "$kinds" = alloc ] || [ "$kinds" = alloc,alloc+ ] || check 'a file that cannot be looked at is an error with its place' probed

# A directory that cannot be read to its end: rings of a process that are not found are no reason to say that nothing is lost.
${KYMO_CC:-gcc} -D_GNU_SOURCE -g -O1 -Wall -Wextra -Wshadow -Werror -shared -fPIC -o cut.so "$here/cut.c" -ldl || not_ok 'cut.so builds' 'it does not'
cut_directories() {
  local at refused=0
  mkdir -p cut
  for at in {1..30}; do
    rm -rf cut/out
    if CUT_AT=$at LD_PRELOAD=$PWD/cut.so KYMO_RINGS=$PWD/cut TRACED_STATUS=0 "$kymo" record -q -o cut/out --mode overwrite -- "$bin/traced" forked >said 2>&1; then
      [ "$("$kymo" cat cut/out | grep -c app:)" = 60 ] || { echo "entry $at: events are missing, and the exit status is 0"; cat said; return 1; }
    else
      refused=$((refused + 1))
      grep -qE "cannot (read the directory: Input/output error|make the directory: )" said || { echo "entry $at"; cat said; return 1; }
    fi
  done
  [ $refused -gt 0 ]
}
check 'kymo record: a directory of rings that cannot be read to its end is an error' cut_directories

# the server of kymo view, if it is built
served=
"$kymo" view --no-browser --idle-exit 1ms ctf1 >/dev/null 2>&1 && served='loose view --no-browser --idle-exit 20ms ctf1'

# a process to be recorded, which is as it was afterwards
KYMO_RINGS=$TMPDIR/attached XDG_RUNTIME_DIR=$TMPDIR/runtime "$bin/worker" -n 0 -w 1000 &
worker=$!
export KYMO_RINGS=$TMPDIR/attached XDG_RUNTIME_DIR=$TMPDIR/runtime
for _ in {1..200}; do "$kymo" list $worker >/dev/null 2>&1 && break; sleep 0.05; done
sweep_all <<END
loose snapshot $rings -o out
loose record -q -p $worker --duration 10ms -o out
recorded 60 -- traced events
recorded 60 --mode overwrite -- traced forked
recorded 60 --rotate 64k -- traced forked
recorded 60 --ctf 2 -- traced events
recorded 60 --sample 997 -- traced events
flight 60 --snapshot-on exit-code -- traced events
traced 60 KYMO_ENABLE=* -- traced events
traced 60 KYMO_ENABLE=* -- traced forked
traced 40 KYMO_ENABLE=* -- traced save
traced 22 KYMO_ENABLE=* -- traced plugin $bin/plugin.so
traced 41 KYMO_SAVE=exit -- traced switched
traced 41 KYMO_SAVE=exit -- patched switched
traced 60 KYMO_ENABLE=* -- patched events
traced 60 PRELOAD=libkymo-calls.so KYMO_ENABLE=app:* -- traced events
traced 16 PRELOAD=libkymo-functions.so KYMO_ENABLE=functions:* -- instrumented events
traced 30 KYMO_SAVE=exit KYMO_CONTROL=1 -- traced control $kymo
traced 2000 LOSSES=0 KYMO_ENABLE=* KYMO_BUFFER=16k KYMO_MODE=discard -- traced many
traced 2000 LOSSES=0 KYMO_ENABLE=* KYMO_BUFFER=16k KYMO_MODE=overwrite -- traced many
traced 56 -- traced framed
traced 56 -- traced framed-to-exit
traced 40 EVENT_BYTES=10 -- traced raw
traced 40 EVENT_BYTES=10 -- traced raw-to-exit
index tracks kernel
index spans kernel
index filter kernel value<100
index latency kernel syscall_entry_read syscall_exit_read
index selection kernel 100 900 value<400
index values kernel value
index texts kernel procname
index rows kernel 0 300
every index losses losing
stat latency kernel
cat ctf1
cat -f json ctf1
cat -f csv ctf1
cat -f details ctf1
cat -f babeltrace2 ctf1
cat -f generic ctf1
cat ctf2
cat -f details ctf2
cat some.cpel
cat -f cpel some.cpel
cat some.elog
cat --gist-header some.h some.ev
cat -f json recorded
cat $rings
cat frames/log_thread0
cat --key some.tdl some.bin
cat --key pcap.tdl some.pcap
cat --key some.tdl --filter kind="open" some.bin
cat ctf1 recorded
info ctf1
info --json ctf1
info some.cpel
info --key some.tdl some.bin
info frames/log_thread0
loose info $rings
stat counts ctf1
stat counts some.cpel
stat histogram port ctf1
stat counts --by i --memory 1K numbers
stat distance --by i --memory 1K numbers
stat functions named
cat named
cat --filter function="inner" named
stat latency --from app:number --to app:printed numbers
stat latency --from app:number --to app:printed --key i --json numbers
types $bin/traced --struct kymo_tracepoint
types --all-traced $bin/types
merge --to raw logs/log_thread0 logs/log_thread1 -o out
merge --to stream logs/log_thread0 logs/log_thread1 -o out
describe ctf1
describe -a doc some.tdl
describe -a tsdl ctf2
compile -o out.key some.tdl
compile --key some.tdl -o out.filter some.fdl
explain --key some.tdl some.bin
check ctf1
check --key some.tdl some.bin
infer ctf1
list ctf1
list $bin/worker
convert ctf1 -o out
convert ctf1 --to ctf2 -o out
convert some.cpel --to cpel -o out.cpel
convert ctf1 --to cpel -o out.cpel
convert ctf1 --to perfetto -o out.perfetto
convert ctf1 --to chrome -o out.json
convert ctf1 --to folded -o out.folded
convert ctf1 --to arrow -o out
convert ctf1 --to arrow:events,zstd -o out.arrow
convert ctf1 --to sqlite -o out.db
convert frames/log_thread0 --to stream -o out
convert frames/log_thread0 --to raw -o out
convert --key some.tdl some.bin -o out
view --html out.html ctf1
view --html out.html --track cpu --filter i=3 numbers
$served
merge ctf1 recorded -o out
merge frames/log_thread0 -o out
END
check 'a process is as it was after all these recordings' "$kymo" record -q -p $worker --duration 100ms -o after
kill $worker
