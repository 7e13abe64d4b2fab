#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Threads, signals, processes and libraries that come and go: nothing is torn, and what is not there is counted.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

build_checker
for program in worker handlers forks; do must_build $program; done

# ---- accounting ----

# accounts_for [NAME=VALUE…] -- CHECKER OPTIONS -- WORKER OPTIONS
accounts_for() {
  local settings=() options=()
  while [ "$1" != -- ]; do settings+=("$1"); shift; done
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  fresh
  traced "${settings[@]}" "$bin/worker" -c counters "$@" || return 1
  "$bin/check_trace" "${options[@]}" -c counters "$(the_trace)" >sums || { cat sums; return 1; }
  babeltrace2 -o dummy out/* >bt2 2>&1 || { head -5 bt2; return 1; }
}
check 'pitfall 11: overwrite: recorded = written + overwritten, the newest without gaps' \
  accounts_for KYMO_BUFFER=16k -- -g -- -t 4 -n 100000 -m
check 'discard: recorded = written + lost' accounts_for KYMO_BUFFER=16k KYMO_MODE=discard -- -- -t 4 -n 50000
check 'a ring that is large enough loses nothing' accounts_for KYMO_BUFFER=4M -- -g -- -t 4 -n 10000
check 'events larger than a packet are lost and counted' accounts_for KYMO_BUFFER=64k -- -- -t 2 -n 10000 -l 70000
check 'events of nearly a packet are kept' accounts_for KYMO_BUFFER=1M KYMO_MODE=discard -- -- -t 2 -n 500 -l 65000
cause_of_loss() {
  fresh
  traced KYMO_BUFFER=64k "$bin/worker" -t 2 -n 1000 -l 70000 || return 1
  [ "$(sum_of large out/*)" = 20 ] || { echo "large: $(sum_of large out/*)"; return 1; }
  babeltrace2 out/* | grep -q 'discarded_large = [1-9]'
}
check 'losses of too large events are counted apart from others (discarded_large)' cause_of_loss
told_by_babeltrace() { # both babeltraces report the same number of losses as the checker
  local lost
  fresh
  traced KYMO_BUFFER=16k KYMO_MODE=discard "$bin/worker" -t 3 -n 20000 || return 1
  lost=$(sum_of lost out/*)
  [ "$lost" -gt 1000 ] || return 1
  expect "$lost" eval "babeltrace2 out/* 2>&1 >/dev/null | sed -n 's/.*Tracer discarded \([0-9]*\) events.*/\1/p' | paste -sd+ | bc" || return 1
  expect "$lost" eval "babeltrace out/* 2>&1 >/dev/null | sed -n 's/.*Tracer discarded \([0-9]*\) events.*/\1/p' | paste -sd+ | bc"
}
check 'pitfall 12: both babeltraces report the right number of losses' told_by_babeltrace
losses_of_a_silent_ring() { # a thread that has recorded nothing but events that are too large
  fresh
  traced "$bin/worker" -t 1 -n 99 -l 1 && rm -rf out || return 1
  traced KYMO_ENABLE=work:large "$bin/worker" -t 1 -n 1000 -l 300000 || return 1
  [ "$(sum_of lost out/*)" = 10 ] && [ "$(sum_of large out/*)" = 10 ] && babeltrace2 -o dummy out/*
}
check 'losses of a thread that has stored nothing are reported' losses_of_a_silent_ring

# ---- threads ----

check 'pitfall 9: 1000 threads at once' accounts_for KYMO_BUFFER=16k -- -g -- -t 1000 -n 20 -m
few_files_for_many_threads() {
  fresh
  traced KYMO_BUFFER=16k KYMO_SAVE=never "$bin/worker" -t 10000 -n 5 -p || return 1
  # rings of dead threads are used again: the pool has not grown beyond sixteen slots, whatever its length promises
  [ "$(du -k rings/worker-*/rings | cut -f1)" -lt 700 ] || { du -k rings/*/rings; return 1; }
}
check '10000 threads one after the other need the memory of a few' few_files_for_many_threads
streams_of_many_threads() {
  accounts_for KYMO_BUFFER=64k -- -- -t 10000 -n 5 -p && [ "$(ls out/* | wc -l)" -le 18 ]
}
check 'pitfall 6: 10000 threads one after the other: all accounted for, in a few files' streams_of_many_threads
threads_without_a_ring() { # a pool with space for about three threads
  fresh
  (ulimit -f 200; traced KYMO_BUFFER=16k KYMO_SAVE=never "$bin/worker" -t 30 -n 100 -m) || return 1
  [ -d rings/worker-* ] || return 1
  if [ -x "$kymo" ]; then "$kymo" cat -q rings/worker-* >text 2>/dev/null; [ "$(wc -l <text)" -gt 100 ] || return 1; fi
  fresh
  traced KYMO_BUFFER=16k bash -c 'ulimit -f 200; exec "$@"' . "$bin/worker" -t 30 -n 100 -m -s saved || return 1
  expect 3000 eval "'$bin/check_trace' saved | sed -n 's/^\(events\|lost\|overwritten\) //p' | paste -sd+ | bc"
  [ -e saved/stream_without_ring ] && babeltrace2 -o dummy saved 2>/dev/null
}
check 'threads for which there is no ring lose their events, and these are counted' threads_without_a_ring
thread_names() {
  fresh
  cat >names.c <<'EOF'
#include <kymo/trace.h>
#include <pthread.h>
#include <sys/prctl.h>
static void *run(void *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
  for (int i = 0; i < 1000; i++) KYMO(names, event, (const char *)name, i);
  return NULL;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, run, "alpha"), pthread_join(a, NULL);
  pthread_create(&b, NULL, run, "a name too long"), pthread_join(b, NULL);
  return 0;
}
EOF
  build names "$case_dir/names.c" || { cp names.c "$TMPDIR"; programs=$case_dir build names names.c || return 1; }
  traced KYMO_BUFFER=1M "$bin/names" || return 1
  babeltrace2 out/* | sed -nE 's/.*thread_name = ("[^"]*").*const_char_name = ("[^"]*").*/\1 \2/p' | sort | uniq -c >names
  [ "$(cat names)" = "$(printf '%7d %s\n' 1000 '"a name too long" "a name too long"' 1000 '"alpha" "alpha"')" ] || { cat names; return 1; }
}
check 'packets have the name of their thread, also in a ring that is used again' thread_names

