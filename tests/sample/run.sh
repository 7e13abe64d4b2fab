#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo record --sample: samples of threads beside the events of programs. perf reads the same file.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
programs=$KYMO_SOURCE/tests/sample
here=$programs

if [ ! -x "$kymo" ]; then
  skip 'kymo record --sample' 'the command kymo is not built'
  exit 77
fi
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS KYMO_CLOCK
refused() {
  local status=$1 message=$2
  shift 2
  fresh
  "$kymo" record -o out "$@" 2>said
  [ $? = "$status" ] && [ ! -e out ] && [ ! -e ran ] && diff <(echo "kymo record: $message") <(head -1 said)
}
not_a_rate() { refused 2 "--sample is a number of samples a second from 1 to 10000, not \"$1\"" --sample "$1" -- touch ran; }
for rate in 0 10001 -1 +5 1e3 99x '' 99999999999999999999; do check "a rate that is none: \"$rate\"" not_a_rate "$rate"; done
check 'with --rotate' refused 2 '--sample is neither with --rotate nor with --snapshot-on' --sample 99 --rotate 1M -- touch ran
check 'with --snapshot-on' refused 2 '--sample is neither with --rotate nor with --snapshot-on' --sample 99 --snapshot-on crash -- touch ran
check 'without a process' refused 2 '--sample needs a command or -p' --sample 99 --kernel sched

if ! "$kymo" record -q --sample 99 -o probe -- true 2>said; then
  # the one line says what is missing, and the command does not run
  absent() {
    fresh
    "$kymo" record --sample 99 -o out -- touch ran 2>said
    [ $? = 3 ] && [ ! -e ran ] && [ ! -e out ] && [ "$(wc -l <said)" = 1 ] && grep -qE 'perf_event_(open|paranoid)' said || { cat said; return 1; }
  }
  check 'where samples are refused one line says why, and the command does not run' absent
  skip 'kymo record --sample' "perf_event_open is refused: $(cat said)"
  exit 77
fi
rm -rf probe
must_build shares shares.c gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls
recorded() { "$kymo" record -o out "$@" 2>said || { echo "exit status $?"; cat said; return 1; }; }
said_samples() { sed -nE 's/.*; ([0-9]+) samples, ([0-9]+) lost$/\1 \2/p' said; }

# ---- what is sampled ----

shares() { # HZ OPTIONS…
  local hz=$1
  shift
  fresh
  recorded --sample "$hz" "$@" -- "$bin/shares" 0.6 && [ "$(ls -d out/shares-* | wc -l)" = 2 ] && [ -e out/samples/perf.data ] &&
    "$kymo" cat -q --format json out >events && python3 "$here/check.py" events 0.6 "$hz"
}
check 'samples are shared by functions as CPU time is, in the spans of their thread, of all threads and processes' shares 997
check 'so they are with metadata of CTF 2' shares 499 --ctf 2
forced() { KYMO_CLOCK=counter shares 499 && ! grep -q counter out/samples/clock; }
check 'programs have the clock of the samples, whatever KYMO_CLOCK is' forced
counted() {
  fresh
  recorded --sample 499 -- "$bin/shares" 0.2 || return 1
  set -- $(said_samples)
  [ "$2" = 0 ] && [ "$1" = "$("$kymo" cat -q out/samples | grep -cE ' (cpu-clock|cycles) ')" ] || { cat said; return 1; }
}
check 'the number of samples is what is said' counted
folded() {
  fresh
  recorded --sample 997 -- "$bin/shares" 0.4 && "$kymo" convert --to folded -o folded out &&
    python3 - folded <<'P'
import re
import sys
sums = {'heavy': 0, 'light': 0}
for line in open(sys.argv[1]):
    path, number = line.rsplit(' ', 1)
    match = re.search(r'^shares;(?:.*;)?(?:main|thread);work;(heavy|light);spin\b', path)
    if match:
        sums[match[1]] += int(number)
share = sums['heavy'] / sum(sums.values())
sys.exit(None if 0.6 < share < 0.88 else f'a share of {share}: {sums}')
P
}
check 'folded stacks have the chain from main to the leaf' folded
kernel_part() {
  fresh
  recorded --sample 2000 -- dd if=/dev/zero of=/dev/null bs=1 count=1000000 || return 1
  "$kymo" cat -q out | grep -q 'mode = kernel.*callchain = .*do_syscall_64.*' || { "$kymo" cat -q out | tail -3; return 1; }
}
if [ "$(id -u)" = 0 ] && grep -q ' T _text$' /proc/kallsyms && [ "$(uname -m)" = x86_64 ]; then
  check 'chains have the part of the kernel' kernel_part
