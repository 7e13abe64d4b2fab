#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Processes that die while they record. Every event that was published before is read from what they leave, in
# order, none torn; what they leave stays until it is removed, but never grows without bound.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'rings of dead processes are read' 'the command kymo is not built'
  exit 77
fi
build_checker
for program in worker points; do must_build $program; done
rounds=50
[ -z "$sanitizer" ] || rounds=8
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0"

# killed SIGNAL SECONDS WORKER OPTIONS…: starts the worker and kills it from outside when it is well under way
killed() {
  local signal=$1 seconds=$2 pid
  shift 2
  "$bin/worker" "$@" >/dev/null 2>&1 &
  pid=$!
  until_true has_counted 0
  sleep "$seconds"
  kill -"$signal" $pid
  wait $pid 2>/dev/null
  [ $? -gt 128 ] || { echo 'the worker ended by itself'; return 1; }
}
# what is left is whole up to the last counted event of each thread, as kymo cat reads it
rings_are_whole() {
  "$kymo" cat --format babeltrace2 rings/worker-* >text || { echo "kymo cat: exit code $?"; return 1; }
  "$bin/check_trace" -q -t "$@" -c counters <text
}
dies_again_and_again() { # … SIGNAL TIMES SETTING…
  local signal=$1 times=$2
  shift 2
  for ((round = 0; round < times; round++)); do
    fresh
    export KYMO_ENABLE='*' KYMO_RINGS=rings KYMO_BUFFER=32k "$@"
    killed "$signal" 0.0$((RANDOM % 4))$((RANDOM % 10)) -t 4 -n 0 -m -c counters || return 1
    rings_are_whole -g -k || { echo "round $round, $case_dir"; return 1; }
    unset KYMO_ENABLE
    cd "$TMPDIR" && rm -rf "$case_dir"
  done
}
# the newest events are whole up to each thread's count; in discard mode it is the oldest ones
check "kill -9 while 4 threads record at full speed, $rounds times" dies_again_and_again KILL $rounds KYMO_MODE=overwrite
check 'SIGTERM without a handler, and with another clock' dies_again_and_again TERM 5 KYMO_CLOCK=monotonic

# ends_itself HOW: in the middle of its own events, others recording
ends_itself() {
  local status
  for _ in {1..8}; do
    fresh
    traced KYMO_BUFFER=32k "$bin/worker" -t 4 -n 0 -m -c counters -k 20000 -e "$1" 2>/dev/null
    status=$?
    [ $status = "$2" ] || { echo "exit code $status"; return 1; }
    rings_are_whole -g -k || return 1
  done
}
check 'SIGSEGV while 4 threads record at full speed' ends_itself segv 139
check 'abort while 4 threads record at full speed' ends_itself abort 134
check '_exit while 4 threads record at full speed' ends_itself _exit 0
killed_by_itself() { ends_itself kill 137; }
check 'kill -9 by itself while 4 threads record at full speed' killed_by_itself
storm_and_death() {
  for _ in {1..8}; do
    fresh
    traced KYMO_BUFFER=32k "$bin/worker" -t 3 -n 0 -m -a 100 -c counters -k 20000 -e kill 2>/dev/null
    rings_are_whole -g -k || return 1
  done
}
check 'kill -9 in a storm of signals' storm_and_death
discard_and_death() {
  fresh
  traced KYMO_BUFFER=32k KYMO_MODE=discard "$bin/worker" -t 4 -n 0 -m -c counters -k 20000 -e kill 2>/dev/null
  "$kymo" cat --format babeltrace2 rings/worker-* >text 2>losses || return 1
  "$bin/check_trace" -q -t -k -c counters <text || return 1
  for thread in 0 1 2 3; do grep -q "thread = $thread, seq = 0," text || { echo "thread $thread: the first event is missing"; return 1; }; done
  grep -qi 'discarded\|lost' losses || { echo 'the losses are not told'; cat losses; return 1; }
}
check 'kill -9 in discard mode leaves the oldest events, and the losses are reported' discard_and_death

