#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo record --kernel: events of the kernel beside those of programs. Root only, in a mount namespace with a tracefs of its own; tracefs
# itself is that of the whole machine, so what others record must go on as it does.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
programs=$KYMO_SOURCE/tests/kernel-record
here=$programs

if [ ! -x "$kymo" ]; then
  skip 'kymo record --kernel' 'the command kymo is not built'
  exit 77
fi
mkdir -p "$TMPDIR/tracefs"
if [ "${1:-}" != inside ]; then
  if [ "$(id -u)" != 0 ] || ! unshare -m sh -c 'mount -t tracefs nodev "$TMPDIR/tracefs" && [ -d "$TMPDIR/tracefs/instances" ]' 2>/dev/null; then
    skip 'kymo record --kernel' 'no tracefs, or no right to it'
    exit 77
  fi
  # without any tracefs: what is missing, and how to get it
  absent() {
    fresh
    unshare -m sh -c 'sed -n "s,.* \(/[^ ]*\) tracefs .*,\1,p" /proc/self/mounts | xargs -r umount -l
      exec "$0" record --kernel sched -o out -- touch ran' "$kymo" 2>said
    [ $? = 3 ] && [ ! -e ran ] && [ ! -e out ] &&
      diff - said <<<'kymo record: events of the kernel need tracefs, which is not mounted; as root: mount -t tracefs nodev /sys/kernel/tracing'
  }
  check 'without tracefs one line says how to mount it, and the command does not run' absent
  exec unshare -m bash "$0" inside
fi
mount -t tracefs nodev "$TMPDIR/tracefs" || exit 1
tracefs=$TMPDIR/tracefs
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS KYMO_CLOCK
must_build writer
for level in 0 2; do must_build probed-$level probed.c gcc -O$level; done
must_build stripped probed.c gcc -g0 -O2

# ours PID: the instances of that process, and those of recorders that are dead
ours() { ls "$tracefs/instances" | grep -E "^kymo-[0-9]+-$1-"; }
left_by_the_dead() {
  local name pid
  for name in $(ls "$tracefs/instances" | grep -E '^kymo-[0-9]+-[0-9]+-[0-9]+$') $(grep -oE 'kymo_[0-9]+_[0-9]+_[0-9]+' "$tracefs/uprobe_events" | sort -u); do
    pid=$(cut -d- -f3 <<<"${name//_/-}")
    [ -e /proc/$pid ] || echo "$name"
  done
}
# the settings that all share, but for what other recorders add of their own
settings() {
  local file
  for file in tracing_on trace_clock buffer_size_kb current_tracer set_event set_event_pid set_event_notrace_pid trace_options; do
    printf '%s: ' $file
    cat "$tracefs/$file"
  done
  grep -v ' kymo_\|:kymo_' "$tracefs/uprobe_events"
}
recorded() { "$kymo" record -o out "$@" 2>said || { echo "exit status $?"; cat said; return 1; }; }
said_kernel() { sed -nE 's/.*of the kernel ([0-9]+) events, ([0-9]+) lost$/\1 \2/p' said; }

# ---- one time line ----