else
  skip 'chains have the part of the kernel' 'not root, or no names of the kernel'
fi

# ---- a process that runs ----

attached() { # CLOCK: of the rings
  fresh
  mkfifo go
  exec 8<>go
  KYMO_CLOCK=$1 KYMO_ENABLE='*' KYMO_SAVE=never KYMO_RINGS=$PWD/rings "$bin/shares" 0.6 go &
  local pid=$!
  export KYMO_RINGS=$PWD/rings
  until_true "$kymo" list --brief $pid || return 1
  "$kymo" record -p $pid -o out --sample 997 2>said &
  local recorder=$!
  unset KYMO_RINGS
  is_on() { grep -q '^at ' out/samples/.kymo/clocks; }
  until_true is_on 2>/dev/null && sleep 0.5 && echo >&8 && wait $pid
  wait $recorder || { cat said; return 1; }
  exec 8>&-
  "$kymo" cat -q --format json out >events && python3 "$here/check.py" events 0.6 997 2
}
check 'with -p samples lie in the spans of a process whose rings have CLOCK_MONOTONIC' attached monotonic
alone() {
  fresh
  mkfifo go
  exec 8<>go
  sh -c 'read word <go; exec "$0" 0.3' "$bin/shares" &
  local pid=$!
  "$kymo" record -p $pid -o out --sample 997 2>said &
  local recorder=$!
  is_on() { grep -q '^at ' out/samples/.kymo/clocks; }
  until_true is_on 2>/dev/null && echo >&8 && wait $pid
  wait $recorder || { cat said; return 1; }
  exec 8>&-
  [ "$("$kymo" cat -q out | grep -cE 'shares/.* (cpu-clock|cycles) ')" -gt 500 ] || { cat said; "$kymo" cat -q out | tail -3; return 1; }
}
check 'a process without tracepoints is sampled with -p until it ends, and its children' alone
known() {
  fresh
  "$bin/shares" 2 >/dev/null &
  local pid=$!
  is_two() { [ "$(ls /proc/$pid/task | wc -l)" -ge 2 ]; }
  until_true is_two
  "$kymo" record -p $pid -o out --sample 997 --duration 400ms 2>said || { cat said; return 1; }
  kill -9 $pid
  wait $pid 2>/dev/null
  "$kymo" cat -q out/samples | grep -E ' (cpu-clock|cycles) ' >samples
  [ "$(grep -c 'spin+.*work+' samples)" -gt 20 ] && [ "$(grep -oE 'shares/[0-9]+' samples | sort -u | wc -l)" = 2 ] || { cat said; head -3 samples; return 1; }
}
check 'what a process had loaded before has names, --duration ends it, and both threads are sampled' known
must_build births births.c gcc
births() {
  fresh
  mkfifo go
  exec 8<>go
  "$bin/births" 20 0.003 go >tids &
  local pid=$!
  is_starting() { [ "$(ls /proc/$pid/task | wc -l)" -gt 30 ]; }
  until_true is_starting
  "$kymo" record -p $pid -o out --sample 8000 2>said &
  local recorder=$!
  is_on() { grep -q '^at ' out/samples/.kymo/clocks; }
  until_true is_on 2>/dev/null && echo >&8 && wait $pid
  wait $recorder || { cat said; return 1; }
  exec 8>&-
  "$kymo" cat -q --format json out >events && python3 "$here/births.py" events tids 24
}
check 'threads that start while the process is attached to are sampled, and once' births
gone() {
  fresh
  "$kymo" record -p 99999999 -o out --sample 99 2>said
  [ $? != 0 ] && [ ! -e out ]
}
check 'a process that is not there' gone

# ---- ends ----

