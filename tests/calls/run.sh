#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo record --calls: programs that know nothing of tracing give the same answers with the library as without, and the trace
# shows their calls.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'kymo record --calls' 'the command kymo is not built'
  exit 77
fi
programs=$KYMO_SOURCE/tests/calls
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS LD_PRELOAD
build_plain() {
  gcc -O2 -D_GNU_SOURCE -Wall -Wextra -Werror "${@:2}" "$programs/work.c" -o "$bin/$1" -pthread ||
    { not_ok "$1 builds" 'it does not'; exit 1; }
}
build_plain work
build_plain fortified -D_FORTIFY_SOURCE=2
build_plain large -D_FILE_OFFSET_BITS=64
build_plain static -static
gcc -O2 -D_GNU_SOURCE -Wall -Wextra -Werror "$programs/net.c" -o "$bin/net" || { not_ok 'net builds' 'it does not'; exit 1; }
must_build traced

record() { "$kymo" record -q -o out "$@" 2>said || { echo "exit code $?"; cat said; return 1; }; }
# without times, and without names of addresses
text() { "$kymo" cat -q "$@" | sed -nE 's/ <[^>]*>//g; s/^(\[[^]]*\] )?\+?[0-9.]* [^ ]* //p'; }
count() { text "${@:2}" | grep -cE "^$1"; }

# ---- answers ----

same_answers() {
  local program=$1 part=$2 want
  fresh
  "$bin/$program" "$part" >without || return 1
  rm -f file other socket
  # more than a thousand threads that begin and end call faster than anybody drains
  if [ "$part" = threads ]; then may_lose "$kymo" record -q -o out --calls libc -- "$bin/$program" "$part" >with 2>said
  else record --calls libc -- "$bin/$program" "$part" >with; fi || return 1
  diff without with && [ ! -s said ] || { cat said; return 1; }
  grep -q '"overwritten\|[1-9][0-9]* lost' said && { cat said; return 1; }
  babeltrace2 -o dummy out 2>bt2 || { head -3 bt2; return 1; }
}
for program in work fortified large; do
  for part in files sockets memory locks cancel threads processes signals; do
    check "$program: $part answer as without the library" same_answers $program $part
  done
done

# ---- what the trace shows ----