# ---- living processes ----

reads_a_living_process() {
  local pid status=0
  fresh
  KYMO_ENABLE='*' KYMO_RINGS=rings KYMO_BUFFER=32k "$bin/worker" -t 3 -n 0 -m -c counters >/dev/null 2>&1 &
  pid=$!
  until_true has_counted 1000 || return 1
  for _ in {1..10}; do
    "$kymo" cat --format babeltrace2 rings/worker-$pid 2>/dev/null >text && "$bin/check_trace" -q -t <text && [ -s text ] || status=1
  done
  [ -d rings/worker-$pid ] && "$kymo" clean --yes rings >cleaned && [ -d rings/worker-$pid ] || { echo 'kymo clean took the rings of a living process'; status=1; }
  kill -9 $pid
  wait $pid 2>/dev/null
  return $status
}
check 'the rings of a running process are read while it records at full speed' reads_a_living_process

# ---- what is left ----

leave_rings() { # leave_rings PROGRAM TIMES
  for ((i = 0; i < $2; i++)); do
    cp "$bin/worker" "./$1"
    traced KYMO_BUFFER=16k "./$1" -t 1 -n 0 -k 100 -e kill 2>/dev/null
    sleep 0.01
  done
}
eight_are_kept() {
  fresh
  leave_rings other 2
  leave_rings prog 3
  [ "$(ls -d rings/prog-* | wc -l)" = 3 ] || { ls rings; return 1; }
  first=$(ls -dt rings/prog-* | tail -1)
  leave_rings prog 9
  [ "$(ls -d rings/prog-* | wc -l)" = 8 ] || { ls rings; return 1; }
  [ ! -e "$first" ] && [ "$(ls -d rings/other-* | wc -l)" = 2 ] || { ls rings; return 1; }
  for left in rings/prog-*; do [ "$("$kymo" cat -f babeltrace2 "$left" | wc -l)" = 100 ] || return 1; done
}
check 'of one program eight dead rings are kept, the oldest go when it starts again' eight_are_kept
clean_removes() {
  fresh
  leave_rings prog 3
  mkdir rings/unrelated && echo text >rings/unrelated/file && mkdir rings/record-xyz && mv rings/prog-* rings/record-xyz
  leave_rings prog 2
  "$kymo" clean --yes rings >said || return 1
  grep -q '5 dead processes' said || { cat said; return 1; }
  [ "$(cat rings/unrelated/file)" = text ] && [ "$(ls rings)" = unrelated ] || { ls -R rings; return 1; }
  "$kymo" clean --yes rings >said && grep -qx 'there are no rings of dead processes' said
}
check 'kymo clean removes the rings of dead processes, and nothing else' clean_removes
clean_by_variable() {
  fresh
  leave_rings prog 2
  KYMO_RINGS="$case_dir/rings" "$kymo" clean --yes >said && grep -q '2 dead' said && [ -z "$(ls rings)" ]
}
check 'kymo clean looks where KYMO_RINGS points' clean_by_variable
clean_refuses() {
  fresh
  echo >file
  "$kymo" clean file/rings 2>err && return 1
  [ $? = 3 ] && [ -s err ] || { cat err; return 1; }
  "$kymo" clean a b 2>err
  [ $? = 1 ] && grep -qx 'kymo clean: there are no rings of a program a' err
}
check 'kymo clean reports what it cannot use' clean_refuses

# ---- damaged rings ----

