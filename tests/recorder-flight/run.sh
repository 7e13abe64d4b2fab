#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo record --snapshot-on: nothing is kept until something happens, and then what was there is read whole.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'kymo record --snapshot-on' 'the command kymo is not built'
  exit 77
fi
build_checker
for program in worker points signals master; do must_build $program; done
unset KYMO_ENABLE KYMO_OUT
export KYMO_RINGS=$TMPDIR/rings ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0"

# flight STATUS OPTIONS… -- COMMAND…
flight() {
  local want=$1 status
  shift
  "$kymo" record -o out "$@" 2>said
  status=$?
  [ $status = "$want" ] && [ -z "$(ls -A "$KYMO_RINGS" | grep record-)" ] || { echo "exit code $status, not $want"; cat said; ls "$KYMO_RINGS"; return 1; }
}

nothing_happens() {
  fresh
  flight 0 --snapshot-on crash --snapshot-on exit-code --snapshot-on USR1 -- "$bin/worker" -t 2 -n 1000 || return 1
  [ ! -e out ] && expect 'kymo record: no snapshot was taken: none of the events of --snapshot-on happened' cat said
}
check 'without a trigger nothing is written' nothing_happens
crash() {
  fresh
  flight 139 --snapshot-on crash --buffer 64k -- "$bin/worker" -t 3 -n 0 -m -k 30000 -e segv -c counters || return 1
  [ "$(ls out)" = snapshot-1 ] && "$bin/check_trace" -q -k -g -c counters out/snapshot-1 && babeltrace2 -o dummy out/snapshot-1 || return 1
  grep -qE ': Segmentation fault in thread [0-9]+: snapshot in out/snapshot-1: [1-9][0-9]* events, 0 lost, [1-9][0-9]* overwritten' said || { cat said; return 1; }
  expect "$(sed -nE 's/.* lost, ([0-9]+) overwritten$/\1/p' said)" eval "'$kymo' info --json out/snapshot-1 | jq '.traces[0].overwritten_events'"
}
check 'crash: the newest events of each thread up to the last one' crash
# crash_of HOW SIGNAL: a worker's that the server waits for at once; the server goes on and ends well
crash_of() {
  local pid status=0
  fresh
  "$kymo" record -o out --snapshot-on crash --buffer 64k -- "$bin/master" exit "$1" exit >printed 2>said || status=$?
  pid=$(sed -n "s/^\([0-9]*\) $1 [1-9][0-9]*$/\1/p" printed)
  [ $status = 0 ] && [ -n "$pid" ] && [ "$(ls out)" = snapshot-1 ] || { echo "exit code $status"; cat printed said; return 1; }
  grep -qE "^kymo record: master \(process $pid\): $2( in thread [0-9]+)?: snapshot in out/snapshot-1: [1-9]" said || { cat said; return 1; }
  "$bin/check_trace" -q out/snapshot-1/master-$pid && [ "$(sum_of events out/snapshot-1/master-$pid)" = 100 ] || return 1
  for trace in out/snapshot-1 out/snapshot-1/master-$pid; do
    "$kymo" info $trace | grep -qE "^  cause  *master \(process $pid\): $2( in thread [0-9]+)?$" || { "$kymo" info $trace; return 1; }
  done
  may_lose "$kymo" convert -q -o converted out/snapshot-1/master-$pid && cmp converted/.kymo/cause out/snapshot-1/.kymo/cause && may_lose "$kymo" merge -q -o merged out/snapshot-1 && cmp merged/.kymo/cause out/snapshot-1/.kymo/cause || return 1
  true && [ -z "$(ls -A "$KYMO_RINGS" | grep record-)" ]
}
check 'crash of a worker that its master waits for: a fault' crash_of segv 'Segmentation fault'
check 'crash of a worker: abort' crash_of abort Aborted
check 'crash of a worker: SIGTRAP' crash_of trap 'Trace/breakpoint trap'
check 'crash of a worker whose own handler passes the signal back' crash_of own 'Segmentation fault'
[ -n "$sanitizer" ] || check 'crash of a worker: a stack that overflows' crash_of deep 'Segmentation fault'
# crash_of_unwatched HOW SIGNAL [VARIABLE=VALUE]: of a worker that the kernel reaps, since its parent wants to know nothing of it. KILL comes from here
crash_of_unwatched() {
  local recorder pid status=0
  fresh
  env "${@:3}" "$kymo" record -o out --snapshot-on crash --buffer 64k -- "$bin/master" "+$1" >printed 2>said &
  recorder=$!
  worker() { pid=$(sed -n "s/^\([0-9]*\) $1$/\1/p" printed) && [ -n "$pid" ]; }
  is_watched() { grep -qsE "^Pid:[[:space:]]+$pid$" /proc/$recorder/fdinfo/*; }
  until_true worker "$1" && until_true is_watched || { kill $recorder; cat printed said; return 1; }
  kill -$([ $1 = KILL ] && echo KILL || echo USR1) $pid
  wait $recorder || status=$?
  [ $status = 0 ] && [ "$(ls out)" = snapshot-1 ] || { echo "exit code $status"; ls out; cat printed said; return 1; }
  grep -qE "^kymo record: master \(process $pid\): $2( in thread [0-9]+)?: snapshot in out/snapshot-1: [1-9]" said || { cat said; return 1; }
}
# without Linux 6.15, the signal of a worker without a waiting parent is unknown
unless_unknown() { [ "$(printf '%s\n' 6.15 "$(uname -r)" | sort -V | head -1)" = 6.15 ] && echo "$1" || echo "($1|killed or crashed \(signal unknown\))"; }
check 'crash of a worker without a waiting parent: SIGKILL' crash_of_unwatched KILL "$(unless_unknown Killed)"
check 'crash of a worker without a waiting parent, which gave its signal back to the kernel' crash_of_unwatched dfl "$(unless_unknown 'Segmentation fault')"
[ -n "$sanitizer" ] || check 'crash of a worker without a waiting parent: the stack of a thread overflows' crash_of_unwatched thread "$(unless_unknown 'Segmentation fault')"
if [ -z "$sanitizer" ]; then
  "$KYMO_CC" -O1 -shared -fPIC "$programs/old_kernel.c" -o "$bin/old_kernel.so" || not_ok 'old_kernel.so builds' 'it does not'
  check 'crash of a worker without a waiting parent: SIGKILL, of which the kernel reports nothing' crash_of_unwatched KILL 'killed or crashed \(signal unknown\)' LD_PRELOAD="$bin/old_kernel.so"
fi
no_crash() {
  fresh
  # a leak checker of workers that end by exit would print words of its own
  ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 flight 0 --snapshot-on crash -- "$bin/master" exit _exit term >printed && [ ! -e out ] || return 1
  expect 'kymo record: no snapshot was taken: none of the events of --snapshot-on happened' grep -vE '^kymo record: the end of [12] process(es)? is unknown: gone before (it|they) could be read$' said
}
check 'workers that end by exit, _exit or SIGTERM are no crash' no_crash
crashes_again() { # the program goes on crashing, the disk does not fill
  fresh
  flight 0 --snapshot-on crash --buffer 16k -- "$bin/master" $(for _ in {1..40}; do echo segv; done) >printed || return 1
  [ "$(grep -c . printed)" = 40 ] && [ "$(ls out | wc -l)" -le 16 ] && [ "$(grep -o 'Segmentation fault' said | wc -l)" -ge 1 ] || { ls out; cat said; return 1; }
}
check 'a program that crashes again and again: not more than 16 snapshots' crashes_again
own_core() { # the signal is what the kernel makes of it, with its core
  fresh
  "$bin/master" segv own abort trap | cut -d' ' -f2- >bare
  "$kymo" record -q -o out --snapshot-on crash -- "$bin/master" segv own abort trap | cut -d' ' -f2- | diff bare -
}
check 'processes die of the same signal as without' own_core
nginx_worker() { # a worker of an unmodified server
  local server worker
  fresh
  printf 'daemon off; worker_processes 2; error_log %s/error.log; pid %s/pid; user root;\nevents {}\nhttp { access_log off; server { listen unix:%s/socket; } }\n' \
    "$PWD" "$PWD" "$PWD" >nginx.conf
  "$kymo" record -o out --calls libc --snapshot-on crash -- nginx -p "$PWD" -c "$PWD/nginx.conf" >printed 2>said &
  server=$!
  has_worker() { [ -s pid ] && worker=$(pgrep -P "$(cat pid)" | head -1) && [ -n "$worker" ]; }
  until_true has_worker || { cat printed said; return 1; }
  printf 'GET / HTTP/1.0\r\n\r\n' | timeout 10 python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect("socket"); s.sendall(sys.stdin.buffer.read()); s.recv(9)'
  kill -SEGV "$worker"
  until_true grep -q 'snapshot in' said
  kill -QUIT "$(cat pid)"
  wait $server
  grep -qE "^kymo record: nginx \(process $worker\): Segmentation fault( in thread [0-9]+)?: snapshot in out/snapshot-1: [1-9]" said &&
    "$kymo" cat -q out/snapshot-1/nginx-$worker | grep -q 'libc:' || { cat printed said; find out; return 1; }
}
if command -v nginx >/dev/null && [ "$(id -u)" = 0 ] && [ -z "$sanitizer" ]; then
  check 'crash of a worker of nginx' nginx_worker
else
  skip 'crash of a worker of nginx' 'nginx is not installed, or this is not root'
fi
exit_code() {
  fresh
  flight 3 --snapshot-on exit-code -- sh -c "'$bin/points' >/dev/null; exit 3" && [ "$(sum_of events out/snapshot-1)" = 7 ] && grep -q 'exit code 3: snapshot' said || return 1
  rm -rf out
  flight 0 --snapshot-on exit-code -- "$bin/points" && [ ! -e out ] || return 1
  flight 139 --snapshot-on exit-code -- sh -c "'$bin/points'; kill -SEGV \$\$" && [ ! -e out ]
}
check 'exit-code: only if it is not 0, and no crash' exit_code
signals() { # three snapshots of a program at full speed; the signal is not the program's
  local pid i
  fresh
  "$kymo" record -o out --snapshot-on SIGUSR1 --buffer 64k -- "$bin/worker" -t 3 -n 0 -m -c counters 2>said &
  pid=$!
  until_true has_counted 20000 || return 1
  for i in 1 2 3; do
    kill -USR1 $pid
    until_true eval '[ "$(grep -c "snapshot in" said)" = $i ]' || return 1
  done
  kill -KILL $(pgrep -P $pid)
  wait $pid
  [ $? = 137 ] && [ "$(ls out | tr '\n' ' ')" = 'snapshot-1 snapshot-2 snapshot-3 ' ] || { ls out; cat said; return 1; }
  for i in 1 2 3; do
    # it may have gaps: threads at full speed overwrite what a reader that has to wait for a processor was about to copy
    "$bin/check_trace" -q out/snapshot-$i && [ "$(sum_of events out/snapshot-$i)" -gt 1000 ] && babeltrace2 -o dummy out/snapshot-$i || return 1
  done
}
check 'a signal: as many snapshots as are asked for, each consistent' signals
other_signals() { # what no snapshot is taken on still reaches the command
  local pid
  fresh
  "$kymo" record -o out --snapshot-on 10 -- "$bin/signals" 1 >printed 2>said &
  pid=$!
  until_true grep -q ready printed || return 1
  kill -USR1 $pid
  until_true grep -q 'User defined signal 1' said || return 1
  kill -USR2 $pid
  wait $pid && grep -q 'SIGUSR2 1' printed && ! grep -q SIGUSR1 printed || { cat printed said; return 1; }
}
check 'other signals reach the command' other_signals
processes() { # rings of dead processes wait for the snapshot, the newest few
  fresh
  flight 1 --snapshot-on exit-code -- sh -c "for i in \$(seq 20); do '$bin/points'; done >/dev/null; sleep 1.2; '$bin/points' >/dev/null; exit 1" || return 1
  [ "$(ls out/snapshot-1 | wc -l)" -ge 8 ] && [ "$(ls out/snapshot-1 | wc -l)" -le 12 ] && "$bin/check_trace" -q out/snapshot-1/* || { ls out/snapshot-1; return 1; }
}
check 'several processes: the newest dead ones are in the snapshot' processes
ctf2() {
  fresh
  flight 3 --ctf 2 --snapshot-on exit-code -- sh -c "'$bin/points' >/dev/null; exit 3" && [ "$("$kymo" cat -q out/snapshot-1 | grep -cv '^#')" = 7 ] && grep -q '"type"' out/snapshot-1/metadata
}
check 'snapshots in CTF 2' ctf2
if [ -z "$sanitizer" ]; then
  "$KYMO_CC" -D_GNU_SOURCE -O1 -shared -fPIC "$programs/late_magic.c" -o "$bin/late_magic.so" || not_ok 'late_magic.so builds' 'it does not'
  late() { # the rings of a process that has just been started are found without their magic, which is there a moment later
    fresh
    LATE_MAGIC=$PWD/magic LD_PRELOAD=$bin/late_magic.so flight 3 --snapshot-on exit-code -- sh -c "'$bin/points' >/dev/null
      head -c 8 '$KYMO_RINGS'/record-*/points-*/rings >magic; head -c 8 /dev/zero | dd of=\$(ls '$KYMO_RINGS'/record-*/points-*/rings) conv=notrunc status=none; exit 3" &&
      [ "$(sum_of events out/snapshot-1)" = 7 ]
  }
  check 'rings that are finished while they are looked at' late
fi
for event in KILL SIGSTOP CHLD nothing 0 99 ''; do
  check "--snapshot-on \"$event\" is refused" record_refuses "--snapshot-on is a signal, exit-code or crash, not \"$event\"" --snapshot-on "$event"
done
check '--snapshot-on with --mode discard is refused' record_refuses '--snapshot-on needs --mode overwrite' --snapshot-on crash --mode discard
check '--snapshot-on with --rotate is refused' record_refuses '--rotate needs --mode discard: overwritten rings are collected only at the end' --snapshot-on crash --rotate 1M

exit 0