nested() {
  fresh
  recorded --kernel 'sys_*_write' --kernel-only-ours "$@" -- "$bin/writer" 4 500 3 &&
    ls out/kernel/head.dat out/kernel/clock out/kernel/names >/dev/null && [ "$(ls -d out/writer-* | wc -l)" = 3 ] &&
    "$kymo" cat -q out >events && python3 "$here/nested.py" events 12 500
}
check 'a span around write lies around the sys_enter and sys_exit of it, in all threads of all processes' nested
monotonic() { KYMO_CLOCK=monotonic nested && grep -q ^monotonic out/kernel/clock && grep -aq '\[mono\]' out/kernel/head.dat; }
check 'so it does by CLOCK_MONOTONIC' monotonic
ctf2() { nested --ctf 2 && grep -q '"preamble"' out/writer-*/metadata; }
check 'so it does with metadata of CTF 2' ctf2
attached() {
  fresh
  mkfifo go
  exec 8<>go
  KYMO_ENABLE='*' KYMO_SAVE=never "$bin/writer" 2 3000 1 go &
  local pid=$!
  until_true "$kymo" list --brief $pid || return 1
  "$kymo" record -p $pid -o out --kernel 'sys_*_write' --kernel-only-ours 2>said &
  local recorder=$!
  is_on() { grep -qw $pid "$tracefs/instances"/kymo-*-$recorder-*/set_event_pid && grep -q 1 "$tracefs/instances"/kymo-*-$recorder-*/tracing_on; }
  until_true is_on && sleep 0.1 && echo >&8 && wait $pid && wait $recorder || { cat said; return 1; }
  exec 8>&-
  "$kymo" cat -q out >events && python3 "$here/nested.py" events 2 3000
}
check 'with -p the events of the kernel have the clock of the rings that are there' attached
without_tracepoints() {
  fresh
  mkfifo go
  sh -c 'read word <go; for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done' &
  local pid=$!
  "$kymo" record -p $pid -o out --kernel sched_process_exec --kernel-only-ours 2>said &
  local recorder=$!
  is_on() { grep -qw $pid "$tracefs/instances"/kymo-*-$recorder-*/set_event_pid && grep -q 1 "$tracefs/instances"/kymo-*-$recorder-*/tracing_on; }
  until_true is_on && echo >go && wait $recorder || { cat said; return 1; }
  "$kymo" cat -q out | grep sched:sched_process_exec >events
  [ "$(grep -c 'filename = "[^"]*sleep"\|filename=[^ ]*sleep' events)" = 8 ] && ! grep -v 'sleep\|/sh' events && return # the shell itself may begin late
  cat said events
  return 1
}
check 'a process without tracepoints is recorded with -p until it ends, and its children' without_tracepoints
machine() {
  fresh
  recorded --kernel sched:sched_switch --duration 300ms && "$kymo" cat -q out >events && python3 "$here/switches.py" events
}
check 'without a process all of the machine is recorded: each switch on a CPU begins where the one before ended' machine
names() {
  fresh
  recorded --kernel 'sys_*_write' --kernel-only-ours -- "$bin/writer" 4 10 1 && "$kymo" cat -q out >events &&
    ! grep -F '<...>' events
}
check 'threads that are gone by the end have names' names

# ---- copies ----

# as other readers of CTF see it: LTTng's names, and the CPU of each packet
as_lttng() {
  fresh
  recorded --kernel 'sched_switch,sched_wakeup,sys_*_write,irq' --kernel-only-ours -- "$bin/writer" 2 200 1 || return 1
  "$kymo" convert --to ctf1 -o ctf out && babeltrace2 ctf >theirs || return 1
  grep -q 'sched_switch: { cpu_id = \([0-9]*\) }, { cpu_id = \1,.* prev_tid = [0-9]*, .* next_tid = ' theirs && grep -q 'domain = "kernel"' ctf/kernel/metadata &&
    [ "$(grep -c ' syscall_entry_write: ' theirs)" = "$("$kymo" cat -q out | grep -c ' syscalls:sys_enter_write ')" ] &&
    ! grep -E ' (sched|syscalls|irq):' theirs && [ "$(wc -l <theirs)" = "$("$kymo" cat -q out | grep -vc '^#')" ] || { head -5 theirs; return 1; }
  # with the same values, in the same order
  diff <("$kymo" cat -q ctf | sed -nE 's/.* (app:write_[a-z]*|syscall_(entry|exit)_write).*/\1/p') \
    <("$kymo" cat -q out | sed -nE 's/.* (app:write_[a-z]*|syscalls:sys_(enter|exit)_write).*/\1/p' | sed 's/syscalls:sys_enter/syscall_entry/; s/syscalls:sys_exit/syscall_exit/')
}
if command -v babeltrace2 >/dev/null; then check 'a copy as CTF 1.8 has the names of LTTng' as_lttng; else skip 'a copy as CTF 1.8 has the names of LTTng' 'babeltrace2 is not installed'; fi
own_names() {
  fresh
  recorded --kernel sched_switch --kernel-only-ours -- "$bin/writer" 1 5 1 && "$kymo" convert --to ctf2 -o ctf out &&
    diff <("$kymo" cat -q out) <("$kymo" cat -q ctf)
}
check 'a copy as CTF 2 has its own names and messages' own_names

# ---- counts ----

# the last program reads what the kernel has counted, and makes no such event any more
counted() {
  fresh
  recorded --kernel sys_enter_write --kernel-only-ours -- sh -c '"$1" 2 2000; exec cat "$2"/instances/kymo-*-'"\$PPID"'-*/per_cpu/cpu*/stats' \
    sh "$bin/writer" "$tracefs" >stats || return 1
  local kernel written
  kernel=$(awk '/^(entries|read events):/ { sum += $NF } END { print sum }' stats)
  written=$(grep -c ^entries stats) # what cat has written since
  set -- $(said_kernel)
  [ $2 = 0 ] && [ $1 -ge $kernel ] && [ $1 -le $((kernel + written + 1)) ] && [ $1 -gt 4000 ] &&
    [ "$("$kymo" info out | sed -n 's/^events *//p')" = $(($1 + 8001)) ] || { echo "$kernel counted"; cat said stats; return 1; }
}
check 'as many events as the kernel has counted' counted
storm() {
  fresh
  "$kymo" record -o out --kernel 'syscalls' --kernel-buffer 16k --kernel-only-ours -q -- dd if=/dev/zero of=/dev/null bs=1 count=100000 2>/dev/null
  [ $? = 1 ] || { echo 'nothing was lost'; return 1; }
  "$kymo" info out >info 2>errors
  [ $? = 1 ] && grep -q 'the trace is incomplete' errors && grep -q 'lost [0-9]* events' info && "$kymo" cat -q out 2>/dev/null | grep -q 'sys_enter_write'
}
check 'what a small buffer loses is counted: exit status, info' storm

# what a full disk does not take is counted, and said by readers
full() {
  fresh
  (ulimit -f 600 && exec "$kymo" record -o out --kernel sys_enter_write --kernel-only-ours -- dd if=/dev/zero of=/dev/null bs=1 count=60000) 2>said
  [ $? = 1 ] && grep -q 'cpu[0-9]*: cannot write: File too large$' said || { cat said; return 1; }
  set -- $(said_kernel)
  [ $(($1 + $2)) -ge 60000 ] && [ $(($1 + $2)) -le 60100 ] && [ $2 -gt 1000 ] || { cat said; return 1; }
  "$kymo" info out >info 2>&1
  grep -q "$2 events of the kernel were lost after the last ones that could be written" info || { cat info; return 1; }
}
check 'what cannot be written is counted' full
if command -v setpriv >/dev/null && unshare -pf --mount-proc true 2>/dev/null; then
  elsewhere() {
    fresh
    unshare -pf --mount-proc "$kymo" record -o out --kernel sched --kernel-only-ours -- touch ran 2>said
    [ $? = 3 ] && [ ! -e ran ] && [ ! -e out ] && grep -q 'in this PID namespace processes have other numbers' said
  }
  check 'in another PID namespace the kernel cannot select processes, which is said' elsewhere
fi

# ---- probes ----

# probed LEVEL: what the functions got and returned, as the program's source says
probed() {
  fresh
  local binary=$bin/probed-$1
  recorded --probe "$binary:add(number,text,shape,small,wide)" --probe "$binary:add%return(sum)" --probe "$binary:after_struct" \
    --kernel-only-ours -- "$binary" 100 >printed || return 1
  "$kymo" cat -q out | grep -o 'probe:.*"' | sed -E 's/"?\([0-9a-f]+( <- [0-9a-f]+)?\) ?//; s/"$//' >events
  for ((i = 0; i < 100; i++)); do
    local text=even first=101
    [ $((i % 2)) = 0 ] || text=odd first=111
    printf 'probe:add number=%d text=\\"%s\\" shape=%d small=%d wide=1099511627776\n' $((i - 2)) $text $((i % 2)) $i
    printf 'probe:add__return sum=%d\n' $((i - 2 + first + i % 2 + i + 1))
  done >expected
  echo 'probe:after_struct ' >>expected
  diff expected events && ! grep -q kymo_ "$tracefs/uprobe_events"
}
check 'a probe records arguments and results of a function that is not optimised' probed 0
check 'so it does of an optimised one' probed 2
numbered() {
  fresh
  recorded --probe "$bin/stripped:add(arg1=s32,arg2=string)" -- "$bin/stripped" 3 >printed &&
    [ "$("$kymo" cat -q out | grep -o 'arg1=[^|]*[a-z]')" = $'arg1=-2 arg2=\\"even\narg1=-1 arg2=\\"odd\narg1=0 arg2=\\"even' ] || { "$kymo" cat out; return 1; }
}
check 'without debug information arguments are numbered' numbered
at_offset() {
  fresh
  recorded --probe "$bin/probed-2:add+0" --probe "$bin/probed-2:main" -- "$bin/probed-2" 5 >printed && [ "$("$kymo" cat -q out | grep -c probe:add)" = 5 ]
}
check 'an offset' at_offset
functions() {
  diff - <("$kymo" list --functions "$bin/probed-$1" | grep -E '^(add|after)') <<<"add(number=s32, text=string, shape=s32, small=u8, wide=u64)
after_struct${2:-}"
}
check 'kymo list --functions shows what can be probed' functions 2 '(number=s32)'
check '… and leaves out an argument whose place is not certain' functions 0
others_probe() {
  fresh
  echo "p:other_$$/mine $bin/stripped:0x1000" >>"$tracefs/uprobe_events" || return 1
  recorded --probe "$bin/probed-2:main" -- "$bin/probed-2" >printed && grep "other_$$/mine" "$tracefs/uprobe_events"
  local status=$?
  echo "-:other_$$/mine" >>"$tracefs/uprobe_events"
  return $status
}
check 'probes of others stay' others_probe

# ---- others ----

untouched() {
  fresh
  local other="$tracefs/instances/other-$$"
  mkdir "$other" && echo global >"$other/trace_clock" && echo 1 >"$other/events/sched/sched_process_exit/enable" &&
    echo 1 >"$other/options/event-fork" && echo 99999 >"$other/set_event_pid" || return 1
  state() { settings; cat "$other"/{trace_clock,set_event,set_event_pid,tracing_on,buffer_size_kb,options/event-fork}; }
  state >before
  recorded --kernel sched,syscalls,irq --kernel-only-ours -- true && recorded_again=1 || return 1
  state >after
  rmdir "$other"
  diff before after && [ -z "$(left_by_the_dead)" ]
}
check 'settings and instances of others stay as they are, and nothing remains' untouched
twice() {
  fresh
  "$kymo" record -q -o one --kernel sched -- "$kymo" record -q -o two --kernel sched -- true && "$kymo" cat -q one >/dev/null && "$kymo" cat -q two >/dev/null
}
check 'two recordings at a time do not disturb each other' twice
ctrl_c() {
  fresh
  "$kymo" record -o out --kernel sched_switch 2>said &
  local recorder=$!
  is_there() { ours $recorder; }
  until_true is_there && until_true grep -q 1 "$tracefs/instances"/kymo-*-$recorder-*/tracing_on && kill -INT $recorder && wait $recorder &&
    [ -z "$(ours $recorder)" ] && grep -q 'of the kernel' said
}
check 'a signal ends a recording of the machine, and its instance' ctrl_c

# ---- kill -9 ----

rounds=${KYMO_ROUNDS:-6}
killed() {
  fresh
  local i recorder
  for ((i = 0; i < rounds; i++)); do
    "$kymo" record -q -o out$i --kernel sched,syscalls --probe "$bin/probed-2:main" --kernel-only-ours -- sleep 0.4 &
    recorder=$!
    sleep 0.$(printf %03d $((RANDOM % 400)))
    kill -9 $recorder 2>/dev/null
    wait $recorder 2>/dev/null
    # what it wrote can be read
    [ ! -s out$i/kernel/cpu0 ] || may_lose "$kymo" cat -q out$i >/dev/null 2>said || { cat said; return 1; }
    rm -rf out$i
  done
  settings >before
  "$kymo" record -q -o last --kernel sched_switch --kernel-only-ours -- true || return 1
  settings >after
  diff before after && [ -z "$(left_by_the_dead)" ] || { left_by_the_dead; return 1; }
}
check "$rounds recorders killed at any time: the next one leaves no instance, probe or setting of them" killed

# ---- refusals ----

refused() {
  local status=$1 message=$2
  shift 2
  fresh
  "$kymo" record -o out "$@" 2>said
  [ $? = $status ] && [ ! -e out ] && [ ! -e ran ] && diff <(echo "kymo record: $message") <(head -1 said)
}
check 'an event that is not there' refused 3 'no event of the kernel matches "sched_swich" (did you mean "sched_switch"?)' --kernel sched_swich -- touch ran
check 'an invalid pattern' refused 3 '"re:(": a parenthesis that is not closed' --kernel 're:(' -- touch ran
check 'a command that cannot be run leaves nothing' refused 127 'cannot run no-such: No such file or directory' --kernel sched -- no-such
check 'with --rotate' refused 2 '--kernel is neither with --rotate nor with --snapshot-on' --kernel sched --rotate 1M -- touch ran
check '--kernel-only-ours without --kernel' refused 2 '--kernel-only-ours needs --kernel or --probe' --kernel-only-ours -- touch ran
check '--kernel-only-ours without a process' refused 2 '--kernel-only-ours needs a command or -p' --kernel sched --kernel-only-ours
check 'a size that is none' refused 2 '--kernel-buffer is a size from 16k to 1G, not "1"' --kernel sched --kernel-buffer 1 -- touch ran
check 'a function that is not there' refused 2 "$bin/probed-2 has no function \"ad\" (did you mean \"add\"?)" --probe "$bin/probed-2:ad" -- touch ran
check 'an argument that is not there' refused 2 'add has no argument "nuber" (did you mean "number"?)' --probe "$bin/probed-2:add(nuber)" -- touch ran
check 'an argument whose place is not known' refused 2 'after_struct: the argument "number" is in no register there' --probe "$bin/probed-0:after_struct(number)" -- touch ran
check 'a type that is none' refused 2 'add: the type of "number" must be u8, u16, u32, u64, s8, …, x8, … (base 16) or string, not int' --probe "$bin/probed-2:add(number=int)" -- touch ran
check 'a probe without a function' refused 2 '"app": there is no function in it; a probe is BINARY:FUNCTION[+OFFSET|%return][(ARGUMENT[=TYPE],…)]' --probe app -- touch ran
check 'two probes of one name' refused 3 'two probes are called "add"' --probe "$bin/probed-2:add" --probe "$bin/probed-0:add" -- touch ran
unprivileged() {
  fresh
  chmod 755 "$TMPDIR" . && mkdir -m 777 theirs
  setpriv --reuid 65534 --regid 65534 --clear-groups "$kymo" record -o theirs/out --kernel sched -- true 2>said
  [ $? = 3 ] && [ ! -e theirs/out ] && grep -qE 'Permission denied: run as root, or with the capability CAP_DAC_OVERRIDE$' said || { cat said; return 1; }
}
if others_reach_library; then check 'another user learns what is missing' unprivileged; else skip 'another user learns what is missing' 'it cannot reach the checkout'; fi
