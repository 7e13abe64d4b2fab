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
# sleeps PID: there are two seconds in which it wakes 40 times at most; one that polls wakes 380 times
sleeps() {
  wakes_seldom() {
    local before
    before=$(wakes_of "$1") && sleep 2 && echo $(($(wakes_of "$1") - before)) >wakes && [ "$(cat wakes)" -le 40 ]
  }
  until_true wakes_seldom "$1" || { echo "woke $(cat wakes) times in two seconds"; return 1; }
}
# prompt COMMAND…: of five runs, which write rounds, there is one in which half of the rounds took less than 20 ms. Rounds of a
# reader that is not woken take 0 to 130 ms: then such a run has a probability of 0.3 %. A busy machine delays some rounds.
prompt() {
  local turn
  for turn in 1 2 3 4 5; do
    "$@" || return 1
    [ "$(grep -c . rounds)" = 11 ] || { cat rounds; return 1; }
    [ "$(sort -n rounds | sed -n 6p)" -ge 20000 ] || return 0
  done
  cat rounds
  return 1
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
  "$kymo" record -o out -- "$bin/idle" out 11 </dev/null >printed 2>said && grep -v ready printed >rounds && [ "$(count_events out)" = 22000 ] || { cat printed said; return 1; }
}
check 'the first packet after a sleep is collected at once' prompt woken
woken_by_process() {
  local recorder
  fresh
  start_process KYMO_BUFFER=256k "$bin/idle" out 11 || return 1
  "$kymo" record -q -o out -p $pid 2>said &
  recorder=$!
  started+=($recorder)
  until_true grep -q ready printed && kill -INT $recorder && wait $recorder
  end_process
  grep -v ready printed >rounds
}
check 'the same of a process that runs' prompt woken_by_process