files() {
  local program
  for program in work fortified large; do
    fresh
    record --calls libc:io -- "$bin/$program" files >/dev/null || return 1
    text out | sed -nE 's/, duration_ns = [0-9]+//; /"file"/,$p' >seen
    diff - seen <<'END' || { echo "$program"; return 1; }
libc:open path = "file", flags = O_RDWR|O_CREAT|O_TRUNC, mode = 0640, result = 3, error = 0
libc:open path = "no/such/file", flags = 0, mode = 0, result = -1, error = ENOENT
libc:open path = "(bad address)", flags = 0, mode = 0, result = -1, error = EFAULT
libc:openat directory = AT_FDCWD, path = "file", flags = 0, mode = 0, result = 4, error = 0
libc:creat path = "other", mode = 0600, result = 5, error = 0
libc:write fd = 3, size = 10, result = 10, error = 0
libc:pwrite fd = 3, size = 10, offset = 100, result = 10, error = 0
libc:writev fd = 3, count = 2, result = 7, error = 0
libc:pwritev fd = 3, count = 2, offset = 5, result = 7, error = 0
libc:pread fd = 3, size = 10, offset = 1, result = 10, error = 0
libc:readv fd = 3, count = 2, result = 7, error = 0
libc:preadv fd = 3, count = 2, offset = 3, result = 7, error = 0
libc:read fd = 3, size = 10, result = 10, error = 0
libc:write fd = 3, size = 10, result = -1, error = EFAULT
libc:fsync fd = 3, result = 0, error = 0
libc:fdatasync fd = -1, result = -1, error = EBADF
libc:close fd = 3, result = 0, error = 0
libc:close fd = 3, result = -1, error = EBADF
END
  done
}
check 'files: each call with its arguments, result and error, also large and fortified' files
memory() {
  fresh
  record --calls libc:malloc -- "$bin/work" memory >/dev/null || return 1
  text out | grep -qE '^libc:posix_memalign alignment = 4096, size = 10, result = 0x[0-9a-f]+000, error = 0$' || return 1
  text out | grep -qE '^libc:posix_memalign alignment = 3, size = 10, result = 0x0, error = EINVAL$' || return 1
  text out | grep -qE '^libc:malloc size = 9223372036854775807, result = 0x0$' || return 1
  # what is given back was given out
  text out | sed -nE 's/^libc:malloc size = 100, result = //p' | head -1 >pointer
  text out | grep -q "^libc:realloc pointer = $(cat pointer), size = 100000" && [ "$(count libc:open out)" = 0 ]
}
check 'memory: sizes, pointers, failures; nothing of other families' memory
locks() {
  fresh
  record --calls libc:lock -- "$bin/work" locks >/dev/null || return 1
  text out >seen
  grep -qE '^libc:pthread_mutex_lock mutex = 0x[0-9a-f]+, contended = true, wait_ns = [1-9][0-9]{6,}, result = 0$' seen || return 1
  grep -qE '^libc:pthread_mutex_lock mutex = 0x[0-9a-f]+, contended = false, wait_ns = 0, result = EOWNERDEAD$' seen || return 1
  grep -qE '^libc:pthread_mutex_timedlock .*, result = ETIMEDOUT$' seen && grep -qE '^libc:pthread_mutex_trylock .*, result = EBUSY$' seen || return 1
  grep -qE '^libc:pthread_cond_wait condition = 0x[0-9a-f]+, mutex = 0x[0-9a-f]+, wait_ns = [1-9][0-9]*, result = 0$' seen
}
deadlock() { # calls that never return
  fresh
  "$kymo" record -q -o out --calls libc:lock -- "$bin/work" deadlock >locks &
  local recorder=$! a b
  two_wait() { [ "$(text out 2>/dev/null | grep -c ^libc:wait_begin)" = 2 ] && [ "$(wc -l <locks)" = 2 ]; }
  until_true two_wait && kill -9 $(pgrep -P $recorder)
  wait $recorder
  { read -r a; read -r b; } <locks
  text out | sed -nE 's/^libc:wait_begin on = (0x[0-9a-f]+).*/\1/p' | sort | diff - <(printf '%s\n' "$a" "$b" | sort) || { text out; return 1; }
  "$kymo" stat latency out | grep -c 'libc:wait' | diff - <(echo 2) || { "$kymo" stat latency out; return 1; }
  ! "$kymo" stat calls out | grep wait_ || return 1
}
check 'locks: which threads wait for which locks in a deadlock' deadlock
nothing_of_waits() { # they belong to the locks
  fresh
  record --calls libc:malloc -- "$bin/work" locks >/dev/null && ! text out | grep libc:wait_
}
check 'locks: no waits if no locks are asked for' nothing_of_waits
check 'locks: which threads waited for how long, which did not, dead owners, timeouts' locks
addresses() {
  local port
  fresh
  record --calls libc:io -- "$bin/net" >port || return 1
  text out | sed -nE 's/, duration_ns = [0-9]+//; s/(accept.*port = )[1-9][0-9]*/\1PEER/; /^libc:(socket|bind|connect|accept)/p' >seen
  diff - seen <<END || return 1
libc:socket domain = AF_INET, type = SOCK_STREAM, flags = SOCK_CLOEXEC, protocol = 0, result = 3, error = 0
libc:socket domain = AF_INET, type = SOCK_STREAM, flags = 0, protocol = 0, result = 4, error = 0
libc:bind fd = 3, family = AF_INET, address = "127.0.0.1", port = 0, result = 0, error = 0
libc:connect fd = 4, family = AF_INET, address = "127.0.0.1", port = $(cat port), result = 0, error = 0
libc:accept4 fd = 3, flags = SOCK_NONBLOCK, family = AF_INET, address = "127.0.0.1", port = PEER, result = 5, error = 0
libc:socket domain = AF_UNIX, type = SOCK_STREAM, flags = 0, protocol = 0, result = 6, error = 0
libc:connect fd = 6, family = AF_UNIX, address = "@name", port = 0, result = -1, error = ECONNREFUSED
libc:connect fd = 6, family = AF_UNIX, address = "$(printf 'x%.0s' {1..108})", port = 0, result = -1, error = ENOENT
libc:connect fd = 6, family = AF_UNSPEC, address = "", port = 0, result = -1, error = EFAULT
libc:connect fd = -1, family = AF_UNSPEC, address = "", port = 0, result = -1, error = EBADF
libc:bind fd = 6, family = AF_UNSPEC, address = "", port = 0, result = -1, error = EINVAL
libc:accept fd = -1, family = AF_UNSPEC, address = "", port = 0, result = -1, error = EBADF
libc:socket domain = AF_INET, type = SOCK_STREAM, flags = 0, protocol = 0, result = 7, error = 0
libc:connect fd = 7, family = AF_INET, address = "127.0.0.1", port = $(cat port), result = 0, error = 0
libc:accept fd = 3, family = AF_INET, address = "127.0.0.1", port = PEER, result = 8, error = 0
libc:socket domain = AF_INET, type = SOCK_STREAM, flags = 0, protocol = 0, result = 9, error = 0
libc:connect fd = 9, family = AF_INET, address = "127.0.0.1", port = $(cat port), result = 0, error = 0
libc:accept fd = 3, family = AF_INET, address = "127.0.0.1", port = PEER, result = 10, error = 0
END
  [ "$(text --filter 'error = "ECONNREFUSED"' out | wc -l)" = 1 ] && [ "$(text --filter 'flags HAS ANY OF ("SOCK_CLOEXEC")' out | grep -c ^libc:socket)" = 1 ]
}
check 'sockets: families, types, addresses, ports, and filters by their names' addresses
as_inet_ntop() {
  gcc -O1 -D_GNU_SOURCE -DCOMPARE -Wall -Wextra -Werror -I"$KYMO_SOURCE/src" "$programs/net.c" "$KYMO_SOURCE/src/calls/address.c" -o compare && ./compare
}
check 'addresses of IPv6 are written as inet_ntop does' as_inet_ntop
signals() {
  fresh
  record --calls libc:io -- "$bin/work" signals >/dev/null || return 1
  [ "$(count 'libc:write .*size = 1, result = 1' out)" -ge 100 ] && [ "$(count 'libc:read .*result = 1,' out)" = 100 ]
}
check 'handlers: their calls are recorded too' signals
many_threads() { # their slots are used again, also those of threads that traced after their last destructor
  fresh
  may_lose "$kymo" record -o out --calls libc:malloc -- "$bin/work" threads >/dev/null 2>said || return 1
  [ "$(ls out | grep -c stream)" -lt 100 ] || { ls out | wc -l; cat said; return 1; }
  [ "$(count 'libc:malloc size = 10,' out)" -gt 1000 ]
}
check 'threads: 1200 ends with late calls leave no ring' many_threads
processes() {
  fresh
  record --calls libc -- "$bin/work" processes >/dev/null || return 1
  [ "$(ls -d out/work-* | wc -l)" = 2 ] && [ "$(ls -d out/sh-* | wc -l)" = 1 ] || { ls out; return 1; }
  [ "$(count 'libc:malloc size = 4711' out/work-*)" = 1 ] && [ "$(count 'libc:close fd = 0' out/work-*)" = 1 ]
}
check 'processes: fork, vfork and exec' processes