nothing_left() { fresh; "$kymo" record -q -o out --sample 99 -- no-such 2>said; [ $? = 127 ] && [ ! -e out ]; }
check 'a command that cannot be run leaves nothing' nothing_left
killed_command() {
  fresh
  "$kymo" record -q -o out --sample 499 -- sh -c '"$0" 0.2; kill -9 $$' "$bin/shares"
  [ $? = 137 ] && "$kymo" cat -q out/samples >events && grep -q 'heavy+' events
}
check 'a command that is killed' killed_command
status_of() { fresh; "$kymo" record -q -o out --sample 99 -- sh -c 'exit 7'; [ $? = 7 ] && "$kymo" info out/samples >/dev/null; }
check 'the exit status is that of the command' status_of
killed_recorder() {
  fresh
  "$kymo" record -q -o out --sample 997 -- "$bin/shares" 1 &
  local recorder=$!
  has_data() { [ "$(stat -c %s out/samples/perf.data 2>/dev/null || echo 0)" -gt 20000 ]; }
  until_true has_data
  local command
  command=$(cat /proc/$recorder/task/$recorder/children)
  kill -9 $recorder
  wait $recorder 2>/dev/null
  kill -9 $command
  "$kymo" cat out/samples >events 2>errors
  [ $? = 1 ] && grep -q 'the recording was not ended' errors && grep -q 'heavy+' events || { cat errors; return 1; }
}
check 'what a recorder that is killed has written is shown' killed_recorder
# the recorder is stopped while the ring of a processor fills
lost() {
  fresh
  "$kymo" record -o out --sample 10000 -- "$bin/shares" 1.6 2>said &
  local recorder=$! events lost
  has_data() { [ "$(stat -c %s out/samples/perf.data 2>/dev/null || echo 0)" -gt 20000 ]; }
  until_true has_data && kill -STOP $recorder
  ended() { ! ps -o stat= --ppid $recorder | grep -qv Z; }
  until_true ended
  kill -CONT $recorder
  wait $recorder
  [ $? = 1 ] || { cat said; return 1; }
  set -- $(said_samples)
  [ "$2" -gt 0 ] || { cat said; return 1; }
  "$kymo" info out/samples >info 2>errors
  [ $? = 1 ] && cat info errors >both && grep -q 'lost' both || { cat info errors; return 1; }
  # what readers say is what was said
  lost=$(sed -nE 's/.*the trace is incomplete: ([0-9]+) events are lost.*/\1/p; s/.* ([0-9]+) samples were lost after.*/\1/p' errors | awk '{ sum += $1 } END { print sum }')
  [ "$lost" = "$2" ] || { cat said info errors; return 1; }
}
check 'what the rings could not hold is counted: exit status, info' lost
full() {
  fresh
  (ulimit -f 100 && exec "$kymo" record -o out --sample 5000 -- "$bin/shares" 0.5) 2>said
  [ $? = 1 ] && grep -q 'perf.data: cannot write: File too large$' said || { cat said; return 1; }
  set -- $(said_samples)
  [ "$2" -gt 100 ] || { cat said; return 1; }
  "$kymo" info out/samples >info 2>&1
  grep -qE "the trace is incomplete: $2 events are lost|$2 samples were lost after the last ones that could be written" info || { cat said info; return 1; }
}
check 'what cannot be written is counted' full

# ---- others ----

if command -v perf >/dev/null; then
  as_perf() {
    fresh
    recorded --sample 997 -- "$bin/shares" 0.3 || return 1
    perf script -f -i out/samples/perf.data -F tid,time,ip,sym --ns 2>/dev/null >theirs
    [ "$(grep -cE '^ *[0-9]+ +[0-9]+\.[0-9]+:' theirs)" = "$(said_samples | cut -d' ' -f1)" ] || { head -5 theirs; cat said; return 1; }
    perf report -f -i out/samples/perf.data --stdio -g none --no-children -F overhead,sym 2>/dev/null | grep -q ' spin$'
  }
  check 'perf reads the file: as many samples, and the same names' as_perf
else
  skip 'perf reads the file' 'perf is not installed'
fi
if command -v setpriv >/dev/null && [ "$(id -u)" = 0 ] && others_reach_library; then
  unprivileged() {
    fresh
    chmod 755 "$TMPDIR" .
    mkdir mine && chown 65534:65534 mine
    local paranoid
    paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
    KYMO_RINGS=$PWD/mine/rings setpriv --reuid 65534 --regid 65534 --clear-groups "$kymo" record -o mine/out --sample 997 -- "$bin/shares" 0.1 2>said
    local status=$?
    if [ "$paranoid" -gt 2 ]; then
      [ $status = 3 ] && grep -q 'CAP_PERFMON' said || { cat said; return 1; }
    elif [ "$paranoid" -gt 1 ]; then
      [ $status = 0 ] && grep -q "samples are without the kernel's part: run as root" said && "$kymo" cat -q mine/out/samples >events &&
        grep -q 'heavy+' events && ! grep -q 'mode = kernel' events || { cat said; return 1; }
    else
      [ $status = 0 ] || { cat said; return 1; }
    fi
  }
  check 'another user has the samples that it may have, and learns what is missing' unprivileged
else
  skip 'another user' 'it cannot reach the checkout'
fi
