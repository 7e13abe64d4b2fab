#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Containers, made by unshare: programs in other PID and mount namespaces are found from outside, and where there is no place
# for rings another one is found, or the command runs untraced.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'containers' 'the command kymo is not built'
  exit 77
fi
# "${within[@]}" COMMAND…: with processes, mounts and /dev/shm of its own; it ends with $!
within=(unshare --pid --mount --net --fork --kill-child --mount-proc)
if ! "${within[@]}" mount -t tmpfs none /mnt 2>/dev/null; then
  skip 'containers' 'no namespaces here'
  exit 77
fi
must_build points
must_build worker

# outside of the host's PID: the child of unshare
host_pid() { pgrep -P "$1" 2>/dev/null | head -1; }
# contain COMMAND…: in a container with a /dev/shm and /tmp of its own; $inside is its number here
contain() {
  "${within[@]}" bash -c 'mount -t tmpfs -o mode=1777 none /dev/shm && mount -t tmpfs -o mode=1777 none /mnt && "$@"; exit' - \
    env -u XDG_RUNTIME_DIR -u KYMO_RINGS "$@" <"$idle" >printed 2>said &
  pid=$!
  started+=("$pid")
  until_true grep -q ready printed || { cat said; return 1; }
  inside=$(host_pid "$(host_pid $pid)")
  inner=$(awk '/^NSpid:/ { print $NF }' /proc/$inside/status)
}

# ---- from outside ----

found_from_outside() {
  fresh
  contain "$bin/points" wait || return 1
  until_true listens $inside || { "$kymo" list $inside; return 1; }
  "$kymo" list >list && grep -qE "^ +$inside +7 +0  points +overwrite, $inner in its PID namespace$" list || { cat list; return 1; }
  ! "$kymo" list --brief | grep -qx "$inner" || { echo "$inner is somebody else here"; return 1; }
  expect '3 tracepoints enabled' "$kymo" enable $inside net && expect 3 on_in $inside || return 1
  expect '3 tracepoints disabled' "$kymo" disable $inside net && expect 0 on_in $inside || return 1
  end_process
}
check 'a program in a container is found, listed with both numbers, and switched' found_from_outside
saved_from_outside() {
  fresh
  contain bash -c 'echo ready; exec "$@"' - "$bin/worker" -t 1 -n 0 -w 500 || return 1
  until_true listens $inside && "$kymo" enable $inside work >said2 || { cat said2; return 1; }
  has_saved() { rm -rf out; "$kymo" snapshot -q -o out $inside && [ "$(count_events out)" -gt 10 ]; }
  until_true has_saved || { "$kymo" snapshot -o again $inside; return 1; }
  "$kymo" stat --once --interval 10ms $inside | grep -q ' all ' || return 1
  "$kymo" disable $inside work >/dev/null
  until_true has_record $inside 10 || return 1
  end_process
}
check 'its rings are looked at, saved and recorded from outside' saved_from_outside
# dies_while_recorded LAST COMMAND…: in a container, while it is recorded from outside. It is killed after event 11999 of its thread 0;
# the container ends with LAST, which is run after it
dies_while_recorded() {
  local recorder last=$1
  fresh
  "${within[@]}" bash -c 'mount -t tmpfs -o mode=1777 none /dev/shm && mount -t tmpfs -o mode=1777 none /mnt && echo ready && cd "$1" && shift
    last=$1; shift; env -u XDG_RUNTIME_DIR -u KYMO_RINGS "$@"; eval "$last"; exit' - "$PWD" "$last" "${@:2}" <"$idle" >printed 2>said &
  pid=$!
  started+=("$pid")
  worker() { inside=$(host_pid "$(host_pid $pid)") && listens $inside; }
  until_true grep -q ready printed && until_true worker || { cat printed said; return 1; }
  "$kymo" record -p $inside -o out 2>recorded
  expect 0 echo $? && grep -q ' 0 lost$' recorded || { cat recorded; return 1; }
  "$kymo" cat -q out | grep -q 'thread = 0, seq = 11999\b' && "$kymo" cat out >text || { tail -2 text; return 1; }
}
ends_with_container() { # its rings go with it
  dies_while_recorded : "$bin/worker" -t 2 -n 30000 -w 100 -k 12000 -e kill
}
check 'a process that is killed with its container while it is recorded from outside: nothing is lost' ends_with_container
ends_in_container() { # which lives on, and in which no rings stay
  dies_while_recorded 'until [ -e ended ]; do sleep 0.1; done; find /dev/shm -name "worker-*" >left; echo looked >>left' "$bin/worker" -t 2 -n 30000 -w 100 -k 12000 -e kill || return 1
  touch ended && until_true grep -q looked left && expect looked cat left
}
check '... and in a container that lives on no rings stay' ends_in_container
one_recorder_outside() {
  fresh
  contain bash -c 'echo ready; exec "$@"' - "$bin/worker" -t 1 -n 0 -w 500 || return 1
  until_true listens $inside || return 1
  "$kymo" record -q -p $inside -o first >/dev/null 2>&1 &
  local recorder=$!
  started+=($recorder)
  is_recorded() { "$kymo" list | grep -E "^ +$inside .*, recorded, $inner in its PID namespace"; }
  until_true is_recorded || { "$kymo" list; return 1; }
  refuses 3 "kymo record: process $inner is being recorded from another PID namespace" "$kymo" record -p $inside -o second || return 1
  kill -INT $recorder && wait $recorder
  [ "$(count_events first)" -gt 0 ] || return 1
  end_process
}
check 'one recorder at a time, also if it has no number in the container' one_recorder_outside
stale_socket() { # a number that is another process here
  fresh
  mkdir -m 700 run run/kymo
  python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "run/kymo/control-$$" || return 1
  XDG_RUNTIME_DIR=$case_dir/run "$kymo" list --brief 2>/dev/null | grep -qx $$ && { echo 'it looks alive'; return 1; }
  [ -S run/kymo/control-$$ ] || { echo 'what may have been made just now is gone'; return 1; }
  refuses 3 "kymo list: process $$ (bash) has no tracepoints, or its control is off" env XDG_RUNTIME_DIR=$case_dir/run "$kymo" list $$
}
check 'a socket that a dead process of a namespace has left belongs to no process' stale_socket