# ---- signals ----

count_of_names() {
  babeltrace2 out/* 2>/dev/null | sed -n 's/.* handlers:\([a-z]*\): .*/\1/p' | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\2 \1/' |
    paste -sd, | sed 's/,/, /g'
}
# handlers_leave MODE WANT LOST: names and counts that are there, and the sums of lost and nested
handlers_leave() {
  local mode=$1 want=$2 lost=$3
  fresh
  traced KYMO_MODE=discard KYMO_BUFFER=1M "$bin/handlers" "$mode" >recorded || return 1
  "$bin/check_trace" -b "$(the_trace)" >sums || return 1
  [ "$(sed -n 's/^lost //p' sums)" = "$lost" ] || { cat sums; return 1; }
  expect "$want" count_of_names
}
check 'a handler that interrupts an event records; the third level is counted' handlers_leave nest 'after 1000, inner 5, outer 5' 5
check 'the same on a stack of its own' handlers_leave stack 'after 1000, inner 5, outer 5' 5
check 'a handler that blocks nothing and is reset records besides the interrupted event' \
  handlers_leave reset 'after 1000, inner 5, outer 5' 0
check 'a handler that unblocks all signals records beside the event it interrupts' \
  handlers_leave unblock 'after 1000, inner 5, outer 5' 0
check 'pitfall 8: siglongjmp out of an event: it is not there, all later ones are' handlers_leave jump 'after 6000' 0
check 'siglongjmp out of an event: all later ones of deeper frames are there' handlers_leave deeper 'after 6000' 0
check 'siglongjmp from a stack for handlers: all later events are there' handlers_leave jump-stack 'after 6000' 0
check "siglongjmp out of a handler's event: all later ones are there" handlers_leave jump-nested 'after 6000' 0
check 'a packet-sized event of a handler is counted' handlers_leave large 'after 1000, outer 5' 5
full_alternate_ring() {
  fresh
  traced KYMO_MODE=discard KYMO_BUFFER=16k "$bin/handlers" fill >recorded || return 1
  "$bin/check_trace" "$(the_trace)" >sums || return 1
  expect 101005 eval "sed -n 's/^\(events\|lost\) //p' sums | paste -sd+ | bc" || return 1
  [ "$(payloads out/* | grep -c 'handlers:outer')" = 5 ]
}
check "a handler that fills its ring loses its own events, counted, and not the one it interrupts'" full_alternate_ring
check 'a storm of signals tears and loses nothing uncounted: overwrite' \
  accounts_for KYMO_BUFFER=16k -- -g -- -t 4 -n 300000 -m -a 100
check 'a storm of signals tears and loses nothing uncounted: discard' \
  accounts_for KYMO_BUFFER=64k KYMO_MODE=discard -- -- -t 4 -n 300000 -a 100
