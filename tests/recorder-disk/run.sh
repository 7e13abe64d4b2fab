#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo record, kymo snapshot and full disks: what is not written is counted, and can be had.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'traces on a full disk' 'the command kymo is not built'
  exit 77
fi
build_checker
must_build worker
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS

# full_disk OPTIONS: the worker's trace on the small disk: what was written and what was not is all that there was
full_disk() {
  "$kymo" record -o small/out --buffer 64k "$@" -- "$bin/worker" -t 2 -n 30000 -w 1 -c counters 2>said
  local status=$?
  [ $status = 1 ] && grep -q 'No space left' said && [ "$(grep -c 'cannot write' said)" = 1 ] || { echo "exit code $status"; cat said; return 1; }
  "$bin/check_trace" -c counters small/out >sums && said_of small/out || { cat sums said; return 1; }
  [ "$("$kymo" info small/out 2>/dev/null | sed -n 's/^  sum .*lost \([0-9]*\) events.*/\1/p')" = "$(sed -n 's/^lost //p' sums)" ] || { "$kymo" info small/out; return 1; }
}
# saved_elsewhere: the command that kymo record names saves what could not be written, and more
saved_elsewhere() {
  local unwritten rings
  unwritten=$(sed -n 's/^kymo record: \([1-9][0-9]*\) of the lost events could not be written.*/\1/p' said)
  rings=$(sed -n 's/^  kymo snapshot -o DIRECTORY //p' said)
  [ -n "$unwritten" ] && [ -d "$rings" ] || { cat said; return 1; }
  may_lose "$kymo" snapshot -q -o elsewhere "$rings" && "$bin/check_trace" -q elsewhere && [ "$(sum_of events elsewhere)" -ge "$unwritten" ] || return 1
  rm -r "${rings%/*}"
}
full_while_running() { full_disk && ! grep -q 'larger rings' said && saved_elsewhere && [ "$(sum_of events small/out)" -gt 1000 ] && [ -z "$(find small -name reserve)" ]; }
# adds_up COUNT: events written, lost and overwritten
adds_up() {
  local sum
  sum=$(sed -nE 's/^kymo record: (no )?trace .*: ([0-9]+) events, ([0-9]+) lost(, ([0-9]+) overwritten)?.*/\2 + \3 + 10#0\5/p' said)
  [ "$((sum))" = "$1" ] || { echo "$sum is not $1"; cat said; return 1; }
}
full_at_the_end() {
  "$kymo" record -o small/out --buffer 64k --mode overwrite -- "$bin/worker" -t 2 -n 30000 2>said
  [ $? = 1 ] && grep -q 'No space left' said && adds_up 60000 && "$bin/check_trace" small/out >sums && grep -q '^lost [1-9]' sums || { cat sums said; return 1; }
  saved_elsewhere
}
full_from_the_beginning() { # not even the description: there is no trace, and that is said
  "$kymo" record -o small/out -- "$bin/worker" -n 1000 2>said
  [ $? = 1 ] && [ ! -e small/out ] && grep -q '^kymo record: no trace could be written to small/out: 0 events, 1000 lost$' said || { cat said; find small; return 1; }
  saved_elsewhere && [ "$(sum_of events elsewhere)" = 1000 ]
}
space_again() { # what could not be written at first is written when there is space, and nothing is lost
  local pid
  head -c 290k /dev/zero >small/filler
  "$kymo" record -o small/out --buffer 1M -- "$bin/worker" -t 2 -n 1500 -w 1000 -c counters 2>said &
  pid=$!
  until_true grep -q 'No space left' said
  rm small/filler
  mount -o remount,size=10m small
  wait $pid || { cat said; return 1; }
  [ "$(grep -c '' said)" = 2 ] && grep -q ': 3000 events, 0 lost$' said && "$bin/check_trace" -q -g -c counters small/out || { cat said; return 1; }
}
full_with_parts() {
  "$kymo" record -o small/out --rotate 64k --buffer 64k -- "$bin/worker" -t 2 -n 30000 -w 1 -c counters 2>said
  [ $? = 1 ] && grep -q 'No space left' said && "$bin/check_trace" -p -c counters small/out/part-* >sums && said_of -p small/out/part-* && saved_elsewhere || { cat said sums; find small; return 1; }
}
no_room_for_a_part() { # its description cannot be written: the part before counts what is lost
  local size
  for size in $(seq 300 6 420); do
    rm -rf small/* counters elsewhere
    mount -o "remount,size=${size}k" small && full_with_parts || { echo "of $size KiB"; return 1; }
    [ -z "$(find small -empty -o -name reserve)" ] || { find small; return 1; }
    grep -q 'part-[0-9]*/worker-[0-9]*/\(metadata\|.kymo/registry\): cannot write' said && return
  done
  echo 'no disk was full there'
  return 1
}
full_for_processes() { # each has its own rings that stay
  "$kymo" record -o small/out --buffer 64k -- sh -c "for i in 1 2 3; do '$bin/worker' -t 2 -n 5000 -w 1; done" 2>said
  [ $? = 1 ] && adds_up 30000 || { cat said; return 1; }
  for rings in $(sed -n 's/^  kymo snapshot -o DIRECTORY //p' said); do
    [ -e "$rings/rings" ] || return 1
    rm -r "${rings:?}"
  done
}
full_snapshot() { # of the flight recorder: its rings stay as well
  "$kymo" record -o small/out --snapshot-on exit-code -- sh -c "'$bin/worker' -t 2 -n 10000; exit 3" 2>said
  [ $? = 3 ] && grep -q 'No space left' said || { cat said; return 1; }
  local rings=$(sed -n 's/^  kymo snapshot -o DIRECTORY //p' said)
  may_lose "$kymo" snapshot -q -o elsewhere "$rings" && [ "$(sum_of events elsewhere)" -gt 1000 ] && rm -r "${rings%/*}"
}
full_for_snapshot() {
  "$kymo" record -q -o trace --snapshot-on exit-code -- true # only for its directories
  KYMO_ENABLE='*' KYMO_SAVE=outside KYMO_RINGS="$case_dir/rings" "$bin/worker" -t 2 -n 10000 2>/dev/null
  "$kymo" snapshot -o small/out rings/worker-* 2>said
  [ $? = 1 ] && grep -q 'No space left' said && said_of small/out || { cat said; return 1; }
}
# on_a_small_disk SIZE CASE: the case with ./small being a file system of that size
on_a_small_disk() {
  fresh
  mkdir small
  export -f full_with_parts full_disk saved_elsewhere said_of adds_up sum_of until_true may_lose "$2"
  export kymo bin case_dir
  unshare -m bash -c 'mount -t tmpfs -o "size=$1" none small && "$2"' . "$@"
}
if unshare -m mount -t tmpfs none "$TMPDIR" 2>/dev/null; then
  check 'a full disk: all that is not written is counted, in the trace too, and can be saved elsewhere' on_a_small_disk 300k full_while_running
  check 'a disk that is full when overwritten rings are collected' on_a_small_disk 100k full_at_the_end
  check 'a disk that is full from the beginning: no trace, which is said' on_a_small_disk 8k full_from_the_beginning
  check 'a disk that has space again: nothing is lost' on_a_small_disk 300k space_again
  check 'a disk that is full after some parts' on_a_small_disk 300k full_with_parts
  check 'a disk that has no space for the description of the next part' on_a_small_disk 300k no_room_for_a_part
  check 'a disk that is full for several processes' on_a_small_disk 200k full_for_processes
  check 'a full disk and a snapshot of the flight recorder: the rings stay, which is said' on_a_small_disk 100k full_snapshot
  check 'a full disk and kymo snapshot: what is missing is counted' on_a_small_disk 100k full_for_snapshot
else
  skip 'traces on a full disk' 'needs root to mount a small one'
fi

exit 0