# refuses WHAT: kymo cat reports the fault and ends with 1 or 3, even if it could print some events
refuses() {
  "$kymo" cat -f babeltrace2 "$@" >text 2>err
  local status=$?
  [ $status = 1 ] || [ $status = 3 ] || { echo "exit code $status"; cat err; return 1; }
  [ -s err ] || { echo 'without a word'; return 1; }
}
damaged_rings() {
  local size
  fresh
  leave_rings prog 1
  mv rings/prog-* sound
  size=$(stat -c %s sound/rings)
  for cut in 0 7 100 4095 4096 5000 20000 $((size - 1)); do
    rm -rf cut && cp -r --sparse=always sound cut && truncate -s $cut cut/rings && refuses cut || { echo "cut to $cut"; return 1; }
  done
  rm -rf cut && cp -r --sparse=always sound cut && rm cut/metadata && refuses cut || { echo 'without metadata'; return 1; }
  rm -rf cut && cp -r --sparse=always sound cut && truncate -s 500 cut/metadata && refuses cut || { echo 'torn metadata'; return 1; }
  rm -rf cut && cp -r --sparse=always sound cut && echo 'not TSDL' >cut/metadata && refuses cut || { echo 'other metadata'; return 1; }
}
check 'rings cut off anywhere, and without metadata, are refused with a reason' damaged_rings
untrusted_rings() {
  fresh
  leave_rings prog 1
  mv rings/prog-* sound
  python3 - "$kymo" <<'EOF'
import os, random, shutil, subprocess, sys
random.seed(7)
kymo, size = sys.argv[1], 4096 + 5 * 4096
for n in range(60):
    shutil.rmtree('untrusted', ignore_errors=True)
    os.mkdir('untrusted')
    shutil.copy('sound/metadata', 'untrusted/metadata')
    subprocess.run(['cp', '--sparse=always', 'sound/rings', 'untrusted/rings'], check=True)
    with open('untrusted/rings', 'r+b') as f:
        for _ in range(random.randint(1, 20)):
            at = random.choice([random.randrange(8, 80), random.randrange(4096, size), random.randrange(0, size)])
            f.seek(at)
            f.write(random.choice([os.urandom(1), os.urandom(8), b'\xff' * 8, b'\x00' * 8, (1 << random.randrange(64)).to_bytes(8, 'little')]))
    done = subprocess.run([kymo, 'cat', '-f', 'babeltrace2', 'untrusted'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=20)
    if done.returncode not in (0, 1, 3):
        print('round', n, 'ended with', done.returncode, done.stderr[-2000:].decode(errors='replace'))
        sys.exit(1)
EOF
}
check 'rings with random damage neither crash nor hang the reader' untrusted_rings

# ---- what a snapshot reports about the end ----

# snapshot_of PROCESS: the output of kymo snapshot except the first line, and the cause that kymo info shows
snapshot_of() {
  "$kymo" snapshot -o snapshot "$1" 2>&1 | sed 1d
  "$kymo" info --json snapshot | jq -r '.traces[0].cause // "no cause"'
}
# the program dies, and no other program has rings in ./rings
died() {
  fresh
  KYMO_ENABLE='*' KYMO_RINGS=rings KYMO_SAVE=never "$@" >/dev/null 2>&1
}
names_signal() {
  died env KYMO_CRASH=mark "$bin/worker" -t 1 -n 100 -e segv
  local said
  said=$(snapshot_of rings/worker-*)
  grep -xE "kymo snapshot: process [0-9]+ died: Segmentation fault in thread [0-9]+" <<<"$said" &&
    grep -xE "worker \(process [0-9]+\): Segmentation fault in thread [0-9]+" <<<"$said" || { echo "$said"; return 1; }
}
names_no_signal() {
  died "$bin/worker" -t 1 -n 100 -e "$1"
  expect "kymo snapshot: process $(ls rings | grep -oE '[0-9]+' | head -1) was killed, or ended by _exit; with KYMO_CRASH=mark in its environment, a signal that dumps core is recorded
no cause" snapshot_of rings/worker-*
}
names_no_end() {
  died "$bin/worker" -t 1 -n 100
  expect 'no cause' snapshot_of rings/worker-*
}
check 'a snapshot names the signal that the rings have a mark of' names_signal
check 'a snapshot reports that a killed process has no mark' names_no_signal kill
check 'a snapshot of a process that ended well reports nothing about its end' names_no_end

exit 0
