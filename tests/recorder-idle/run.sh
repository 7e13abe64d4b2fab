#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# A recorder whose programs record nothing sleeps, and is woken by the first packet.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'idle recorders' 'the command kymo is not built'
  exit 77
fi
programs=$KYMO_SOURCE/tests/recorder-idle
must_build idle

# wakes_of PID: how often its threads have slept so far
wakes_of() { cat /proc/"$1"/task/*/status | awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }'; }
# sleeps PID: 20 times a second at most, which is known after two seconds
sleeps() {
  local before
  sleep 1 # until its pauses have grown
  before=$(wakes_of "$1") && sleep 2 && echo $(($(wakes_of "$1") - before)) >wakes && [ "$(cat wakes)" -le 40 ] || { echo "woke $(cat wakes) times in two seconds"; return 1; }
}
# prompt FILE: half of the rounds took less than 30 ms; a reader that is not woken takes 65
prompt() {
  local median
  median=$(grep -v ready "$1" | sort -n | sed -n 6p)
  [ "$(grep -vc ready "$1")" = 11 ] && [ "$median" -lt 30000 ] || { cat "$1"; return 1; }
}
has_waitv() { # since Linux 5.16, and not in every sandbox
  python3 -c 'import ctypes, errno; l = ctypes.CDLL(None, use_errno=True); l.syscall(449, 0, 0, 0, 0, 0); raise SystemExit(ctypes.get_errno() == errno.ENOSYS)'
}
has_waitv || { skip 'idle recorders' 'the kernel has no futex_waitv'; exit 77; }

# recording MODE: a command
recording() {
  local recorder
  fresh
  "$kymo" record --mode "$1" -q -o out -- "$bin/idle" none 0 <"$idle" >printed 2>said &
  recorder=$!
  started+=($recorder)
  until_true grep -q ready printed && sleeps $recorder || { cat said; return 1; }
  kill "$(pgrep -P $recorder)"
  wait $recorder
  return 0
}
check 'kymo record of a command that records nothing sleeps' recording discard
check 'kymo record --mode overwrite, too' recording overwrite
attached() { # MODE
  local recorder
  fresh
  start_process "$bin/idle" none 0 || return 1
  "$kymo" record --mode "$1" -q -o out -p $pid >said 2>&1 &
  recorder=$!
  started+=($recorder)
  is_recorded() { "$kymo" list $pid | grep -q '^on '; }
  until_true is_recorded && sleeps $recorder || { cat said; return 1; }
  kill -INT $recorder && wait $recorder
  end_process
}
check 'kymo record -p of a process that records nothing sleeps' attached discard
check 'kymo record -p --mode overwrite, too' attached overwrite

woken() {
  fresh
  "$kymo" record -o out -- "$bin/idle" out 11 </dev/null >printed 2>said && prompt printed && [ "$(count_events out)" = 22000 ] || { cat printed said; return 1; }
}
check 'the first packet after a sleep is collected at once' woken
woken_by_process() {
  local recorder
  fresh
  start_process KYMO_BUFFER=256k "$bin/idle" out 11 || return 1
  "$kymo" record -q -o out -p $pid 2>said &
  recorder=$!
  started+=($recorder)
  until_true grep -q ready printed && kill -INT $recorder && wait $recorder
  grep -v ready printed >rounds
  prompt rounds
}
check 'the same of a process that runs' woken_by_process
