#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo hang: the page about a process that hangs names the culprit, and the process goes on as before. The programs know
# nothing of kymo, except where rings are asked for.
set -u
plain() { gcc -O1 -Wall -Wextra -Werror -D_GNU_SOURCE "$@" "$KYMO_SOURCE/tests/hang/victim.c" -pthread; }
# A core file as the kernel writes it, before the suites' own limit of its size, which cannot be raised again.
dump=$TMPDIR/dump
mkdir "$dump"
if [ "$(cat /proc/sys/kernel/core_pattern)" = core ] && plain -g -o "$dump/victim" 2>/dev/null; then
  (cd "$dump" && ulimit -c unlimited 2>/dev/null && exec ./victim deadlock >printed 2>said </dev/null) &
  dumped=$!
  for ((i = 0; i < 1000; i++)); do
    [ "$(cat /proc/$dumped/task/*/wchan 2>/dev/null | grep -o futex | wc -l)" = 3 ] && break
    sleep 0.01
  done
  kill -ABRT $dumped
  wait $dumped 2>/dev/null
fi
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'kymo hang' 'the command kymo is not built'
  exit 77
fi
check 'the programs build' plain -g -o "$bin/victim"
[ -x "$bin/victim" ] || exit 1
if [ "$(id -u)" != 0 ] && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" != 0 ]; then
  skip 'kymo hang' 'kernel.yama.ptrace_scope is not 0'
  exit 77
fi

