#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Traces of the kernel: text, filters and statistics know the numbers of system calls by name; everything else has them as the trace does.
# KYMO_REWRITE=1 rewrites the golden files.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/kernel
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
write() { python3 "$here/kernel_trace.py" "$@"; }
write kernel || exit 1

# golden NAME COMMAND…: what it prints is expected/NAME
golden() {
  local name=$1
  shift
  "$@" >actual 2>&1 || { not_ok "$name" "exit status $?"; return; }
  [ "${KYMO_REWRITE:-}" = 1 ] && cp actual "$here/expected/$name"
  if diff -u "$here/expected/$name" actual >difference; then
    ok "$name"
  else
    sed 's/^/    /' difference | head -30
    not_ok "$name" 'differs from the golden file'
  fi
}

golden cat.text "$kymo" cat kernel
golden stat.text "$kymo" stat counts --by ret kernel
golden flags.text "$kymo" stat counts --by flags kernel

# ---- what has the numbers still ----

same() { diff <("$kymo" cat --format "$1" kernel) <("${@:2}" kernel 2>&1); }
if command -v babeltrace2 >/dev/null; then
  check 'the format babeltrace2 is byte for byte that of babeltrace2' same babeltrace2 babeltrace2
  check 'so is the format details' same details:2.0 babeltrace2 -c sink.text.details
else
  skip 'formats of babeltrace2' 'no babeltrace2'
fi
numbers() {
  "$kymo" cat --format "$1" kernel >out && grep -qF -- "$2" out && ! grep -qE 'EAGAIN|O_CLOEXEC|127\.0\.0\.1' out
}
check 'JSON has numbers' numbers json '"dfd":-100,"filename":"/etc/passwd","flags":524288,"mode":0'
check 'CSV has numbers' numbers csv ',-100,'
check 'the generic format has the values of the description' numbers generic 'dfd: -100'
copied() { "$kymo" convert -o copy kernel && diff <("$kymo" cat kernel) <("$kymo" cat copy) && ! grep -q O_CLOEXEC copy/metadata; }
check 'a copy has the numbers, and is shown alike' copied
# the same fields of a program's events have the program's meaning
write ust ust
others() { "$kymo" cat ust >out && grep -qF 'dfd = -100, filename = "/etc/passwd", flags = 524288, mode = 0' out && ! grep -qE 'EAGAIN|127\.0\.0\.1' out; }
check 'events of programs have no names of the kernel' others

# ---- filters ----

# finds FILTER COUNT
finds() { [ "$("$kymo" cat --filter "$1" kernel | grep -vc '^#')" = "$2" ] || { "$kymo" cat --filter "$1" kernel; false; }; }
check 'a filter takes the name of an error' finds 'ret = "EAGAIN"' 1
check 'a filter takes its number' finds 'ret = -11' 2
check 'a filter takes numbers without a name' finds 'ret = -4095' 1
check 'a filter takes sets of names' finds 'ret IN ("EAGAIN", "ENOENT")' 2
check 'a filter takes patterns of names' finds 'ret LIKE "ECONN*"' 1
check 'numbers without a name are valid' finds 'EVENT LIKE "syscall_exit_*" AND NOT ret IS VALID' 0
check 'a filter takes flags by name' finds 'flags HAS ALL OF ("O_WRONLY", "O_CREAT")' 1
check 'a filter takes flags as a number' finds 'flags = 524288' 2
check 'a filter takes families of addresses' finds 'family = "AF_INET6" AND dport = 443' 1
check 'a filter takes an address' finds 'v4addr = "127.0.0.1"' 2
check 'a filter takes an address of IPv6' finds 'v6addr = "2001:db8::1"' 1
check 'a filter takes a number of an address' finds 'v4addr[0] = 127' 2
misspelt() { ! "$kymo" cat --filter 'ret = "EAGIAN"' kernel 2>said && grep -qF 'ret is never "EAGIAN" (did you mean "EAGAIN"?)' said; }
check 'a name that is misspelt is refused' misspelt

# ---- the tables, beside the headers of this machine ----

# all WHAT FIELD: each number has the name that python has of it
all() {
  write "all.$1" kernel "$1" >names &&
    diff names <("$kymo" cat "all.$1" | sed -n "s/.* $2 = \([A-Z0-9_|]*\).*/\1/p")
}
case $(uname -m) in
  x86_64 | i?86 | riscv64 | loongarch64)
    check 'errors have the names of the headers' all errors ret
    check 'flags of open have the names of the headers' all flags flags
    check 'signals have the names of the headers' all signals sig ;;
  *) skip 'numbers beside the headers' "$(uname -m) has others" ;;
esac

# ---- a trace that LTTng recorded ----

recorded=${KYMO_SHARED:-}/data/ctf/babeltrace/2/succeed/lttng-tracefile-rotation/trace/kernel
if [ -d "$recorded" ]; then
  switched() {
    "$kymo" cat --event sched_switch "$recorded" >text && "$kymo" cat --event sched_switch --format json "$recorded" >json &&
      [ "$(grep -c 'prev_state = TASK_INTERRUPTIBLE,' text)" = "$(grep -c '"prev_state":1,' json)" ] &&
      [ "$(grep -c 'prev_state = TASK_RUNNING,' text)" = "$(grep -c '"prev_state":0,' json)" ] &&
      grep -q TASK_INTERRUPTIBLE text && grep -q TASK_RUNNING text
  }
  check 'states of tasks have names in a trace of LTTng' switched
else
  skip 'states of tasks have names in a trace of LTTng' 'no data'
fi
