#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Recording, saving and watching processes from outside: those that run, at full speed, and those that hang or are dead.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'recording running processes' 'the command kymo is not built'
  exit 77
fi
build_checker
for program in points worker; do must_build $program; done
programs=$control must_build many many.c gcc -O0 # half a thousand call sites are much to optimise
programs=$control must_build hang
cycles=200
[ -z "$sanitizer" ] || cycles=20

many_events() { "$kymo" cat -q -f babeltrace2 "$1" | python3 "$control/check_many.py" "${@:2}"; }

# ---- snapshots ----

# snapshot_of KIND: of a worker that records at full speed, everything from the start counted
snapshot_of() {
  local i
  fresh
  run_process KYMO_ENABLE='*' KYMO_SAVE=never KYMO_BUFFER=64k "$bin/worker" -t 4 -n 0 -m -c counters || return 1
  is_under_way() { [ -s counters ] && [ "$(od -An -v -t u8 -N 8 counters)" -gt 5000 ]; }
  until_true is_under_way || return 1
  case $1 in
    stopped) stop_process || return 1 ;;
    killed) end_process ;;
    zombie) kill -9 $pid ;; # its parent has not waited for it
  esac
  for i in 1 2; do
    "$kymo" snapshot $pid -o out$i 2>said || { cat said; return 1; }
    "$bin/check_trace" -q -g -k -c counters out$i && babeltrace2 -o dummy out$i || return 1
  done
  grep -qE "^kymo snapshot: trace in out2: $(sum_of events out2) events, 0 lost(, [1-9][0-9]* overwritten)?$" said || { cat said; return 1; }
  # its end is known as long as its parent has not waited for it, which the shell may do in between
  diff -r -x clocks -x cause out1 out2 && [ -d "$(rings_of $pid)" ] || return 1
  [ $1 = killed ] || end_process
}
check 'kymo snapshot of a process stopped by SIGSTOP: every event is there, overwritten, or counted' snapshot_of stopped
check 'kymo snapshot of a process killed by SIGKILL' snapshot_of killed
check 'kymo snapshot of a process that is dead and was not waited for' snapshot_of zombie
snapshots_at_full_speed() {
  local i
  fresh
  start_process KYMO_ENABLE='*' KYMO_BUFFER=16k "$bin/worker" -t 4 -n 0 -m -a 500 || return 1
  for ((i = 0; i < 20; i++)); do
    # it may have gaps: threads at full speed overwrite what a reader that has to wait for a processor was about to copy
    may_lose "$kymo" snapshot -q $pid -o out$i && "$bin/check_trace" -q out$i || return 1
  done
  end_process
}
check 'kymo snapshot, again and again, of threads and handlers at full speed: nothing torn is ever shown' snapshots_at_full_speed
hangs() {
  local how
  for how in handler deadlock pause; do
    fresh
    start_process KYMO_ENABLE='*' "$bin/hang" $how && until_true grep -q ready printed || return 1
    "$kymo" snapshot -q $pid -o out || return 1
    "$kymo" cat -q out | grep -c 'hang:' >count
    case $how in handler) grep -qx 11 count ;; deadlock) grep -qx 12 count ;; pause) grep -qx 10 count ;; esac || { cat count; return 1; }
    "$kymo" disable $pid hang >/dev/null || return 1 # it can even be switched
    end_process
  done
  fresh
  run_process KYMO_ENABLE='*' "$bin/hang" abort
  wait $pid
  "$kymo" snapshot -q $pid -o out && [ "$(count_events out)" = 10 ]
}
check 'kymo snapshot of a process that spins in a handler, is deadlocked, or has aborted' hangs
last_part() {
  fresh
  start_process KYMO_ENABLE='*' KYMO_SAVE=never "$bin/worker" -t 3 -n 0 -w 50 -a 2000 || return 1
  has_events() { [ "$(count_events "$(rings_of $pid)")" -gt 3000 ]; }
  until_true has_events || return 1
  end_process
  local rings=$(rings_of $pid) time
  for time in 1us 700us 20ms 100ms; do
    # handlers that interrupt handlers may lose events
    may_lose "$kymo" snapshot -q $pid --last $time -o out$time && "$bin/check_trace" -q out$time || return 1
    "$kymo" cat -q -f babeltrace2 --begin=-$time "$rings" | payload_of >want
    "$kymo" cat -q -f babeltrace2 out$time | payload_of >got
    [ -s want ] && cmp want got || { wc -l want got; return 1; }
  done
  may_lose "$kymo" snapshot -q $pid --last 1h -o all && may_lose "$kymo" snapshot -q "$rings" -o whole && diff -r -x clocks all whole
}
payload_of() { sed -E 's/ [^ ]*: \{ first_event = [^}]*\},/:/; s/^(\[[^]]*\]) \([^)]*\)/\1/'; }
check 'kymo snapshot --last: exactly the events from that time on' last_part
# covers TIME TEXT: what is said of a snapshot of the last TIME; nothing without TEXT
covers() {
  rm -rf last
  "$kymo" snapshot "$rings" --last "$1" -o last 2>said || { cat said; return 1; }
  [ "$(sed 1d said)" = "${2:+kymo snapshot: it covers $2}" ] || { echo "expected ${2:-nothing}"; cat said; return 1; }
}
# overwritten_of DIRECTORY: the number of overwritten events that kymo info reports
overwritten_of() { "$kymo" info --json "$1" | jq '.traces[0].overwritten_events'; }
# leaves_rings [NAME=VALUE…] PROGRAM…: $rings, and $length, the seconds from their first to their last event
leaves_rings() {
  fresh
  env KYMO_ENABLE='*' KYMO_SAVE=never KYMO_RINGS="$PWD/rings" "$@" >printed && rings=$(echo "$PWD"/rings/*) || return 1
  length=$("$kymo" info "$rings" | sed -n 's/^duration  *//p')
}
coverage() {
  local rings length
  leaves_rings KYMO_BUFFER=16k "$bin/worker" -t 1 -n 20000 || return 1
  covers 1h "$length of all threads, not 1h: older events were overwritten; larger rings (KYMO_BUFFER, or --buffer of kymo record) keep more" || return 1
  [ "$(overwritten_of last)" -gt 10000 ] && covers 0ns && [ "$(overwritten_of last)" = 0 ] || return 1
  leaves_rings "$bin/points" && covers 1h "$length, not 1h: no older event was recorded" && [ "$(overwritten_of last)" = 0 ]
}
check 'kymo snapshot --last: prints how much it covers if that is less' coverage
# exits_like_cat STATUS: kymo snapshot of $rings, with and without words, and kymo cat of what it saved; words go to ./said and ./words
exits_like_cat() {
  rm -rf out
  "$kymo" snapshot -q "$rings" -o out 2>said
  [ $? = "$1" ] && [ ! -s said ] || { echo "kymo snapshot -q does not exit with $1 alone"; cat said; return 1; }
  rm -rf out
  "$kymo" snapshot "$rings" -o out 2>said
  [ $? = "$1" ] || { echo "kymo snapshot does not exit with $1"; cat said; return 1; }
  "$kymo" cat out >events 2>words
  [ $? = "$1" ] || { echo "kymo cat does not exit with $1"; cat words; return 1; }
}
# lost_said FILE COMMAND: how many events are lost
lost_said() { sed -nE "s/^kymo $2: the trace is incomplete: ([1-9][0-9]*) events are lost(, .*)?$/\1/p" "$1"; }
snapshot_losses() {
  local rings length
  leaves_rings KYMO_MODE=discard KYMO_BUFFER=16k "$bin/worker" -t 2 -n 20000 && exits_like_cat 1 || return 1
  [ "$(lost_said said snapshot)" -gt 10000 ] && expect "$(lost_said said snapshot)" lost_said words cat || { cat said words; return 1; }
  grep -q " events, $(lost_said words cat) lost$" said || { cat said; return 1; }
  leaves_rings KYMO_BUFFER=16k "$bin/worker" -t 2 -n 20000 && exits_like_cat 0 || return 1
  expect "$(overwritten_of out)" sed -nE 's/.* 0 lost, ([0-9]+) overwritten$/\1/p' said || return 1
  # 200 events that are too large, most of them before the first packet that is kept
  leaves_rings KYMO_BUFFER=16k "$bin/worker" -t 1 -n 20000 -l 70000 && exits_like_cat 1 && expect 200 lost_said said snapshot
}
check 'kymo snapshot exits with 1 and reports it if events were discarded; overwritten older ones are no loss' snapshot_losses
snapshot_refusals() {
  fresh
  refuses 3 'kymo snapshot: there are no rings of a process 4194303' "$kymo" snapshot 4194303 || return 1
  start_process "$bin/points" wait || return 1
  refuses 3 "kymo snapshot: there are no rings of a process $pid" "$kymo" snapshot $pid -o out || return 1
  "$kymo" enable $pid '*' >/dev/null && mkdir full && touch full/file || return 1
  refuses 3 'kymo snapshot: full: cannot make the directory: Directory not empty' "$kymo" snapshot $pid -o full || return 1
  refuses 3 'kymo snapshot: full/file/out: cannot make the directory: Not a directory' "$kymo" snapshot $pid -o full/file/out || return 1
  "$kymo" snapshot $pid -o out --ctf 2 2>said && grep -q ': 0 events, 0 lost' said && "$kymo" info out >info || return 1
  end_process
}
check 'kymo snapshot: what cannot be saved is refused' snapshot_refusals

# ---- recording ----

# for_all_threads COMMAND...: runs it with longer and longer durations, until the four threads have events in counts: beside
# other work a thread may wait for a processor for longer than the first ones.
for_all_threads() {
  local duration
  for duration in 100ms 300ms 1s 3s 10s 30s; do
    "$@" $duration || return 1
    [ "$(wc -w <counts)" != 4 ] || return 0
  done
  echo "not all threads have events:"; cat counts
  return 1
}
record_p1() {
  rm -rf out1
  may_lose "$kymo" record -q -p $pid -o out1 -e 'many:p1*' --duration "$1" && "$bin/check_trace" -q out1 && many_events out1 100 199 >counts
}
full_load() { # 100 of 500 tracepoints, four threads; then other ones; then none
  fresh
  start_process KYMO_BUFFER=1M "$bin/many" -t 4 || return 1
  for_all_threads record_p1 || return 1
  "$kymo" enable $pid 'many:p2*' >/dev/null && may_lose "$kymo" snapshot -q $pid -o out2 --last 1ms && many_events out2 200 299 switched >counts || return 1
  "$kymo" disable $pid many >/dev/null || return 1
  total() { "$kymo" stat $pid --once -i 100ms --json | jq -c '[.events, .lost]'; }
  has_stopped() { expect "$(total)" total; } # events that had begun may follow
  until_true has_stopped || return 1
  end_process
}
check '500 tracepoints, 4 threads at full load: those that are switched on are recorded whole, the others stop' full_load
record_p3() {
  rm -rf out
  "$kymo" record -p $pid -o out -e 'many:p3*' --duration "$1" 2>said && grep -q ' 0 lost$' said || { cat said; return 1; }
  many_events out 300 399 whole >counts
}
without_loss() {
  fresh
  start_process "$bin/many" -t 4 -w 2000 || return 1
  for_all_threads record_p3 && babeltrace2 -o dummy out || return 1
  end_process
}
check 'kymo record -p: no event between the first and the last is missing' without_loss
attach_again_and_again() {
  local i seen=0
  fresh
  start_process KYMO_BUFFER=64k KYMO_ENABLE='many:p007' KYMO_SAVE=never "$bin/many" -t 2 || return 1
  for ((i = 0; i < cycles; i++)); do
    rm -rf out
    may_lose "$kymo" record -q -p $pid -o out -e 'many:p4*' --duration 5ms || return 1
    [ $((i % (cycles / 10))) = 0 ] || continue
    "$bin/check_trace" -q out && may_lose "$kymo" cat -q out >text || return 1
    ! grep -q 'many:p4' text || seen=$((seen + 1)) # so short a time may pass without a thread of theirs running
  done
  [ $seen -gt 0 ] || { echo 'nothing was ever recorded'; return 1; }
  expect overwrite "$kymo" mode $pid && expect 1 on_in $pid || return 1
  may_lose "$kymo" snapshot -q $pid -o after --last 100us && "$kymo" cat -q after | grep 'many:' | grep -qv 'many:p007' && { echo 'more than before is recorded'; return 1; }
  [ "$(grep -c . /proc/$pid/maps)" -lt 200 ] && [ "$(ls /proc/$pid/task | wc -l)" = 4 ]
  end_process
}
check "kymo record -p: attach and detach $cycles times, and the process is as it was" attach_again_and_again
advice() { # the recorder is stopped while the rings are filled
  local recorder
  fresh
  start_process KYMO_BUFFER=16k "$bin/many" -t 2 || return 1
  "$kymo" record -p $pid -o out >printed 2>recorded &
  recorder=$!
  started+=($recorder)
  is_recorded() { "$kymo" list | grep -qE "^ *$pid +500 +500 .* discard, recorded by $recorder"; }
  has_lost() { [ "$("$kymo" stat $pid --once -i 1ms --json | jq .lost)" -gt 100000 ]; }
  until_true is_recorded && kill -STOP $recorder && until_true has_lost && kill -CONT $recorder && kill -INT $recorder || return 1
  wait $recorder
  expect 1 echo $? && expect 1 grep -cE '^kymo record: [1-9][0-9.]* % of the events found their ring full: use larger rings \(KYMO_BUFFER=SIZE when the program starts\), record less \(-e PATTERN\), or keep the newest events instead of the oldest \(--mode overwrite\)$' recorded || { cat recorded; return 1; }
  end_process
}
check 'kymo record -p: losses of full rings: one line says the remedy' advice
earlier_losses() { # the trace of a recording, or of a last time, counts what it has lost itself
  local recorded=0 said_by_cat=0
  fresh
  start_process KYMO_MODE=discard KYMO_BUFFER=16k KYMO_ENABLE='*' KYMO_SAVE=never "$bin/many" -t 2 -w 1000 || return 1
  has_lost() { [ "$("$kymo" stat $pid --once -i 1ms --json | jq .lost)" -gt 100 ]; }
  until_true has_lost || return 1
  "$kymo" record -p $pid -o out --duration 300ms 2>recorded || recorded=$?
  "$kymo" cat out >text 2>words || said_by_cat=$?
  expect $recorded echo $said_by_cat && grep -q "events, $([ $recorded = 0 ] && echo 0 || lost_said words cat) lost$" recorded || { cat recorded words; return 1; }
  [ $recorded = 1 ] || [ ! -s words ] || { cat words; return 1; }
  end_process
}
check 'what was lost before a recording is not lost by it' earlier_losses
second_recorder() {
  local first
  fresh
  start_process "$bin/many" -w 1000 || return 1
  "$kymo" record -q -p $pid -o out1 &
  first=$!
  started+=($first)
  is_recorded() { "$kymo" list | grep -q "^ *$pid .* recorded by $first"; }
  has_events() { [ "$("$kymo" stat $pid --once -i 1ms --json | jq .events)" -gt 0 ]; }
  until_true is_recorded && until_true has_events || return 1
  refuses 3 "kymo record: process $pid is being recorded by process $first" "$kymo" record -p $pid -o out2 || return 1
  refuses 3 "kymo mode: process $pid is being recorded by process $first" "$kymo" mode $pid overwrite || return 1
  [ ! -e out2 ] && kill -INT $first && wait $first && [ "$(count_events out1)" -gt 0 ] || return 1
  "$kymo" record -q -p $pid -o out2 --duration 50ms || return 1
  end_process
  fresh
  "$kymo" record -q -o out1 -- "$bin/worker" -n 0 -w 1000 &
  first=$!
  started+=($first)
  child() { pgrep -P $first; }
  until_true child && pid=$(child) && started+=($pid) && until_true listens $pid || return 1
  is_known() { "$kymo" list | grep -q "^ *$pid .* recorded by $first"; }
  until_true is_known || return 1
  refuses 3 "kymo record: process $pid is being recorded by process $first" "$kymo" record -p $pid -o out2 || return 1
  kill -9 $pid
  wait $first
  [ $? = 137 ]
}
check "pitfall 10: a second recorder is refused by the first one's number" second_recorder
recorder_dies() {
  local first
  fresh
  start_process "$bin/many" -w 1000 || return 1
  "$kymo" record -q -p $pid -o out &
  first=$!
  started+=($first)
  is_on() { [ "$(on_in $pid)" = 500 ]; }
  until_true is_on || return 1
  kill -9 $first
  is_as_before() { [ "$(on_in $pid)" = 0 ] && [ "$("$kymo" mode $pid)" = overwrite ]; }
  until_true is_as_before || return 1
  until_true has_record $pid 1 || return 1
  end_process
}
check 'a recorder that is killed: the process returns to its earlier state' recorder_dies
process_ends() { # process_ends HOW: while it is recorded
  local first
  fresh
  start_process KYMO_ENABLE="$2" KYMO_BUFFER=1M HOME="$case_dir/home" "$bin/worker" -t 2 -n 8000 -w 100 -k 6000 -e $1 || return 1
  "$kymo" record -p $pid -o out 2>recorded &
  first=$!
  started+=($first)
  wait $pid
  wait $first || { cat recorded; return 1; }
  grep -q ' 0 lost$' recorded && "$bin/check_trace" -q out && babeltrace2 out | grep -q 'thread = 0, seq = 5999,' || { cat recorded; babeltrace2 out | tail -1; return 1; }
  [ -z "$(rings_of $pid)" ] && [ ! -e home ] || { echo 'something is left'; ls home; return 1; }
}
check 'a process that ends while it is recorded: the trace is whole, no rings stay' process_ends return none
check 'a process that is killed while it is recorded' process_ends kill none
check 'a process that would have saved its rings at exit leaves them to the recorder' process_ends return '*'
record_options() {
  fresh
  refuses 2 "kymo record: expected a command or -p, found both
Try \`kymo record --help' or \`kymo record --usage' for more information." "$kymo" record -p 1 true || return 1
  refuses 2 "kymo record: --buffer is for commands, not for a running process
Try \`kymo record --help' or \`kymo record --usage' for more information." "$kymo" record -p 1 --buffer 1M || return 1
  refuses 2 "kymo record: --duration is a time like 10s, not \"soon\"
Try \`kymo record --help' or \`kymo record --usage' for more information." "$kymo" record -p 1 --duration soon || return 1
  refuses 3 'kymo record: there is no process 4194303' "$kymo" record -p 4194303 || return 1
  start_process "$bin/many" -w 1000 || return 1
  refuses 3 'kymo record: a parenthesis that is not closed' "$kymo" record -p $pid -o out -e 're:(' || return 1
  [ ! -e out ] && expect 0 on_in $pid && "$kymo" record -q -p $pid -o out --mode overwrite --ctf 2 --duration 100ms && many_events out 0 499 whole >counts
  end_process
}
check 'kymo record -p: options that make no sense are refused; --mode, --ctf' record_options

# ---- watching ----

watching() {
  fresh
  start_process KYMO_MODE=discard KYMO_BUFFER=16k "$bin/many" -t 2 || return 1
  refuses 3 "kymo stat: process $pid (many) has no rings: no tracepoint was ever enabled" "$kymo" stat $pid || return 1
  "$kymo" enable $pid many:p001 >/dev/null || return 1
  is_full() { "$kymo" stat $pid --once -i 20ms --json >one && jq -e '.lost > 0 and .lost_per_second > 0 and .events_per_second == 0' one; }
  until_true is_full || { cat one; return 1; }
  jq -e '(.threads | length) == 2 and ([.threads[].events] | add) == .events and .mode == "discard" and .program == "many" and
    .buffer_used_bytes <= .buffer_bytes and .buffer_used_bytes > .buffer_bytes * 0.9' one >/dev/null || { cat one; return 1; }
  "$kymo" mode $pid overwrite || return 1
  is_fast() { "$kymo" stat $pid --once -i 20ms --json >one && jq -e '.events_per_second > 0 and .lost_per_second == 0 and .overwritten > 0' one; }
  until_true is_fast || { cat one; return 1; }
  stop_process || return 1
  "$kymo" stat $pid --once -i 10ms >text && grep -qE "^process $pid \(many\), overwrite$" text && grep -qE '^ +all .* 0 +[0-9]+ +0 +[0-9]+%$' text || { cat text; return 1; }
  kill -CONT $pid
  script -qec "'$kymo' stat -i 10ms $pid" /dev/null </dev/null >screen &
  local watcher=$!
  "$kymo" stat -i 10ms $pid >piped 2>said &
  local piped=$!
  twice() { [ "$(grep -c $'\x1b\\[H\x1b\\[J' screen)" -ge 2 ]; }
  until_true twice && until_true test -s piped || return 1
  end_process
  wait $watcher && wait $piped || return 1
  ! grep -q 'Ctrl-C' screen && expect 'kymo stat: until the process ends: Ctrl-C stops it earlier, --once prints one table' cat said
}
drained() { # what was read and then reused was not overwritten
  fresh
  start_process KYMO_MODE=discard KYMO_BUFFER=64k "$bin/many" -t 2 -w 2000 || return 1
  "$kymo" record -q -p $pid -o out &
  local recorder=$!
  is_reused() { "$kymo" stat $pid --once -i 20ms --json >one 2>/dev/null && jq -e '.events > 20000' one; }
  until_true is_reused && jq -e '.overwritten == 0 and .mode == "discard"' one >/dev/null || { cat one; return 1; }
  end_process
  may_lose wait $recorder
}
check 'kymo stat: nothing is overwritten in rings that are drained' drained
check 'kymo stat: rates, losses and how full rings are; ends with the process' watching

exit 0