named='( <[_a-zA-Z0-9]+\+0x0>)?' # of a lock, in a program with names
# start_victim PROGRAM HOW: $pid, which hangs in this way
start_victim() {
  run_process "$@"
  until_true grep -q '^ready' printed || { cat printed said; return 1; }
}
# all threads of $pid wait, except the given number
all_wait() { [ "$(grep -h ^State: /proc/$pid/task/*/status | grep -vc '[SD] (')" -le "${1:-0}" ]; }
# page STATUS OPTIONS…: the page about $pid in ./page
page() {
  local wanted=$1
  shift
  timeout 120 "$kymo" hang "$@" $pid >page 2>errors
  local status=$?
  [ $status = "$wanted" ] && [ ! -s errors ] || { echo "exit status $status"; cat errors page; return 1; }
}
# has REGEX…: each is a line of the page
has() {
  local line
  for line; do
    grep -qE -- "$line" page || { echo "missing: $line"; cat page; return 1; }
  done
}
# shows REGEX…: for until_true: the page has the first line, when the threads have come to where they hang
shows() { page 0 && grep -qE -- "$1" page; }
# tid_of NAME: of the thread of $pid that has this name
tid_of() {
  local comm
  for comm in /proc/$pid/task/*/comm; do
    [ "$(cat $comm)" = "$1" ] && basename "$(dirname $comm)"
  done
}
# hangs PROGRAM HOW REGEX…: has these lines
hangs() {
  local program=$1 how=$2
  shift 2
  fresh
  start_victim "$program" "$how" && { until_true shows "$1" || { cat page; return 1; }; } && has "$@" && end_process
}
can_unwind=yes
if ! fresh || ! start_victim "$bin/victim" self || ! until_true all_wait; then
  not_ok 'a program starts' 'it does not'
  exit 1
fi
"$kymo" hang $pid 2>&1 | grep -q 'built without libdw' && can_unwind=
end_process
if [ -z "$can_unwind" ]; then
  skip 'kymo hang' 'built without libdw'
  exit 77
fi

# ---- locks ----

deadlock() { # PROGRAM
  local program=$1 a b name
  shift
  fresh
  start_victim "$program" deadlock && until_true shows '^Deadlock: ' || { cat page; return 1; }
  a=$(tid_of forward) b=$(tid_of backward) name=$(sed 's/[()]/\\&/g' /proc/$pid/comm)
  has "^Deadlock: thread $a 'forward' waits for the mutex at 0x[0-9a-f]+$named held by thread $b 'backward', which waits for the mutex at 0x[0-9a-f]+$named held by thread $a 'forward'$" \
    "^thread $pid '$name': sleeping in futex\(0x[0-9a-f]+, FUTEX_WAIT" "^    waits for the end of thread $a 'forward'$" "$@" || return 1
  end_process
}
check 'two threads that wait for each other are a deadlock' deadlock "$bin/victim" '^    #2 +take_both\+0x[0-9a-f]+ \(victim\) at .*victim\.c:[0-9]+$' \
  '^    #[0-9] +deadlock\+0x'
check 'a thread that waits for itself is a deadlock' hangs "$bin/victim" self \
  "^Deadlock: thread [0-9]+ 'victim' waits for the mutex at 0x[0-9a-f]+$named held by itself$"
check 'a holder that waits for something else is named, with that' hangs "$bin/victim" chain \
  "^Threads [0-9]+ 'waiter1', [0-9]+ 'waiter2' wait for the mutex at 0x[0-9a-f]+$named held by thread [0-9]+ 'holder', which waits in read\([0-9]+ <pipe:\[[0-9]+\]>, .*, whose other end is open in this process itself( \(not all processes could be looked at\))?$"
check 'a holder that has ended is named' hangs "$bin/victim" gone \
  "^Thread [0-9]+ 'victim' waits for the mutex at 0x[0-9a-f]+$named, held by thread [0-9]+, which the process does not have: it has ended, or belongs to another process$"
check 'readers that a lock does not record are counted' hangs "$bin/victim" readers \
  "^Thread [0-9]+ 'victim' waits for the read-write lock at 0x[0-9a-f]+$named, held by 1 reader, whom it does not record$"
check 'the lock of a stream has a holder' hangs "$bin/victim" stream \
  "^Thread [0-9]+ 'victim' waits for the lock of a stream at 0x[0-9a-f]+$named held by thread [0-9]+ 'locker', which waits in pause\(\)$"

names_locks() {
  hangs "$bin/victim" deadlock "^Deadlock: thread [0-9]+ 'forward' waits for the mutex at 0x[0-9a-f]+ <second\+0x0> held by thread [0-9]+ 'backward', which waits for the mutex at 0x[0-9a-f]+ <first\+0x0> held" &&
    hangs "$bin/victim" readers '^    waits for the read-write lock at 0x[0-9a-f]+ <shared\+0x0>, held by 1 reader'
}
check 'locks that are variables have names' names_locks

# ---- other programs ----

if plain -g -static -o "$bin/static" 2>/dev/null; then
  check 'a static program' deadlock "$bin/static" '^    #[0-9] +take_both\+0x[0-9a-f]+ \(static\)'
  strip -o "$bin/static-stripped" "$bin/static"
  check 'a static program without names' deadlock "$bin/static-stripped" '^    #[0-9] +static-stripped\+0x[0-9a-f]+$'
else
  skip 'a static program' 'no static C library'
fi
plain -o "$bin/bare"
check 'a program without debug information' deadlock "$bin/bare" '^    #2 +take_both\+0x[0-9a-f]+ \(bare\)$'
strip -o "$bin/stripped" "$bin/bare"
check 'a program without names' deadlock "$bin/stripped" '^    #2 +stripped\+0x[0-9a-f]+$'

if i686-linux-gnu-gcc -x c -o "$bin/runs" - <<<'int main(void) { return 0; }' 2>/dev/null && "$bin/runs"; then
  narrow() { # calls and locks are not decoded, and the page says that
    fresh
    i686-linux-gnu-gcc -g -O1 -D_GNU_SOURCE -o "$bin/narrow" "$KYMO_SOURCE/tests/hang/victim.c" -pthread || return 1
    start_victim "$bin/narrow" deadlock || return 1
    there() { page 1 && grep -c '^    #[0-9] *take_both+0x' page | grep -qx 2; }
    until_true there && has "^    locks, and the names of system calls: it is a 32-bit program$" || { cat page; return 1; }
    ! grep -q '^Deadlock' page && end_process
  }
  check 'a program of 32 bits: stacks, and that locks are not seen' narrow
else
  skip 'a program of 32 bits: stacks, and that locks are not seen' 'no compiler for such programs (i686-linux-gnu-gcc), or they do not run'
fi
odd_name() { # as /proc shows it, it ends the name too early
  fresh
  cp "$bin/victim" "$bin/a) R 1 (b"
  deadlock "$bin/a) R 1 (b" "^process [0-9]+ \(a\) R 1 \(b\): sleeping, 3 threads, user $(id -u), .* started by [0-9]+ \(.*\)$"
}
check 'a name with parentheses and spaces' odd_name
inner() {
  fresh
  unshare --pid --fork --mount-proc "$bin/victim" deadlock <"$idle" >printed 2>said &
  local outer=$!
  started+=($outer)
  until_true grep -q '^ready' printed || { cat said; return 1; }
  pid=$(pgrep -P $outer)
  started+=($pid)
  until_true shows '^Deadlock: ' || { cat page; return 1; }
  has '^in another PID namespace, where its number is 1$' "^Deadlock: thread $(tid_of forward) 'forward' waits for .* held by thread $(tid_of backward) 'backward', which waits" \
    "^thread $(tid_of forward) 'forward' \(itself: [23]\): sleeping" || return 1
  kill -9 $pid && wait $outer 2>/dev/null
  return 0
}
if unshare --pid --fork --mount-proc true 2>/dev/null; then
  check 'a process in another PID namespace' inner
else
  skip 'a process in another PID namespace' 'this account may not make one'
fi

# ---- other waits ----

spins() {
  fresh
  start_victim "$bin/victim" spin && until_true shows "'spinner' runs and never waits in on_signal" || { cat page; return 1; }
  has "^Thread $(tid_of spinner) 'spinner' runs and never waits in on_signal, a signal handler that interrupted .* \([0-9]+ % of a CPU\)$" \
    "^thread [0-9]+ 'spinner': running" '^    #0 +on_signal\+0x' '^    #1 +<signal handler called>$' '^    #[0-9] +interrupted_work\+0x' || return 1
  end_process
}
check 'a thread that spins in a signal handler is named, with the handler and what it interrupted' spins
pipes() {
  fresh
  start_victim "$bin/victim" pipe && until_true shows "waits in read" || { cat page; return 1; }
  has "^Thread $pid 'victim' waits in read\([0-9]+ <pipe:\[[0-9]+\]>, 0x[0-9a-f]+, 1\), whose other end is open in process $(sed -n 's/child //p' printed) \(victim\)( \(not all processes could be looked at\))?$" \
    '^    #[0-9] +read_answer\+0x' || return 1
  end_process
}
check 'a thread that reads a pipe is named, with the process at the other end' pipes
in_disk_sleep() { grep -q '^State:.D' /proc/$pid/status; }
disk() {
  local child
  page 0 && child=$(cat /proc/$pid/task/$pid/children) &&
    has "^Thread $pid 'victim' is in disk sleep in (vfork|clone)\(.*\), whose child is process ${child% } \(victim\)" '^    #[0-9] +never_end\+0x' && end_process
}
fresh
start_victim "$bin/victim" vfork
for ((i = 0; i < 200; i++)); do in_disk_sleep && break; sleep 0.01; done
if in_disk_sleep; then
  check 'a thread in disk sleep is named, with its stack' disk
else
  skip 'a thread in disk sleep is named, with its stack' 'the parent of a vfork is not in disk sleep with this kernel'
  end_process
fi
together() { # only threads that have settled have the same stack
  hangs "$bin/victim" idle "^thread [0-9]+ 'worker'(, [0-9]+ 'worker'){16} and 23 others: sleeping in futex" &&
    [ "$(grep -c '^    #0' page)" = 2 ] || { cat page; return 1; }
}
check 'threads that all do the same are shown once' together

# ---- the process goes on ----

count_of() { grep -E '^[0-9]+$' printed | tail -1; }
goes_on() { [ "$(count_of)" -gt $((before + 3)) ]; }
unharmed() {
  local i before
  fresh
  start_victim "$bin/victim" count || return 1
  page 0 || return 1
  has "^thread [0-9]+ 'epoll': sleeping in epoll_(p?wait)\([0-9]+ <anon_inode:\[eventpoll\]>, 0x" "^thread [0-9]+ 'poll': sleeping in p?poll\(\[[0-9]+ <pipe:" \
    "^thread [0-9]+ 'sleep': sleeping in (clock_)?nanosleep\(.*100000\.000000000 s" "^thread [0-9]+ 'receive': sleeping in recvfrom\([0-9]+ <Unix socket:" \
    "^    #[0-9] +in_epoll\+0x" "^    #[0-9] +in_sem\+0x" || return 1
  for i in 1 2 3 4; do page 0 || return 1; done # some calls go on as restart_syscall now
  has "^thread [0-9]+ 'poll': sleeping in poll\(\[[0-9]+ <pipe:" || return 1
  before=$(count_of)
  until_true goes_on || return 1
  ! grep -vE '^([0-9]+|ready)$' printed && [ "$(grep -c '^TracerPid:.0$' /proc/$pid/task/*/status | grep -c ':1$')" = 9 ] && end_process
}
check 'the process goes on, and no system call fails' unharmed
interrupts() { # what the default avoids
  fresh
  start_victim "$bin/victim" count && page 0 --interrupt && until_true grep -q '^epoll_wait: Interrupted' printed && end_process
}
check '--interrupt stops threads whose calls then fail' interrupts
stopped() {
  fresh
  start_victim "$bin/victim" count || return 1
  until_true grep -q '^1$' printed && kill -STOP $pid && until_true all_stopped && page 0 || return 1
  has "^The process is stopped by a signal \(SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU\); kill -CONT $pid lets it go on$" '^    #[0-9] +count\+0x' || return 1
  local before
  before=$(count_of)
  all_stopped && ! goes_on || { echo 'it goes on'; return 1; }
  kill -CONT $pid && until_true goes_on && ! grep -E '^(read|poll|nanosleep|sem_wait):' printed && end_process
}
check 'a stopped process stays stopped, and goes on afterwards' stopped
ended() {
  fresh
  (
    "$bin/victim" nothing &
    echo $! >zombie
    exec sleep 1000
  ) &
  started+=($!)
  local parent=$!
  until_true grep -q . zombie
  pid=$(cat zombie)
  is_zombie() { grep -q '^State:.Z' /proc/$pid/status; }
  until_true is_zombie && page 0 && has "^The process has ended: its parent, process $parent \(sleep\), has not waited for it$"
  kill -9 $parent
}
check 'a zombie is the fault of its parent' ended
leader() {
  fresh
  start_victim "$bin/victim" leader && until_true shows '^Deadlock: ' || { cat page; return 1; }
  has '^The first thread has ended; the process goes on without it$' "^Deadlock: thread $(tid_of follower) 'follower' waits for the mutex .* held by itself$" \
    "^thread $pid 'victim': ended \(zombie\)" '^    #2 +self\+0x' && end_process
}
check 'a process whose first thread has ended' leader
check 'the library that stops workers builds' gcc -shared -fPIC -Wall -Wextra -Werror -D_GNU_SOURCE -o "$bin/stop.so" "$KYMO_SOURCE/tests/hang/stop.c" -ldl
is_gone() { ! grep -q '^State:.[^ZX]' /proc/$1/status 2>/dev/null; } # if its result is not collected, it stays as a zombie
# gives_up NUMBER STATUS REGEX…: of a process with one thread
gives_up() {
  local worker=$1 wanted=$2 status
  shift 2
  fresh
  start_victim "$bin/victim" self && until_true all_wait || return 1
  # not "timeout", which starts a process itself
  ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 STOP_WORKER=$worker LD_PRELOAD=$bin/stop.so "$kymo" hang $pid >page 2>&1
  status=$?
  end_process
  [ -s stopped ] && [ $status = "$wanted" ] || { echo "worker $worker: exit status $status"; cat page; return 1; }
  until_true is_gone "$(cat stopped)" && has "$@"
}
given_up='took too long, and was given up$'
steps_give_up() {
  local jobs=() job failed=0
  gives_up 1 3 "^kymo hang: listing the threads of process [0-9]+ $given_up" >list 2>&1 & jobs+=($!)
  gives_up 2 1 "^    system calls, locks and stacks: opening its memory $given_up" >permission 2>&1 & jobs+=($!)
  gives_up 3 1 "^    the system call of thread [0-9]+ 'victim': reading it $given_up" '^    #[0-9] +self\+0x' >calls 2>&1 & jobs+=($!)
  gives_up 4 1 "^    events: reading the rings $given_up" '^Deadlock: ' '^    #2 +self\+0x' >rings 2>&1 & jobs+=($!)
  gives_up 5 1 "^    processor time: reading it $given_up" '^    #2 +self\+0x' >time 2>&1 & jobs+=($!)
  gives_up 6 1 "^    the stack of thread [0-9]+ 'victim': reading it $given_up" '^thread [0-9]+ .victim.: sleeping in futex\(' >capture 2>&1 & jobs+=($!)
  gives_up 7 1 "^    the stack of thread [0-9]+ 'victim': reading it $given_up" '^thread [0-9]+ .victim.: sleeping in futex\(' >unwind 2>&1 & jobs+=($!)
  for job in "${jobs[@]}"; do wait $job || failed=1; done
  [ $failed = 0 ] || cat list permission calls rings time capture unwind
  return $failed
}
in_fresh() { fresh && "$@"; }
check 'a worker that does not end is ended, and the page says so' in_fresh steps_give_up
killed_meanwhile() { # the command ends in time, whatever the process does
  local status i
  fresh
  for i in 1 2 3; do
    start_victim "$bin/victim" count || return 1
    timeout 120 "$kymo" hang $pid >page 2>errors &
    local command=$!
    sleep 0.$i
    end_process
    wait $command
    status=$?
    [ $status -le 1 ] || [ $status = 3 ] || { echo "exit status $status"; cat errors; return 1; }
  done
}
check 'a process that ends meanwhile' killed_meanwhile
killed_command() { # the worker that traces ends with it
  fresh
  start_victim "$bin/victim" count || return 1
  "$kymo" hang $pid >page 2>errors &
  local command=$! before
  sleep 0.25
  kill -9 $command
  wait $command 2>/dev/null
  before=$(count_of)
  until_true goes_on && no_tracer() { ! grep -h '^TracerPid:' /proc/$pid/task/*/status | grep -vq ':.0$'; } && until_true no_tracer && end_process
}
check 'a command that is killed leaves the process running' killed_command

# ---- refusals ----

names() {
  fresh
  cp "$bin/victim" "$bin/unique-victim"
  start_victim "$bin/unique-victim" chain || return 1
  "$kymo" hang unique-victim >page 2>errors && has "^process $pid \(unique-victim\): " || { cat page errors; return 1; }
  says 3 'kymo hang: no running process is called "unique-victmi" (did you mean "unique-victim"?)' "$kymo" hang unique-victmi || return 1
  local first=$pid both
  start_victim "$bin/unique-victim" self || return 1
  both=$(printf '%9d\n%9d' $(printf '%s\n' $first $pid | sort -n))
  says 2 "kymo hang: 2 processes are called \"unique-victim\"; use the number of one:
$both" "$kymo" hang unique-victim || return 1
  kill -9 $first
  end_process
}
cannot_be() {
  says 3 'kymo hang: there is no process 4194304' "$kymo" hang 4194304 &&
    says_first 2 'kymo hang: which process?' "$kymo" hang &&
    says_first 2 'kymo hang: expected one process, found "2" after it' "$kymo" hang 1 2
}
check 'processes by name; several, and none' names
check 'no process' cannot_be
# another user's command, which must be able to run it
others() {
  fresh
  start_victim "$bin/victim" self || return 1
  says 3 "kymo hang: process $pid (victim) cannot be looked at: it belongs to user root; use the account of that user, or root (CAP_SYS_PTRACE)" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$reachable/kymo" hang $pid || return 1
  grep -q '^TracerPid:.0$' /proc/$pid/status && end_process
}
name='a process of another user is refused with the reason'
if [ "$(id -u)" != 0 ]; then
  check "$name" says 3 "kymo hang: process 1 ($(cat /proc/1/comm)) cannot be looked at: it belongs to user root; use the account of that user, or root (CAP_SYS_PTRACE)" "$kymo" hang 1
else
  reachable=$(mktemp -d "${TMPDIR%/*}/hang-XXXXXX")
  trap 'end_all; rm -rf "$reachable"' EXIT
  chmod 755 "$reachable" && cp "$kymo" "$reachable/kymo"
  if setpriv --reuid 65534 --regid 65534 --clear-groups "$reachable/kymo" --version >/dev/null 2>&1; then
    check "$name" others
  else
    skip "$name" 'other users cannot run the command here'
  fi
fi

# ---- JSON ----

as_json() {
  fresh
  start_victim "$bin/victim" deadlock && until_true shows '^Deadlock: ' || { cat page; return 1; }
  "$kymo" hang --json $pid >json && python3 "$KYMO_SOURCE/tests/hang/same.py" json page && end_process
}
check 'JSON says the same as the text' as_json

# ---- rings ----

programs=$control must_build hang
with_rings() {
  fresh
  start_process KYMO_ENABLE='*' "$bin/hang" deadlock && until_true grep -q ready printed || return 1
  until_true shows '^Deadlock: ' && has "^Deadlock: thread $pid 'hang' waits for the mutex" '^    -[0-9.]+ [mu]?s +hang:deadlock self = 0$' '^    -[0-9.]+ [mu]?s +hang:deadlock self = 1$' \
    '^    -[0-9.]+ [mu]?s +hang:step i = 9$' || return 1
  end_process
}
check 'the last events of each thread' with_rings
with_calls() {
  fresh
  "$kymo" record -q -o out --calls libc:lock -- "$bin/victim" readers >printed 2>said <"$idle" &
  started+=($!)
  local recorder=$!
  until_true grep -q '^ready' printed || { cat said; return 1; }
  pid=$(pgrep -P $recorder victim)
  shows_holder() { page 0 && grep -q "held by thread [0-9]* 'reader' (by its events), which waits in pause()" page; }
  until_true shows_holder && has '^    open spans: libc:wait for [0-9.]+ ' || { cat page; return 1; }
  kill -9 $pid
  wait $recorder
  return 0
}
if [ -z "$sanitizer" ]; then
  check 'readers of a lock by events of libkymo-calls' with_calls
else
  skip 'readers of a lock by events of libkymo-calls' 'a sanitizer does not stand libraries before it'
fi

# ---- core files ----

core() {
  fresh
  start_victim "$bin/victim" deadlock && until_true shows '^Deadlock: ' || return 1
  gcore -o core $pid >made 2>&1 || { cat made; return 1; }
  end_process
  "$kymo" hang -c core.$pid >page 2>errors || { cat errors page; return 1; }
  has "^core file core\.$pid: process $pid \(victim\), 3 threads" \
    "^Deadlock: thread [0-9]+ 'victim' waits for the mutex at 0x[0-9a-f]+$named held by thread [0-9]+ 'victim', which waits for the mutex" '^    #2 +take_both\+0x[0-9a-f]+ \(victim\)' || return 1
  mv "$bin/victim" "$bin/moved"
  "$kymo" hang --core core.$pid "$bin/moved" >page 2>errors && has '^    #2 +take_both\+0x' || { mv "$bin/moved" "$bin/victim"; cat errors; return 1; }
  mv "$bin/moved" "$bin/victim"
  "$kymo" hang --json -c core.$pid | python3 -c 'import json, sys; page = json.load(sys.stdin); assert page["findings"][0]["kind"] == "deadlock" and page["state"] is None, page'
}
kernel_core() { # as the kernel writes it
  cd "$dump" || return 1
  "$kymo" hang -c core* >page 2>errors || { cat errors page; return 1; }
  has "^core file core[.0-9]*: process $dumped \(victim\), 3 threads, user [0-9]+, ended by SIGABRT$" '^Deadlock: ' '^    #2 +take_both\+0x[0-9a-f]+ \(victim\)'
}
if command -v gcore >/dev/null; then check 'a core file' core; else skip 'a core file' 'no gcore'; fi
if ls "$dump"/core* >/dev/null 2>&1; then
  check 'a core file of the kernel' kernel_core
else
  skip 'a core file of the kernel' 'the kernel writes none here (kernel.core_pattern, ulimit -c)'
fi
no_core() {
  fresh
  echo text >text
  says 3 'kymo hang: text: expected a core file, found another file' "$kymo" hang -c text &&
    says 3 'kymo hang: nothing: cannot open the core file: No such file or directory' "$kymo" hang -c nothing &&
    says 3 "kymo hang: $bin/victim: expected a core file, found another file" "$kymo" hang -c "$bin/victim"
}
check 'files that are no core files' no_core
