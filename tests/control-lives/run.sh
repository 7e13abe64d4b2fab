#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Control in programs that fork, execute others, become daemons, change root and user, or may do nothing; and callers of all
# kinds.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'control in all walks of life' 'the command kymo is not built'
  exit 77
fi
build_checker
must_build points
programs=$control must_build life
programs=$control must_build many many.c gcc -O0 # half a thousand call sites are much to optimise
socket_of() { echo "$XDG_RUNTIME_DIR/kymo/control-$1"; }
# records_on_demand PID: can be switched on from outside, and does
records_on_demand() {
  local before
  "$kymo" enable $1 life:step >/dev/null || return 1
  before=$(events_of $1)
  has_more() { [ "$(events_of $1)" -gt "$before" ]; }
  until_true has_more $1
}
# saves PID DIR: a snapshot of it has events
saves() {
  local count
  may_lose "$kymo" snapshot -q $1 -o $2 && count=$(count_events $2) && [ "$count" -gt 0 ] || { echo "snapshot of $1: ${count:-no} events"; "$kymo" stat $1 --once -i 1ms; ls -lR $2; return 1; }
}
events_of() { "$kymo" stat $1 --once -i 1ms --json | jq .events; }
# descriptors that the sleeping thread of $1 has
own_descriptors() {
  local task
  for task in /proc/$1/task/*; do [ "$(cat $task/comm)" = kymo ] && ls $task/fd | wc -l; done
}

# ---- callers ----

storm() {
  local seed
  fresh
  start_process "$bin/many" -w 1000 || return 1
  for seed in 1 2 3; do
    python3 "$control/storm.py" "$(socket_of $pid)" $seed || return 1
  done
  "$kymo" enable $pid many:p001 >/dev/null && "$kymo" list $pid | grep -q '^on .*many:p001' || return 1
  is_quiet() { [ "$(own_descriptors $pid)" -le 2 ]; } # it has disconnected on all of them
  until_true is_quiet && kill -0 $pid && [ ! -s said ] || { own_descriptors $pid; cat said; return 1; }
  end_process
}
check 'pitfall 17: noise, half requests, 300 callers at once: the socket goes on serving' storm
silent_callers() { # as many as may be connected: the next one is served at once
  fresh
  start_process "$bin/points" wait || return 1
  python3 - "$(socket_of $pid)" "$kymo" $pid <<'PYTHON' || return 1
import socket, subprocess, sys, time
callers = []
for _ in range(400):
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    caller.connect(sys.argv[1])
    callers.append(caller)
began = time.monotonic()
subprocess.run([sys.argv[2], 'list', sys.argv[3]], check=True, stdout=subprocess.DEVNULL)
sys.exit(time.monotonic() - began > 4)
PYTHON
  end_process
}
check '400 silent callers do not keep others from being served' silent_callers
foreign_user() {
  fresh
  chmod 755 "$TMPDIR"
  start_process "$bin/points" wait || return 1
  chmod 711 "$XDG_RUNTIME_DIR/kymo" && chmod 666 "$(socket_of $pid)" # as if the directory were no protection
  python3 - "$(socket_of $pid)" <<'PYTHON' || return 1
import os, socket, sys
os.setgid(65534); os.setuid(65534)
caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
caller.connect(sys.argv[1])
try:
    caller.sendall(b'1 info\n')
    sys.exit(caller.recv(100) != b'')
except (BrokenPipeError, ConnectionResetError):
    sys.exit(0)
PYTHON
  chmod 700 "$XDG_RUNTIME_DIR/kymo"
  end_process
}
if [ "$(id -u)" = 0 ]; then
  check 'another user is disconnected, even if he reaches the socket' foreign_user
else
  skip 'another user is disconnected' 'needs root'
fi

# ---- the directory ----

directories() { # one that is not the user's alone is not used, nor a symbolic link
  local dir
  fresh
  mkdir run run/kymo elsewhere && chmod 755 run/kymo || return 1
  run_process XDG_RUNTIME_DIR="$case_dir/run" "$bin/points" wait && until_true grep -q ready printed || return 1
  until_true listens $pid && [ -z "$(ls run/kymo)" ] || return 1
  end_process
  rm -rf run/kymo && ln -s ../elsewhere run/kymo || return 1
  start_process XDG_RUNTIME_DIR="$case_dir/run" "$bin/points" wait && [ -z "$(ls elsewhere)" ] || return 1
  end_process
  "$kymo" list >/dev/null 2>&1
  [ ! -e "/dev/shm/kymo-$(id -u)/control-$pid" ]
}
check 'a directory that others may enter, or a symbolic link, is not used' directories
stale_sockets() {
  fresh
  mkdir -m 700 run run/kymo || return 1
  python3 -c 'import socket,sys
for n in sys.argv[1:]: socket.socket(socket.AF_UNIX).bind(n)' run/kymo/control-4194300 run/kymo/control-$$
  start_process XDG_RUNTIME_DIR="$case_dir/run" "$bin/points" wait && [ ! -e run/kymo/control-4194300 ] && [ -e run/kymo/control-$$ ] || { ls run/kymo; return 1; }
  end_process
  # the same number again: a program executed by another
  run_process XDG_RUNTIME_DIR="$case_dir/run" "$bin/life" exec "$bin/points" wait && until_true grep -q ready printed || return 1
  is_points() { "$kymo" list $pid | grep -q net:rx; }
  until_true is_points && [ "$(ls run/kymo | grep -c control-$pid)" = 1 ] || return 1
  end_process
}
check 'sockets of dead processes are removed; a process keeps its socket over exec' stale_sockets
long_directory() { # sun_path has 108 bytes
  local deep
  fresh
  deep=$case_dir/$(printf 'd%.0s' {1..90})
  mkdir -m 700 $deep || return 1
  start_process XDG_RUNTIME_DIR=$deep "$bin/points" wait && [ ! -e "$deep/kymo/control-$pid" ]
  end_process
}
check 'a directory whose name is too long for a socket: the next one is taken' long_directory

# ---- lives ----

# check_forks NAME FUNCTION: of programs that fork. AddressSanitizer's allocator, unlike that of libc, keeps in the child the locks
# that the sleeping thread held when its program forked.
check_forks() {
  if [ -z "$sanitizer" ]; then check "$@"; else skip "$1" "a forked child may wait for the sanitizer's allocator"; fi
}
forks() {
  local child
  fresh
  run_process "$bin/life" fork 3
  four() { [ "$(grep -c . printed)" = 4 ]; }
  until_true four || return 1
  started+=($(cat printed))
  for child in $(cat printed); do until_true listens $child && records_on_demand $child || return 1; done
  [ "$(ls -d "$XDG_RUNTIME_DIR"/kymo/life-* | wc -l)" -ge 4 ] || return 1
  kill -9 $(cat printed)
  wait $pid 2>/dev/null
  are_clean() { "$kymo" clean --yes && ! ls -d "$XDG_RUNTIME_DIR"/kymo/life-*; } # the children still die
  until_true are_clean
}
check_forks 'each child of a fork server can be switched for itself' forks
recorded_forks() {
  fresh
  start_process "$bin/life" server || return 1
  has_steps() { has_record $pid 1 && "$kymo" cat -q out | grep -q life:step; }
  until_true has_steps || return 1
  [ "$(ls -d "$XDG_RUNTIME_DIR"/kymo/life-* | grep -vx "$(rings_of $pid)" | wc -l)" = 0 ] || { ls "$XDG_RUNTIME_DIR/kymo"; return 1; }
  "$kymo" enable $pid life:child >/dev/null || return 1
  children() { [ "$(ls -d "$XDG_RUNTIME_DIR"/kymo/life-* | wc -l)" -gt 2 ]; } # what was enabled for good, they inherit
  until_true children
  end_process
}
check_forks 'children of a recorded process record nothing for the recorder, but what was enabled for good' recorded_forks
becomes_daemon() {
  local daemon
  fresh
  run_process "$bin/life" daemon "$case_dir/number"
  wait $pid || return 1
  until_true test -s number && daemon=$(cat number) && started+=($daemon) || return 1
  until_true listens $daemon && records_on_demand $daemon || return 1
  [ "$(ls /proc/$daemon/fd | wc -l)" = 8 ] && ! ls -l /proc/$daemon/fd | grep -v '^total' | grep -v /dev/null || return 1
  until_true has_record $daemon 1 || return 1
  kill -9 $daemon
}
check_forks 'pitfall 17: a daemon that closes all descriptors, whose numbers go to others' becomes_daemon
limited() {
  fresh
  run_process "$bin/life" limit 4 && until_true grep -q . printed || return 1 # the last one listens
  local before=$(cat /proc/$pid/task/*/stat | awk '/\(kymo\)/ { print $14 + $15 }')
  "$kymo" list $pid >/dev/null 2>&1 # an answer is not promised
  sleep 0.5
  local after=$(cat /proc/$pid/task/*/stat | awk '/\(kymo\)/ { print $14 + $15 }')
  [ $((after - before)) -lt 20 ] && kill -0 $pid || { echo "it spins: $before $after"; return 1; }
  end_process
}
check 'a program without space for descriptors: nothing spins' limited
threads() {
  fresh
  start_process KYMO_BUFFER=16k "$bin/life" threads 1000 || return 1
  records_on_demand $pid || return 1
  all_there() { [ "$("$kymo" stat $pid --once -i 1ms --json | jq '.threads | length')" = 1001 ]; }
  until_true all_there || return 1
  may_lose "$kymo" snapshot -q $pid -o out && "$bin/check_trace" -q out && [ "$(ls out | grep -c stream_)" -ge 1001 ] || return 1
  end_process
}
check '1000 threads are switched, counted and saved' threads
changes_user() {
  fresh
  start_process "$bin/life" user 65534 || return 1
  until_true grep -q . printed || return 1
  records_on_demand $pid && until_true has_record $pid 1
  end_process
}
changes_root() {
  fresh
  mkdir -p root/dev/shm root/tmp || return 1
  run_process KYMO_ENABLE=life "$bin/life" chroot root && until_true grep -q . printed && until_true listens $pid || return 1
  records_on_demand $pid && saves $pid out || return 1
  end_process
}
changes_root_and_forks() {
  fresh
  mkdir -p root/dev/shm root/tmp || return 1
  run_process "$bin/life" chroot root fork && until_true grep -q . printed || return 1
  local child=$(tail -1 printed)
  started+=($child)
  until_true listens $child && records_on_demand $child && saves $child out || { ls -lR root; return 1; }
  ls root/dev/shm/kymo-0 | grep -q "control-$child" || { ls -lR root; grep kymo/ /proc/net/unix; return 1; }
  kill -9 $child
  end_process
}
set_user_id() {
  fresh
  chmod 755 "$TMPDIR" "$case_dir"
  cp "$bin/points" setuid && chown 65534 setuid && chmod 4755 setuid || return 1
  run_process KYMO_ENABLE='*' KYMO_OUT="$case_dir/out" "$case_dir/setuid" wait && until_true grep -q ready printed || return 1
  refuses 3 "kymo list: process $pid (setuid) has no tracepoints, or its control is off" "$kymo" list $pid || return 1
  expect 'Threads:	1' grep Threads /proc/$pid/status && [ ! -e out ] || return 1
  end_process
}
# privileged COMMAND…: a program with more rights than its caller obeys neither its variables nor its arguments
privileged() {
  local before after
  before=$(ls -a /dev/shm/kymo-65534 2>&1)
  expect left env KYMO_ENABLE='*' KYMO_OUT="$case_dir/open/out" KYMO_RINGS="$case_dir/open/rings" KYMO_MODE=discard "$@" \
    '--trace=*' --trace-dir="$case_dir/open/trace" --trace-mode=discard --trace-bufsz=1M left || return 1
  after=$(ls -a /dev/shm/kymo-65534 2>&1)
  [ -z "$(ls open)" ] && [ "$before" = "$after" ] || { ls -R open; echo "$after"; return 1; }
}
set_user_id_arguments() {
  fresh
  chmod 755 "$TMPDIR" "$case_dir"
  mkdir -m 777 open && cp "$bin/points" plain && cp "$bin/points" setuid && chown 65534 setuid && chmod 4755 setuid || return 1
  # without the bit, both count
  expect left "$case_dir/plain" '--trace=*' --trace-dir="$case_dir/open/trace" left && [ -d open/trace ] && rm -r open/trace || return 1
  privileged "$case_dir/setuid"
}
file_capabilities() {
  fresh
  chmod 755 "$TMPDIR" "$case_dir"
  mkdir -m 777 open && cp "$bin/points" capable && setcap cap_net_raw+ep capable || return 1
  privileged setpriv --reuid 65534 --regid 65534 --clear-groups "$case_dir/capable"
}
can_have_capabilities() { # as files here, and as processes
  cp /bin/true "$TMPDIR/capable" && setcap cap_net_raw+ep "$TMPDIR/capable" && chmod 755 "$TMPDIR" &&
    setpriv --reuid 65534 --regid 65534 --clear-groups "$TMPDIR/capable"
} >/dev/null 2>&1
nosuid() { findmnt -no OPTIONS -T "$TMPDIR" | grep -qw nosuid; }
if [ "$(id -u)" != 0 ]; then
  skip 'change of user and of root, set-user-ID programs' 'need root'
else
  check 'a process that gives up root is still controlled by root' changes_user
  check 'chroot: the process is still controlled' changes_root
  check_forks 'chroot: and its child' changes_root_and_forks
  if nosuid || [ -n "$sanitizer" ] || ! others_reach_library; then
    skip 'set-user-ID programs and those with file capabilities' 'need a file system without nosuid, a build folder that others may read, and no sanitizer'
  else
    check 'a set-user-ID program is not controlled' set_user_id
    check 'a set-user-ID program ignores variables and arguments of the recorder' set_user_id_arguments
    if can_have_capabilities; then
      check 'a program with file capabilities ignores variables and arguments of the recorder' file_capabilities
    else
      skip 'a program with file capabilities ignores variables and arguments' 'no file can have them here'
    fi
  fi
fi

# ---- file systems ----

in_namespace() { # in_namespace COMMAND: with mounts of its own
  export -f $(compgen -A function)
  export kymo bin control idle TMPDIR case_dir KYMO_SOURCE sanitizer
  unshare -m bash -c "set -u; started=(); $*"
}
read_only() {
  fresh
  mkdir run
  in_namespace read_only_inside
}
read_only_inside() {
  mount -t tmpfs -o ro none /dev/shm && mount --bind /tmp /tmp && mount --bind "$TMPDIR" "$TMPDIR" &&
    mount -o remount,ro,bind /tmp && cd "$case_dir" || return 1
  run_process XDG_RUNTIME_DIR=/proc "$bin/points" wait
  until_true grep -q ready printed && [ ! -s said ] || { cat said; return 1; }
  "$kymo" list $pid 2>/dev/null && return 1
  kill -9 $pid
}
full() {
  fresh
  in_namespace full_inside
}
full_inside() {
  mkdir small && mount -t tmpfs -o size=16k none small && mkdir -m 700 small/kymo || return 1
  start_process XDG_RUNTIME_DIR="$case_dir/small" "$bin/points" wait || return 1
  head -c 100k /dev/zero >small/fill 2>/dev/null
  XDG_RUNTIME_DIR=$case_dir/small refuses 3 'kymo enable: No space left on device' "$kymo" enable $pid '*' || return 1
  rm small/fill
  mount -o remount,size=8m small
  XDG_RUNTIME_DIR=$case_dir/small "$kymo" enable $pid '*' | grep -qx '7 tracepoints enabled' || return 1
  [ "$(grep -c . said)" -le 1 ] || { cat said; return 1; }
  kill -9 $pid
}
if unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
  check 'read-only file systems: no socket, no word, the program runs' read_only
  check 'a full file system: enabling reports it, and works when there is space again' full
else
  skip 'read-only and full file systems' 'need root to mount them'
fi

exit 0
