#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo cat --follow: traces that are written bit by bit (cases.py), the rings of running processes, what `kymo record`
# is writing.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
export TZ=UTC LC_ALL=C.UTF-8
here=$KYMO_SOURCE/tests/follow
must_build worker

mkdir "$TMPDIR/cases"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/cases.py" "$kymo" "$TMPDIR/cases"

# numbers FILE: how many events it has by thread and number
numbers() { grep -o 'thread = [0-9]*, seq = [0-9]*' "$1" | sort -u | wc -l; }
has_all() { # FILE EVENTS: each event once
  local lines
  lines=$(grep -c '^\[' "$1")
  [ "$lines" = "$2" ] && [ "$(numbers "$1")" = "$2" ] || { echo "$lines lines, $(numbers "$1") events, not $2"; return 1; }
}
# start ARGUMENT…: a traced worker in the background, $worker; waits for its rings
start() {
  fresh
  mkdir rings
  KYMO_ENABLE='*' KYMO_OUT="$case_dir/out" KYMO_RINGS="$case_dir/rings" "$bin/worker" "$@" >/dev/null 2>&1 &
  worker=$!
  until_true are_made
}
are_made() { head -qc 8 rings/*/rings | grep -qaE 'KYMORING|GNIROMYK'; } 2>/dev/null
# follow: to the end of the process
follow() { timeout 20 "$kymo" cat --follow rings >seen 2>said || { cat said; return 1; }; }

live_rings() {
  start -t 4 -n 400 -w 1000 && follow && has_all seen 1600 && [ ! -s said ]
}
check 'the rings of a process, to its end' live_rings

killed_process() {
  start -t 2 -n 0 -w 1000 -k 300 -e kill && follow && [ "$(grep -c 'thread = 0, seq' seen)" = 300 ]
}
check 'the rings of a process that is killed' killed_process 2>/dev/null

threads_one_by_one() {
  start -p -t 12 -n 50 -w 500 && follow && has_all seen 600
}
check 'threads that come later' threads_one_by_one

interrupted() {
  start -t 2 -n 20 -e stop || return 1
  "$kymo" cat --follow rings >seen 2>said &
  local follower=$! status
  until_true has_all seen 40 >/dev/null
  kill -INT $follower
  wait $follower
  status=$?
  kill -KILL $worker
  [ $status = 0 ] && [ ! -s said ] && has_all seen 40
}
check 'an interrupt ends it well' interrupted 2>/dev/null

slow_reader() { # the interrupt comes while a line waits for a reader that is slow; all that was read is printed
  local status=0
  start -t 2 -n 400 -e stop || return 1
  expect 800 timeout 60 python3 "$here/slow_reader.py" "$kymo" cat --follow rings || status=1
  kill -KILL $worker
  return $status
}
check 'an interrupt while its reader is slow ends it well' slow_reader 2>/dev/null

recording() {
  fresh
  mkdir out
  "$kymo" record -q -o out -- "$bin/worker" -t 4 -n 3000 -w 100 >/dev/null 2>said &
  local recorder=$! follower status
  "$kymo" cat --follow out >seen 2>words &
  follower=$!
  wait $recorder || { cat said; return 1; }
  kill -INT $follower
  wait $follower
  status=$?
  [ $status = 0 ] && [ ! -s words ] && has_all seen 12000 # a thread's file may come when others are further
}
check 'what is being recorded' recording

quiet() { # threads that store a few events and then nothing, far from filling a packet
  fresh
  mkdir out
  "$kymo" record -q -o out -- "$bin/worker" -t 2 -n 20 -e stop >/dev/null 2>said &
  local recorder=$! follower status=0
  "$kymo" cat --follow out >seen 2>words &
  follower=$!
  until_true has_all seen 40 || status=1
  kill -KILL $(pgrep -P $recorder)
  kill -INT $follower
  wait $recorder $follower
  [ $status = 0 ] || { cat said words seen; return 1; }
  "$kymo" cat out >read && has_all read 40 && babeltrace2 -o dummy out
}
check 'a quiet program that is recorded' quiet 2>/dev/null
# ages FIFO WANTED: reads lines with times as they come; how old the middle and the oldest of the WANTED events were goes to ./ages
ages() {
  python3 -c '
import sys, time
for line in open(sys.argv[1]):
    if line[0] == "[": print(time.time() - float(line.split("]")[0][1:]))' "$1" >ages
  [ "$(wc -l <ages)" = "$2" ] && sort -n ages | awk '{ age[NR] = $1 } END { middle = age[int((NR + 1) / 2)]; print middle, age[NR]; exit !(middle < 1 && age[NR] < 4) }'
}
soon() { # how old events are when they are shown: what comes slowly, in several threads, does not pile up
  fresh
  mkdir out
  mkfifo lines
  "$kymo" record -q -o out -- "$bin/worker" -t 3 -n 60 -w 100000 >/dev/null 2>said &
  local recorder=$! follower
  ages lines 180 &
  local ages=$!
  "$kymo" cat -q --follow --clock-seconds out 2>words >lines &
  follower=$!
  wait $recorder
  kill -INT $follower
  wait $follower
  wait $ages || { cat said words; wc -l ages; return 1; }
}
check 'what is recorded slowly is shown within a second' soon
soon_from_rings() { # the same for a process without a recorder; it ends, and so does its follower
  start -t 3 -n 60 -w 100000 || return 1
  mkfifo lines
  ages lines 180 &
  local ages=$!
  timeout 60 "$kymo" cat -q --follow --clock-seconds rings 2>words >lines || { cat words; return 1; }
  wait $ages || { cat words; wc -l ages; return 1; }
}
check 'what happens slowly in rings is shown within a second' soon_from_rings
quiet_statistics() { # of threads that store a few events and then nothing, far from filling a packet
  local status=0
  start -t 2 -n 20 -e stop || return 1
  counts_all() { [ "$(KYMO_RINGS=$case_dir/rings "$kymo" stat $worker --once -i 1ms --json | jq .events)" = 40 ]; }
  until_true counts_all || status=1
  kill -KILL $worker
  return $status
}
check 'kymo stat of a quiet program counts what it has stored' quiet_statistics 2>/dev/null
no_grow() { [ "$("$kymo" cat --follow --hold=-1s . 2>&1)" = 'kymo cat: --hold -1s: expected a time of 0 or more, found a negative one' ]; }
check 'holding back for less than nothing' no_grow