# ---- without a place ----

# places OPTIONS OPTIONS COMMAND…: /dev/shm and /tmp are mounted so, in a mount namespace of its own; the case is /mnt
places() {
  unshare --mount bash -c '
    cd "$1" || exit 99
    mount -t tmpfs -o "$2" none /dev/shm && mount --bind "$1" /mnt && mount -t tmpfs -o "$3" none /tmp || exit 99
    cd /mnt && shift 3 && exec env -u XDG_RUNTIME_DIR -u KYMO_RINGS "$@"' - "$case_dir" "$@"
}
prepare() { # what is needed after /tmp has gone
  fresh
  mkdir libraries && cp "$bin/points" . && cp "$kymo" ./kymo-command && cp -P "$KYMO_BUILD"/libkymo-trace.so{,.[0-9],.*.*.*[0-9]} libraries || return 1
}
read_only() {
  prepare || return 1
  places ro mode=1777 LD_LIBRARY_PATH=/mnt/libraries ./kymo-command record -o /mnt/out -- ./points left >printed 2>said || { cat said; return 1; }
  expect 7 count_events out && expect left cat printed
}
check '/dev/shm is read-only: rings are in /tmp' read_only
nowhere() {
  prepare || return 1
  places ro ro LD_LIBRARY_PATH=/mnt/libraries ./kymo-command record -o /mnt/out -- sh -c 'echo runs; exit 7' >printed 2>said
  [ $? = 7 ] && expect runs cat printed && [ ! -e out ] || { cat said; return 1; }
  expect 'kymo record: no directory for rings in /dev/shm/kymo-0: Read-only file system; the command runs untraced; KYMO_RINGS names another directory' cat said
}
check 'no place at all: the command runs untraced, and one line says where, and the remedy' nowhere