storm_with_saves() {
  fresh
  mkdir saves
  traced KYMO_BUFFER=16k "$bin/worker" -t 3 -n 300000 -m -a 100 -S saves -r 8 -c counters || return 1
  # what is overwritten while a save goes on leaves a gap, counted as every other loss is
  for trace in saves/*; do "$bin/check_trace" -q "$trace" || return 1; done
  "$bin/check_trace" -q -g -c counters out/*
}
check 'a storm of signals while the rings are saved' storm_with_saves

# ---- processes ----

forks_are_whole() { # forks_are_whole TRACES HOW…: each process its own trace and UUID, all events there
  local traces=$1
  shift
  fresh
  traced KYMO_BUFFER=1M "$bin/forks" counters "$@" || return 1
  [ "$(ls out | wc -l)" = "$traces" ] || { ls out; return 1; }
  [ "$(grep -h 'uuid = "' out/*/metadata | sort -u | wc -l)" = "$traces" ] || { echo 'a UUID is there twice'; return 1; }
  [ "$(grep -h 'vpid =' out/*/metadata | sort -u | wc -l)" = "$traces" ] || { echo 'a pid is there twice'; return 1; }
  "$bin/check_trace" -q -g -c counters out/* && babeltrace2 out/* >/dev/null
}
check 'a forked child records into its own trace' forks_are_whole 2 fork
check 'a forked child that records nothing has no trace' forks_are_whole 1 silent
check 'a child made by _Fork records into its own trace' forks_are_whole 2 _fork
check 'a child made by a bare clone records into its own trace' forks_are_whole 2 clone
check 'a child made by vfork and exec records into its own trace' forks_are_whole 2 vfork
check 'children of children record into traces of their own' forks_are_whole 4 chain
check 'pitfall 7: children made while other threads record' forks_are_whole 6 threads
check 'a child made by a handler in the middle of an event' forks_are_whole 2 handler
check 'all kinds of children of one process' forks_are_whole 15 fork _fork clone chain threads handler silent vfork fork

# ---- libraries ----

plugins_come_and_go() {
  local trace
  fresh
  gcc -O2 -Wall -Wextra -Werror -I"$KYMO_SOURCE/include" $sanitizer -DPLUGIN=1 -fPIC -shared "$programs/plugin.c" -o one.so -L"$KYMO_BUILD" -lkymo-trace &&
    gcc -O2 -Wall -Wextra -Werror -I"$KYMO_SOURCE/include" $sanitizer -DPLUGIN=2 -fPIC -shared "$programs/plugin.c" -o two.so -L"$KYMO_BUILD" -lkymo-trace &&
    build plugins || return 1
  traced "$bin/plugins" 50 ./one.so ./two.so || return 1
  for trace in saved out/*; do
    payloads "$trace" | sed 's/round = [0-9]*/round = N/' | sort | uniq -c | sed 's/^ *//' >kinds
    [ "$(cat kinds)" = '100 host:between: { round = N }
100 plugin:common: { round = N }
50 plugin:one: { round = N, text = "from the first" }
50 plugin:two: { text = "from the second", round = N }' ] || { cat kinds; return 1; }
    [ "$(grep -c '^event {' "$trace/metadata")" = 4 ] || { echo 'classes were described again'; return 1; }
  done
}
check 'pitfall 14: a library that is opened, records and is closed, fifty times' plugins_come_and_go
library_of_an_untraced_program() { # the only tracepoints are in a library that is loaded later
  fresh
  gcc -O2 -I"$KYMO_SOURCE/include" $sanitizer -DPLUGIN=1 -fPIC -shared "$programs/plugin.c" -o one.so -L"$KYMO_BUILD" -lkymo-trace -Wl,-rpath,"$KYMO_BUILD" || return 1
  cat >host.c <<'EOF'
#include <dlfcn.h>
int main(void) {
  void *library = dlopen("./one.so", RTLD_NOW);
  if (!library) return 2;
  ((void (*)(int))dlsym(library, "plugin_run"))(1);
  return dlclose(library);
}
EOF
  gcc host.c $sanitizer -o host -ldl || return 1
  traced ./host || return 1
  expect 'plugin:common plugin:one' event_names "$(the_trace)"
}
if [ -z "$sanitizer" ]; then # a sanitizer's runtime has to come first
  check 'a library loads the recorder into a program that does not use it' library_of_an_untraced_program
fi
cplusplus() {
  fresh
  build objects objects.cc g++ -std=c++17 "$programs/objects_other.cc" || return 1
  traced "$bin/objects" || return 1
  payloads "$(the_trace)" | sed -E 's/(object:argument: \{ ).*(text = ".*")/\1… \2/' | sort | uniq -c | sed 's/^ *//' >kinds
  cat >want <<'EOF'
500 object:argument: { … text = "a string of more than sixteen characters" }
1 life:begins: { }
1 object:caught: { caught = 500 }
1 object:inline_: { from = 1 }
1 object:inline_: { from = 2 }
1 object:lambda: { value = 6 }
1 object:scoped: { value = 5, yes = 1, null = "(null)" }
1 object:template_: { value = "three" }
1 object:template_: { value = 1 }
1 object:template_: { value = 2.5 }
1 object:template_: { value = 3 }
1 point:told: { x = 3, y = 4, sum = 7 }
EOF
  diff <(sort want) <(grep -v life:ends kinds | sort) && grep -q '^1 life:ends' kinds
}
check 'pitfall 8: C++: exceptions in arguments, static objects, templates, inline functions' cplusplus

exit 0
