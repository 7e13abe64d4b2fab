#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo record: runs a command, passes on its exit status and its signals, and leaves a whole trace however it ends.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'kymo record' 'the command kymo is not built'
  exit 77
fi
build_checker
for program in worker points forks signals; do must_build $program; done
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0"

# records STATUS RECORD OPTIONS -- COMMAND…: its exit status, but 1 instead of 0 if events are lost; words go to ./said
records() {
  local want=$1 status
  shift
  "$kymo" record "$@" 2>said
  status=$?
  [ "$want" = 0 ] && grep -qE ', [1-9][0-9]* lost' said && want=1
  [ $status = "$want" ] || { echo "exit code $status instead of $want"; cat said; return 1; }
}
nothing_is_left() { [ -z "$(ls -A "$TMPDIR/rings" 2>/dev/null)" ] && ! ls -d "$XDG_RUNTIME_DIR"/kymo/record-* 2>/dev/null; }

# ---- statuses ----

statuses() {
  local n
  fresh
  for n in 0 1 3 42 255; do records $n -o out$n -- sh -c "'$bin/points'; exit $n" || return 1; done
  for n in 0 42; do [ "$(sum_of events out$n)" = 7 ] || return 1; done
  nothing_is_left
}
check "the exit status is the command's" statuses
deaths() {
  local end status
  for end in segv:139 abort:134 kill:137 _exit:0 exit:0 return:0; do
    status=${end#*:} end=${end%:*}
    fresh
    records $status -o out --buffer 64k -- "$bin/worker" -t 4 -n $([ $end = return ] && echo 30000 || echo 0) -m -k 30000 -e $end -c counters || return 1
    "$bin/check_trace" -q -k -c counters out && said_of out && babeltrace2 -o dummy out 2>bt2 || { echo "$end"; head -3 bt2; return 1; }
    nothing_is_left || return 1
  done
}
said_of_crash() { # a shell does not report it, since the command is not its child
  local end pid
  for end in segv:'Segmentation fault' kill:Killed _exit: exit:; do
    fresh
    "$kymo" record -o out -- "$bin/worker" -t 2 -n 100 -k 10 -e ${end%:*} 2>said
    pid=$("$kymo" info --json out | jq -r '.traces[0].environment.vpid')
    expect "${end#*:}" eval "sed -n 's/^kymo record: worker (process $pid): //p' said" &&
      expect "${end#*:}" eval "'$kymo' info out | sed -n 's/^  cause  *worker (process $pid): //p'" || { cat said; return 1; }
  done
  records 137 -q -o quiet -- "$bin/worker" -t 2 -n 100 -k 10 -e kill && [ ! -s said ] || { cat said; return 1; }
}
check 'of a command that crashes, it is said and noted by which signal' said_of_crash
check 'however the command ends, the trace is whole and the status is that of the command' deaths
killed_from_outside() {
  local pid
  for signal in KILL TERM; do
    fresh
    "$kymo" record -o out -- "$bin/worker" -t 4 -n 0 -m -c counters 2>said &
    pid=$!
    until_true has_counted 5000 || return 1
    kill -$signal $(pgrep -P $pid)
    wait $pid
    [ $? = $((128 + $(kill -l $signal))) ] || { cat said; return 1; }
    "$bin/check_trace" -q -k -c counters out && said_of out || return 1
  done
}
check 'a command that is killed from outside leaves a whole trace' killed_from_outside
many_deaths() {
  for ((i = 0; i < 12; i++)); do
    fresh
    records 137 -q -o out --buffer $((16 << i % 4))k -- "$bin/worker" -t 4 -n 0 -m -k $((1000 + RANDOM)) -e kill -c counters || return 1
    "$bin/check_trace" -q -k -c counters out || return 1
  done
}
check 'kill -9 at full speed under kymo record, again and again' many_deaths
cannot_run() {
  fresh
  records 127 -o out no-such-command && grep -q 'cannot run no-such-command: No such file' said && [ ! -e out ] || return 1
  records 127 -o out ./no/such/command && [ ! -e out ] || return 1
  touch plain
  records 126 -o out ./plain && grep -q 'cannot run ./plain: Permission denied' said && [ ! -e out ] || return 1
  records 126 -o out "$case_dir" && [ ! -e out ] || return 1
  nothing_is_left
}
check 'a command that cannot be run: 127 or 126, and no files are left' cannot_run
wrong_places() {
  fresh
  mkdir full && touch full/file file
  records 3 -o full "$bin/points" && grep -q 'full' said && [ "$(ls full)" = file ] || return 1
  records 3 -o file "$bin/points" && [ -f file ] || return 1
  records 3 -o file/below "$bin/points" || return 1
  records 3 -o /proc/none "$bin/points" || return 1
  KYMO_RINGS=$case_dir/file/rings records 3 -o out "$bin/points" && grep -q 'no directory for rings' said || return 1
  [ ! -e out ] && mkdir empty && records 0 -o empty "$bin/points" && [ "$(sum_of events empty)" = 7 ]
}
check '-o: a directory that is not empty or cannot be written is refused with 3, an empty one is taken' wrong_places
unreadable_rings() { # of one process; what the other recorded is there
  fresh
  records 1 -o out sh -c 'mkdir -p "$KYMO_RINGS/x-1"; printf %5000s | tr " " x >"$KYMO_RINGS/x-1/rings"; "$0"' "$bin/points" ||
    return 1
  grep -qE 'x-1/rings: byte 0: expected the magic of a pool of rings, found 0x7878787878787878$' said && [ "$(sum_of events out)" = 7 ] || { cat said; return 1; }
  rings=$(sed -n 's/.* still in //p' said)
  [ -e "$rings/x-1/rings" ] && rm -r "$rings" || { cat said; return 1; }
  fresh # processes that were killed before their rings were ready
  records 0 -o out sh -c 'for i in 1 2 3; do mkdir -p "$KYMO_RINGS/x-$i"; done; : >"$KYMO_RINGS/x-1/rings"
    head -c 5000 /dev/zero >"$KYMO_RINGS/x-2/rings"; "$0"' "$bin/points" && [ "$(sum_of events out)" = 7 ] || return 1
  rings=$(sed -n 's/.* still in //p' said)
  [ -z "$rings" ] || rm -r "$rings"
}
check 'rings that cannot be opened in the end are an error and are kept, unfinished ones are not' unreadable_rings
wrong_options() {
  fresh
  records 2 && grep -q 'expected a command' said || return 1
  records 2 --mode sideways true && grep -q sideways said || return 1
  records 2 --buffer 3 true && grep -q '"3"' said || return 1
  records 2 --no-such-option true || return 1
}
check 'options that make no sense are refused with 2' wrong_options

# ---- what is recorded ----

patterns() {
  fresh
  records 0 -o out -e net -e '!net:tx' -e 'disk:r*' -- "$bin/points" && [ "$(event_names out)" = 'disk:read net:error net:rx' ] || { event_names out; return 1; }
  records 0 -o all -- "$bin/points" && said_of all && [ "$(sum_of events all)" = 7 ]
}
check '-e chooses tracepoints, several times; all without it' patterns
arguments_are_the_commands() {
  fresh
  records 0 -o out -- "$bin/points" -o x --mode y evaluated >printed && [ "$(cat printed)" = "$(printf -- '-o\nx\n--mode\ny\n7')" ] || { cat printed; return 1; }
  records 0 -o out2 "$bin/points" -q >printed && [ "$(cat printed)" = -q ] && [ -s said ]
}
check "the command's arguments are its own" arguments_are_the_commands
input_and_output() {
  fresh
  printf 'some\ninput\n' | records 0 -o out -- sh -c 'cat; echo error >&2' >printed && [ "$(cat printed)" = "$(printf 'some\ninput')" ] &&
    grep -qx error said
}
check "the command's input and output are its own" input_and_output
overwrite() {
  fresh
  records 0 -o out --mode overwrite --buffer 16k -- "$bin/worker" -t 3 -n 20000 -m -c counters || return 1
  "$bin/check_trace" -g -c counters out >sums && grep -qE ' 0 lost, [1-9][0-9]* overwritten' said || { cat said; return 1; }
  [ "$(sed -n 's/^overwritten //p' sums)" = "$(sed -n 's/.* \([0-9]*\) overwritten.*/\1/p' said)" ]
}
check '--mode overwrite keeps the end, and counts what went' overwrite
# not_kept OVERWRITTEN DISCARDED [TRACE]: what kymo info prints for the trace, or for the one in out
not_kept() {
  local trace=${3:-out}
  "$kymo" info "$trace" >info
  grep -qE "^  not kept +$1 events overwritten, $2 discarded before the first packets$" info || { echo "$trace, not $1 and $2"; cat info; return 1; }
  "$kymo" info --json "$trace" | jq -e ".traces[0] | .overwritten_events == $1 and .discarded_before == $2" >/dev/null
}
info_of_overwritten() {
  fresh
  records 0 -o out --mode overwrite --buffer 16k -- "$bin/worker" -t 3 -n 20000 -m || return 1
  not_kept "$(sum_of overwritten out)" 0 || return 1
  fresh
  records 0 -o out --mode overwrite --ctf 2 -- "$bin/points" && not_kept 0 0 || return 1
  fresh # of 200 events that are too large most come before the first packet that is kept
  records 0 -o out --mode overwrite --buffer 16k -- "$bin/worker" -t 1 -n 20000 -l 70000 && grep -q ', 200 lost, ' said && "$kymo" info --json out >info
  jq -e '.traces[0] | .discarded_before > 100 and .discarded_before + ([.streams[].lost_events] | add) == 200' info >/dev/null || { cat said info; return 1; }
  fresh # the program saves its own rings
  KYMO_ENABLE='*' KYMO_OUT=. KYMO_BUFFER=16k "$bin/worker" -t 1 -n 20000 -s out && not_kept "$(sum_of overwritten out)" 0 || return 1
  fresh
  records 0 -o out -- "$bin/points" && "$kymo" info out >info && ! grep -q 'not kept' info
}
check 'kymo info of a trace of overwritten rings prints how many events were not kept' info_of_overwritten
not_kept_is_carried() { # … by what is made of the trace, and rings say it as the trace that is made of them does
  local overwritten rings
  fresh
  KYMO_RINGS=$PWD/rings KYMO_ENABLE='*' KYMO_SAVE=never KYMO_BUFFER=16k "$bin/worker" -t 1 -n 20000 -l 70000 && rings=$(echo "$PWD"/rings/*) || return 1
  may_lose "$kymo" snapshot -q "$rings" -o out || return 1
  overwritten=$("$kymo" info --json out | jq '.traces[0].overwritten_events') discarded=$("$kymo" info --json out | jq '.traces[0].discarded_before')
  [ "$overwritten" -gt 10000 ] && [ "$discarded" -gt 100 ] && not_kept $overwritten $discarded "$rings" || return 1
  may_lose "$kymo" convert -q -o same out && cmp out/.kymo/not-kept same/.kymo/not-kept && may_lose "$kymo" convert -q --to ctf2 -o same2 "$rings" || return 1
  not_kept $overwritten $discarded same2 || return 1
  records 0 -o other --mode overwrite --buffer 16k -- "$bin/worker" -t 2 -n 20000 || return 1
  may_lose "$kymo" merge -q -o both out other && not_kept $((overwritten + $("$kymo" info --json other | jq '.traces[0].overwritten_events'))) $discarded both || return 1
  may_lose "$kymo" convert -q -o several out other && not_kept $overwritten $discarded several/out || return 1
  records 0 -o third -- "$bin/points" && may_lose "$kymo" convert -q -o whole third && [ ! -e whole/.kymo/not-kept ]
}
check 'convert and merge report it too, and so does kymo info of rings' not_kept_is_carried
info_of_odd_notes() { # whatever is there instead of the note, kymo info goes on
  local note
  fresh
  records 0 -o out --mode overwrite -- "$bin/points" && note=out/.kymo/not-kept && [ -f $note ] || return 1
  for text in '' overwritten 'overwritten x' "overwritten 1 discarded -$(printf '%0100d' 7)x" "$(head -c 100000 /dev/zero | tr '\0' 9)"; do
    printf %s "$text" >$note
    may_lose "$kymo" info out >info && grep -q '^events  *7$' info || { cat info; return 1; }
  done
  rm $note && mkfifo $note || return 1
  timeout 20 "$kymo" info out >info 2>words
  [ $? = 1 ] && expect "kymo info: $note: not a regular file" cat words && grep -q '^events  *7$' info && ! grep -q 'not kept' info
}
check 'kymo info: a file with the number of lost events that is empty, no number, too large or a FIFO' info_of_odd_notes
advice_on_losses() { # the recorder is stopped while the rings are filled
  fresh
  records 1 -o out --buffer 16k -- sh -c 'kill -STOP $PPID; "$@"; kill -CONT $PPID' sh "$bin/worker" -t 2 -n 20000 || return 1
  said_of out && expect 1 grep -cE '^kymo record: [1-9][0-9.]* % of the events found their ring full: use larger rings \(--buffer SIZE\), record less \(-e PATTERN\), or keep the newest events instead of the oldest \(--mode overwrite\)$' said || { cat said; return 1; }
  fresh
  records 0 -q -o out --buffer 16k -- sh -c 'kill -STOP $PPID; "$@"; kill -CONT $PPID' sh "$bin/worker" -t 2 -n 20000
  [ ! -s said ] || { cat said; return 1; }
  fresh
  records 0 -o out -- "$bin/points" && expect 1 grep -c '' said
}
check 'losses of full rings: one line says the remedy' advice_on_losses
small_rings_are_drained() { # more than the ring holds, slowly enough for the process that empties it
  fresh
  records 0 -o out --buffer 64k -- "$bin/worker" -t 2 -n 3000 -w 500 -c counters || return 1
  "$bin/check_trace" -g -c counters out >sums && grep -q '^lost 0$' sums || { cat sums; return 1; }
}
check 'a ring that is too small for all is emptied while the command runs' small_rings_are_drained
rings_grow() { # 40 MB, for which the recorder need not be in time: rings grow to hold them
  fresh
  records 0 -o out -- "$bin/worker" -t 2 -n 400000 -c counters || return 1
  "$bin/check_trace" -g -c counters out >sums && grep -q '^lost 0$' sums && grep -q ' 0 lost' said || { cat sums said; return 1; }
}
check 'rings grow while they fill faster than they are emptied' rings_grow
rings_are_fixed() { # too small for the events of two threads before the recorder sees them, and all readers of the trace report that
  fresh
  records 1 -o out --buffer 16k -- "$bin/worker" -t 2 -n 400000 -c counters && said_of out || return 1
  local lost=$(sum_of lost out)
  for command in cat info check "stat counts" "stat counts --csv" "convert -o converted" "convert -o converted.cpel" "merge -o merged"; do
    "$kymo" $command out >read 2>words
    [ $? = 1 ] && grep -q "the trace is incomplete: $lost events are lost" read words || { echo "$command"; tail -1 read; cat words; return 1; }
    rm -rf converted converted.cpel merged
    "$kymo" $command -q out >read 2>words
    [ $? = 1 ] && [ ! -s words ] || { echo "$command -q"; cat words; return 1; }
    rm -rf converted converted.cpel merged
  done
  "$kymo" cat -f babeltrace2 out >read 2>words || { echo "like babeltrace2, cat -f babeltrace2 exits with 0"; return 1; }
  expect "{\"lost\":{\"events\":$lost,\"packets\":0,\"unknown\":0}}" tail -1 <("$kymo" stat counts --json out)
}
check '--buffer: rings stay as they are; record and all commands that read events exit with 1 if some are lost' rings_are_fixed
large_rings_lose_nothing() {
  fresh
  records 0 -o out --buffer 8M -- "$bin/worker" -t 4 -n 30000 -c counters || return 1
  "$bin/check_trace" -g -c counters out >sums && grep -q '^lost 0$' sums || { cat sums; return 1; }
}
check 'rings that are large enough lose nothing at full speed' large_rings_lose_nothing
full_speed() {
  fresh
  records 0 -o out --buffer 32k -- "$bin/worker" -t 4 -n 200000 -a 200 -c counters || return 1
  "$bin/check_trace" -q -c counters out && said_of out && babeltrace2 -o dummy out 2>/dev/null
}
check 'full speed and a storm of signals: recorded = written + lost' full_speed
many_threads() {
  fresh
  records 0 -o out --buffer 16k -- "$bin/worker" -t 3000 -n 4 -p -c counters || return 1
  "$bin/check_trace" -q -c counters out && said_of out || return 1
  fresh
  records 0 -o out --buffer 16k -- "$bin/worker" -t 1000 -n 20 -m -c counters || return 1
  "$bin/check_trace" -g -c counters out >sums && grep -q '^lost 0$' sums || { cat sums; return 1; }
}
check '1000 threads at once lose no event, 3000 one after the other lose none uncounted' many_threads
reads_equal() {
  fresh
  records 0 -o out --buffer 32k -- "$bin/worker" -t 3 -n 5000 || return 1
  same_as_babeltrace2 out || return 1
  "$bin/check_trace" -t -q <bt2.txt
}
check 'kymo cat prints what was recorded as babeltrace2 does, byte for byte' reads_equal

# ---- several processes ----

processes() {
  fresh
  records 0 -o out -- "$bin/forks" counters fork exec _fork chain clone threads handler vfork silent || return 1
  [ "$(ls out | wc -l)" = 16 ] && grep -q '16 processes' said || { ls out; cat said; return 1; }
  "$bin/check_trace" -q -g -c counters out/* && said_of out/* && babeltrace2 out >/dev/null && nothing_is_left
}
check 'each process has a trace of its own, exec and all' processes
short_processes() {
  fresh
  records 0 -o out -- sh -c "for i in \$(seq 60); do '$bin/points' & '$bin/points'; done; wait" || return 1
  [ "$(ls out | wc -l)" = 120 ] && [ "$(sum_of events out/*)" = 840 ] && said_of out/* && nothing_is_left
}
check 'many short processes, two at a time' short_processes
outlives() {
  fresh
  records 0 -o out -- sh -c "'$bin/worker' -n 0 -w 1000 -t 1 >/dev/null 2>&1 & echo \$! >pid; sleep 0.2" || return 1
  grep -q '1 process' said && grep -q 'still run' said || { cat said; return 1; }
  kill -9 "$(cat pid)"
  "$bin/check_trace" -q out && [ "$(sum_of events out)" -gt 10 ]
}
check 'a process that outlives the command: its events are in the trace, and a message reports it' outlives
begins_late() { # a daemon makes its rings when the recorder does not look any more
  fresh
  records 0 -o out -- sh -c "'$bin/points'; mkdir \"\$KYMO_RINGS/late-1\"" || return 1
  grep -q "^kymo record: the rings of processes that began while the command ended are still in .*/record-" said || { cat said; return 1; }
  rm -r "$(sed -n 's/.* still in //p' said)"
}
check 'a process that begins when the command ends: its rings stay, which is said' begins_late
nothing_recorded() {
  fresh
  records 5 -o out -- sh -c 'exit 5' && grep -q 'nothing was recorded' said && [ ! -e out ] || return 1
  records 0 -o out -e no:such -- "$bin/points" && grep -q 'nothing was recorded.*no:such' said && [ ! -e out ] &&
    records 0 -o out -e net:xr -- "$bin/points" && grep -qF 'matches net:xr (did you mean "net:rx"?)' said && nothing_is_left
}
check 'a command without tracepoints: said, no empty trace' nothing_recorded
quiet() {
  fresh
  records 0 -q -o out -- "$bin/points" && [ ! -s said ] || { cat said; return 1; }
}
check '-q prints nothing' quiet

# ---- places ----

places() {
  fresh
  mkdir home
  TZ=UTC HOME=$case_dir/home records 0 -- "$bin/points" || return 1
  ls home/kymo-traces | grep -qxE "points-$(TZ=UTC date +%Y-%m)-[0-9]{2}-[AP]M-(0[1-9]|1[0-2])-[0-5][0-9]-[0-5][0-9]" || { ls -R home; return 1; }
  KYMO_OUT=$case_dir/under records 0 -- "$bin/points" && ls under | grep -q '^points-' && grep -qF "$case_dir/under/points-" said || return 1
  records 0 -o a/b/c -- "$bin/points" && [ "$(sum_of events a/b/c)" = 7 ] || return 1
  KYMO_RINGS=$case_dir/rings records 0 -o with-rings -- "$bin/points" && [ -d rings ] && [ -z "$(ls rings)" ]
}
check 'where the trace goes without -o, with KYMO_OUT, and below directories that do not exist yet' places
settings_win() { # settings of the caller's environment do not reach the command
  fresh
  KYMO_ENABLE=net KYMO_MODE=overwrite KYMO_SAVE=always KYMO_BUFFER=16k records 0 -o out -- "$bin/points" && [ "$(sum_of events out)" = 7 ] && [ "$(ls | tr '\n' ' ')" = 'out said ' ]
}
check 'the options win over the variables of the caller' settings_win

# ---- signals ----

# signalled SIGNAL…: each sent once to kymo record alone
signalled() {
  local pid
  fresh
  "$kymo" record -o out -- "$bin/signals" $# >printed 2>said &
  pid=$!
  until_true grep -q ready printed || return 1
  for signal; do kill -"$signal" $pid; done
  wait $pid || { echo "exit code $?"; cat said; return 1; }
  expect "$(printf 'ready\n'; printf 'SIG%s 1\n' "$@")" cat printed && [ "$(sum_of events out)" = 1 ]
}
check 'signals sent to kymo record reach the command once' signalled HUP INT QUIT USR1 USR2 TERM
terminal_signals() { # terminal_signals BYTE SIGNAL: typed at a terminal whose foreground group holds both
  fresh
  python3 - "$kymo" "$bin/signals" "$1" "$2" <<'EOF'
import os, pty, select, sys, time
kymo, program, byte, signal = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(kymo, [kymo, 'record', '-o', 'out', '--', program])
seen, end, typed = '', time.monotonic() + 20, False
while time.monotonic() < end:
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    seen += chunk.decode()
    if 'ready' in seen and not typed:
        typed = True
        os.write(terminal, bytes([int(byte)]))
_, status = os.waitpid(pid, 0)
ok = f'SIG{signal} 1\r\n' in seen and os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 and '1 events' in seen
if not ok:
    print(repr(seen), status)
sys.exit(0 if ok else 1)
EOF
}
check 'pitfall 16: Ctrl-C at a terminal reaches the command once, and kymo record finishes the trace' terminal_signals 3 INT
check 'Ctrl-\ at a terminal reaches the command once, and kymo record finishes the trace' terminal_signals 28 QUIT
recorder_killed() { # the command goes on; its rings and the trace so far are readable
  local pid command
  fresh
  KYMO_RINGS=$case_dir/rings "$kymo" record -o out --buffer 64k -- "$bin/worker" -t 2 -n 3000 -w 200 -c counters 2>said &
  pid=$!
  until_true has_counted 1500 || return 1
  command=$(pgrep -P $pid)
  kill -9 $pid
  wait $pid 2>/dev/null
  until_true eval "! kill -0 $command" || { kill -9 "$command"; echo 'the command did not end'; return 1; }
  [ "$(od -An -v -t u8 -N 8 counters | tr -d ' ')" = 3000 ] || { echo 'the command did not go on'; return 1; }
  "$bin/check_trace" -q out/* && "$kymo" cat -q -f babeltrace2 rings/record-*/worker-* >text 2>/dev/null && "$bin/check_trace" -q -t <text && [ -s text ] || return 1
  "$kymo" clean --yes rings >said && [ -z "$(ls rings)" ] || { cat said; ls -R rings; return 1; }
}
check 'if kymo record is killed the command continues, its rings and the trace so far are readable' recorder_killed

exit 0