# ---- what is chosen ----

chosen() {
  fresh
  record --calls libc:malloc,read -- "$bin/work" files >/dev/null || return 1
  [ "$(event_names out | tr ' ' '\n' | grep -vxE 'libc:(malloc|calloc|realloc|free|read)' | wc -l)" = 0 ] && [ "$(count libc:read out)" = 1 ] || { event_names out; return 1; }
  rm -rf out
  record --calls libc -e '!libc:malloc' -e '!libc:free' -- "$bin/work" memory >/dev/null || return 1
  ! event_names out | grep -qwE 'libc:(malloc|free)' && event_names out | grep -qw libc:calloc
}
check '--calls accepts families and functions, -e excludes some' chosen
check 'an unknown function is refused' record_refuses 'libc has no family or function "raed" (did you mean "read"?)' --calls libc:raed
check 'an unknown library is refused' record_refuses '--calls is libc, libc:FAMILY,… or functions, not "libm"' --calls libm

# ---- statistics ----

counted() { # what strace counts of the same program; the loader does not write
  fresh
  cat >failing.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 7; i++)
    if (write(i < 3 ? -1 : 1, "x", 1) != (i < 3 ? -1 : 1))
      return 1;
  fsync(-1);
  fdatasync(-1);
  usleep(20000);
  pthread_mutex_lock(&mutex);
  if (!pthread_mutex_trylock(&mutex))
    return 1;
  pthread_mutex_unlock(&mutex);
  volatile size_t large = (size_t)1 << 62;
  free(malloc(large));
  return 0;
}
END
  gcc -O0 -Wno-all failing.c -o failing -pthread && record --calls libc -- ./failing >written && "$kymo" stat calls --json out >rows || return 1
  jq -r 'select(.function) | "\(.function) \(.calls) \(.errors)"' rows | grep -E '^(write|fsync|fdatasync|pthread_mutex_.*) ' | sort >seen
  diff - seen <<'END' || return 1