taken() {
  prepare || return 1
  cat >taken.sh <<'EOF'
mkdir /dev/shm/kymo-0 && chown 65534 /dev/shm/kymo-0 || exit 1
export LD_LIBRARY_PATH=/mnt/libraries KYMO_SAVE=never
KYMO_ENABLE='*' ./points 2>first || exit 2
KYMO_ENABLE='*' ./points 2>>first || exit 3
ls -d /dev/shm/kymo-0-*/points-* >rings
./kymo-command record -q -o out -- ./points 2>>first || exit 4
./kymo-command clean --yes >cleaned || exit 5
stat -c '%a %u' /dev/shm/kymo-0-* >mode
mkfifo idle
./points wait <>idle >ready 2>&1 &
for _ in {1..400}; do ./kymo-command list --brief $! >listed 2>&1 && break; sleep 0.05; done
ls -d /dev/shm/kymo-0-*/control-$! >socket && ./kymo-command enable $! net >enabled || exit 6
kill -9 $!
EOF
  places mode=1777 mode=1777 bash taken.sh || { echo "step $?"; cat first; return 1; }
  [ "$(wc -l <rings)" = 2 ] && [ "$(sed 's|/points.*||' rings | sort -u | wc -l)" = 1 ] && expect '700 0' cat mode || { cat rings; return 1; }
  grep -qxE 'kymo: /dev/shm/kymo-0 belongs to user 65534; the rings are in /dev/shm/kymo-0-[A-Za-z0-9]{6}' first && [ "$(wc -l <first)" = 2 ] || { cat first; return 1; }
  expect 7 count_events out && grep -q 'removed the rings of 2 dead processes' cleaned && expect '3 tracepoints enabled' cat enabled
}
check 'another user owns /dev/shm/kymo-UID: another place is found, and the owner named' taken

not_places() { # for root, who looks at the places of all users
  prepare || return 1
  places mode=1777 mode=1777 bash -c '
    export LD_LIBRARY_PATH=/mnt/libraries KYMO_SAVE=never KYMO_ENABLE="*"
    mkdir /tmp/kymo-notes /tmp/kymo-65534 &&
    KYMO_RINGS=/tmp/kymo-notes ./points left && KYMO_RINGS=/tmp/kymo-65534 ./points left && ./kymo-command list --dead' >listed 2>said &&
    expect 1 grep -c ' /tmp/kymo-65534/points-' listed && expect 0 grep -c ' /tmp/kymo-notes/' listed || { cat listed said; return 1; }
}
check 'a folder /tmp/kymo-WORD is no place of rings, /tmp/kymo-UID is' not_places

# ---- a number that is used again ----

used_again() {
  fresh
  "${within[@]}" bash -c '
    mount -t tmpfs -o mode=1777 none /dev/shm && cd "$1" || exit 2
    kymo=$2 bin=$3
    unset XDG_RUNTIME_DIR KYMO_RINGS
    KYMO_ENABLE="*" "$bin/worker" -n 100 -e kill
    left=$(ls -d /dev/shm/kymo-*/*worker-*) number=${left##*-}
    "$kymo" stat --once --interval 10ms "$number" >dead || exit 3
    echo $((number - 1)) >/proc/sys/kernel/ns_last_pid || exit 77
    sleep 600 &
    [ $! = "$number" ] || exit 77
    "$kymo" stat --once --interval 10ms "$number" >text 2>refused
    [ $? = 3 ] && [ ! -s text ] && "$kymo" snapshot -q -o by-path "$left" && "$kymo" cat -q by-path >text; exit
    ' - "$PWD" "$kymo" "$bin" >said 2>&1 9>&-
  local status=$?
  [ $status = 77 ] && { skip 'a number that is used again' 'the next number cannot be chosen'; return; }
  expect 0 echo $status && grep -q 'an earlier process with this number left /dev/shm/kymo-' refused && [ -s text ] ||
    { cat said refused; return 1; }
}
check 'rings of a dead process are not taken for those of a live one with its number' used_again
exit 0