fdatasync 1 1
fsync 1 1
pthread_mutex_lock 1 0
pthread_mutex_trylock 1 1
pthread_mutex_unlock 1 0
write 7 3
END
  jq -se 'INDEX(.function) | .malloc.errors == 1 and .malloc.total == null and .write.total > 0 and .write.max <= .write.total' rows >printed || { cat rows; return 1; }
  # the sum of what its calls took
  [ "$("$kymo" cat -q -f json out | jq -s 'map(select(.event == "libc:write").fields.duration_ns) | add')" = "$(jq 'select(.function == "write").total' rows)" ] || return 1
  "$kymo" stat calls out >text && grep -qE '^ *[0-9.]+ +[0-9.]+ [mun]?s +[0-9.]+ [mun]?s +7 +3  write$' text && grep -qE '^ +[0-9]+ +1  malloc$' text && [ "$(head -1 text)" = '% time      total       mean      calls     errors  function' ] &&
    "$kymo" stat calls --csv --sort count out | grep -qE '^"write",7,3,[0-9]+,[0-9]+$'
}
check 'calls and errors of each function' counted
as_strace() {
  counted && strace -f -c -e trace=write,fsync,fdatasync -o summary ./failing >written || return 1
  awk '$NF ~ /^(write|fsync|fdatasync)$/ { print $NF, $4, $5 }' summary | sort >theirs
  grep -E '^(write|fsync|fdatasync) ' seen | diff - theirs
}
if command -v strace >/dev/null && strace -o "$TMPDIR/probe" true 2>/dev/null; then
  check 'the same calls and errors as strace -c' as_strace
else
  skip 'the same calls and errors as strace -c' 'strace does not run here'
fi

# ---- programs ----

with_tracepoints() {
  fresh
  record --calls libc:malloc -- "$bin/traced" || return 1
  [ "$(count app:between out)" = 100 ] && [ "$(count 'libc:malloc size = 10[0-9][0-9],' out)" = 100 ] || return 1
  # one session: in each thread's stream the program's and libc's events take turns
  text out | grep -E '^(app:between|libc:malloc size = 1[0-9]{3},)' | awk '{ print $1 }' | uniq -c | grep -qE ' [2-9]| [0-9]{2}' && return 1
  rm -rf out
  record --calls libc:malloc -e app -- "$bin/traced" && [ "$(count app:between out)" = 100 ] && [ "$(count libc:free out)" -ge 100 ] || return 1
  rm -rf out
  record --calls libc:malloc -e 'no:such' -- "$bin/traced" && [ "$(count app:between out)" = 0 ]
}
check 'a program with tracepoints shares its recorder' with_tracepoints
static_program() {
  fresh
  "$kymo" record -o out --calls libc -- "$bin/static" files >/dev/null 2>said || return 1
  expect "kymo record: $bin/static is linked statically: --calls has no effect on it" head -1 said
}
check 'a static program runs, and is said to be one' static_program
own_preload() { # what the caller preloads is kept, after ours
  fresh
  printf '#include <stdlib.h>\nint theirs = 7;\n' | gcc -shared -fPIC -o theirs.so -x c - &&
    LD_PRELOAD=$PWD/theirs.so record --calls libc -- sh -c 'cat /proc/self/maps' >maps && grep -q theirs.so maps && grep -q libkymo-calls.so maps
}
check 'LD_PRELOAD of the caller is kept' own_preload
installed() { # moved elsewhere as a whole
  fresh
  DESTDIR=$PWD/root meson install -C "$KYMO_BUILD" --no-rebuild --quiet >/dev/null || return 1
  local command=$(find "$PWD/root" -path '*/bin/kymo')
  "$command" record -q -o out --calls libc:io -- "$bin/work" files >/dev/null && [ "$(count libc:open out)" -gt 2 ]
}
check 'the installed command finds its library' installed

exit 0
