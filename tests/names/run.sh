#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# What a stranger knows of a process is its name: rings are found by it, also those of the dead, which kymo list --dead shows with how
# they ended.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'rings by the name of their process' 'the command kymo is not built'
  exit 77
fi
must_build worker

# other suites leave rings of other names where root finds them
turn=0
# begin: an empty directory, where rings are that $name has; the program is elsewhere
begin() {
  fresh
  turn=$((turn + 1)) name=server$$x$turn
  mkdir programs && cp "$bin/worker" programs/$name
  export KYMO_RINGS=$case_dir/rings
}
# leaves END [NAME=VALUE…]: rings of a process that ended so; $dead
leaves() {
  local end=$1
  shift
  env KYMO_ENABLE='*' KYMO_SAVE=never KYMO_BUFFER=16k "$@" "programs/$name" -t 1 -n 100 -k 10 -e "$end" >printed 2>&1
  dead=$(ls -td rings/$name-* | head -1)
  dead=${dead##*-}
}
# lives: one that runs; $pid
lives() {
  start_process KYMO_ENABLE='*' KYMO_SAVE=never KYMO_BUFFER=16k "programs/$name" -t 1 -n 100 -e stop && until_true has_events $pid
}
has_events() { [ "$("$kymo" cat -q "$1" | grep -vc '^#')" -gt 0 ]; }
# dead_row PID: its row of kymo list --dead. A process elsewhere may have had the same number
dead_row() { "$kymo" list --dead | sed -n '/  END  /,$p' | grep -E "^ *$1 .*$case_dir/rings/"; }

# ---- kymo list --dead ----

ends() {
  local row
  begin
  leaves kill && row=$(dead_row $dead) && [[ $row =~ ^\ *$dead\ +[0-9]+\ (s|min)\ +[0-9.]+\ [KM]\ +$name\ +unknown:\ killed,\ or\ _exit\ +$case_dir/rings/$name-$dead$ ]] ||
    { echo "$row"; return 1; }
  leaves segv KYMO_CRASH=mark && row=$(dead_row $dead) && [[ $row == *"  Segmentation fault  "* || $row == *"  Segmentation fault in thread "* ]] || { echo "$row"; return 1; }
  leaves abort KYMO_CRASH=mark && row=$(dead_row $dead) && [[ $row == *"  Aborted"* ]] || { echo "$row"; return 1; }
  leaves return && row=$(dead_row $dead) && [[ $row == *"  exit  "* ]] || { echo "$row"; return 1; }
  leaves _exit && row=$(dead_row $dead) && [[ $row == *"unknown: killed, or _exit"* ]] || { echo "$row"; return 1; }
}
[ -z "$sanitizer" ] && check 'kymo list --dead: how each ended' ends
causes() { # as in a trace that kymo snapshot writes
  local cause
  begin
  caused() { expect "$1" eval "'$kymo' info $name | sed -n 's/^  cause  *//p'" && expect "$1" eval "'$kymo' info --json $name | jq -r '.traces[0].cause'"; }
  leaves abort KYMO_CRASH=mark && "$kymo" snapshot -q -o saved "$dead" 2>said
  cause=$("$kymo" info --json saved | jq -r '.traces[0].cause') && [[ $cause == "$name (process $dead): Aborted in thread "* ]] && caused "$cause" || return 1
  begin
  leaves kill && caused "$name (process $dead): unknown: killed, or _exit" || return 1
  begin
  leaves return && caused "$name (process $dead): exit" || return 1
  begin
  lives && expect null eval "'$kymo' info --json $pid | jq -r '.traces[0].cause'" && end_process
}
[ -z "$sanitizer" ] && check 'kymo info: how the process of dead rings ended' causes
of_one_process() { # among the events of several
  local first
  begin
  leaves return && first=$dead && leaves kill || return 1
  one() { "$kymo" cat -q --filter "$1" rings/$name-* | grep -vc '^#'; }
  expect 110 one "process = \"$name\"" && expect 100 one "pid = $first" && expect 10 one "pid <> $first AND process LIKE \"server*\"" && expect 0 one 'process = "other"'
}
check 'kymo cat --filter: the events of one process' of_one_process
zombie() { # its parent has not waited for it: the kernel still knows it
  begin
  cat >parent.py <<'P'
import os, sys, time
pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
print(pid, flush=True)
sys.stdin.read()
P
  KYMO_ENABLE='*' KYMO_SAVE=never python3 parent.py "programs/$name" -t 1 -n 100 -k 10 -e kill <"$idle" >printed 2>said &
  started+=($!)
  killed() { dead=$(head -1 printed) && [ -n "$dead" ] && dead_row "$dead" | grep -q '  Killed  '; }
  until_true killed || { dead_row "$dead"; return 1; }
  "$kymo" snapshot -o zombie "$dead" 2>said && grep -x "kymo snapshot: process $dead died: Killed" said || { cat said; return 1; }
  expect "$name (process $dead): Killed" eval "'$kymo' info --json zombie | jq -r '.traces[0].cause'"
  expect "kymo enable: process $dead ($name) has ended; kymo snapshot saves what its rings hold" eval "'$kymo' enable $dead '*' 2>&1"
}
check 'kymo list --dead: a process that its parent has not waited for' zombie
living_and_dead() {
  local lines
  begin
  lives && leaves kill || return 1
  "$kymo" list --dead >list && sed '/^$/,$d' list | grep -qE "^ +$pid +[0-9]+ +[0-9]+  $name  " && ! dead_row $pid && dead_row $dead >/dev/null || { cat list; return 1; }
  "$kymo" list --dead --brief >list && grep -qx $pid list && grep -qx $dead list && ! grep -qv '^[0-9]*$' list || { cat list; return 1; }
  "$kymo" list >list 2>said && grep -qE "^ +$pid " list && ! grep -q "$dead" list && grep -qE '^kymo list: [0-9]+ dead process(es)? ha(s|ve) left rings: kymo list --dead lists them$' said || { cat list said; return 1; }
  lines=$("$kymo" list --brief 2>&1 | grep -vc '^[0-9]*$')
  [ "$lines" = 0 ] && COLUMNS=80 "$kymo" list --dead | sed -n '/  END/,$p' | wc -L >width && [ "$(cat width)" -le 80 ] || { cat width; return 1; }
  "$kymo" list --dead --brief $pid >list && expect $pid cat list && "$kymo" list --dead --brief "$name" >list && expect 2 eval 'wc -l <list' || return 1
  "$kymo" list --dead "server$$x*" >list && ! grep -qvE '^$|  PROGRAM  |  server' list && grep -q " $dead " list || { cat list; return 1; }
  refuses 3 "kymo list: no running process, and no process that left rings, is called \"$name.no\"" "$kymo" list --dead "$name.no" || return 1
  end_process
  until_true dead_row $pid
}
check 'kymo list --dead: living and dead ones' living_and_dead
tables() { # of names that are as long in every run; other suites' processes are left out by them
  begin
  local long=$(printf 's%07d_is_a_long_name_of_a_server' $$)
  mv programs/$name programs/$long && name=${long%%_*} && cp programs/$long programs/$name || return 1
  leaves kill && name=$long leaves return && lives || return 1
  same_names() { KYMO_RINGS=rings "$kymo" list --dead $name "${name}_*" | sed -E 's/s[0-9]{7}/sNNNNNNN/g'; }
  golden_table names list 160 same_names && golden_table names list 80 same_names && golden_table names list 66 same_names && end_process
}
check 'kymo list fits the terminal' tables

# ---- names ----

by_name() { # of a dead one, from where its program is too
  begin
  leaves kill
  cd programs || return 1
  "$kymo" snapshot -o "$case_dir/saved" $name 2>../said && grep -q 'trace in .*: 10 events, 0 lost' ../said || { cat ../said; return 1; }
  expect 10 count_events $name && "$kymo" info $name | grep -q "^trace  *$case_dir/rings/$name-$dead (ring" || return 1
  expect 10 eval '"$kymo" stat counts --json $name | jq "select(.event == null).count"' || return 1
  expect 10 count_events $dead && "$kymo" stat --once -i 1ms $name | head -1 | grep -qx "process $dead ($name), overwrite" || return 1
  "$kymo" stat --once -i 1ms --json $name | jq -e ".pid == $dead and .program == \"$name\" and .events == 10" >/dev/null
}
check 'snapshot, stat, cat and info take the name of a dead process' by_name
living_name() {
  begin
  lives || return 1
  "$kymo" snapshot -q -o saved $name && expect "$(count_events $name)" count_events saved && "$kymo" stat --once -i 1ms $name | head -1 | grep -qx "process $pid ($name), overwrite" || return 1
  leaves kill # stat looks at what lives
  "$kymo" stat --once -i 1ms $name | head -1 | grep -qx "process $pid ($name), overwrite" || return 1
  end_process
}
[ -z "$sanitizer" ] && check 'they take the name of a living process' living_name
ambiguous() {
  local first
  begin
  leaves kill
  first=$dead
  leaves kill
  lives || return 1
  for command in 'snapshot -o saved' cat info 'stat counts'; do
    "$kymo" $command $name >printed 2>said
    [ $? = 2 ] && head -1 said | grep -qxE "kymo [a-z]+: 3 processes with rings are called \"$name\"; use the number of one:" && [ ! -s printed ] && [ ! -e saved ] || { cat said; return 1; }
    for number in $first $dead; do grep -qE "^ *$number +[0-9]+ (s|min) +[0-9.]+ [KM]  unknown: killed, or _exit$" said || { cat said; return 1; }; done
    grep -qE "^ *$pid .*  runs$" said || { cat said; return 1; }
  done
  end_process
  "$kymo" stat $name >printed 2>said
  [ $? = 2 ] && grep -q '^kymo stat: 3 processes' said || { cat said; return 1; }
}
check 'a name that several processes have' ambiguous
followed() { # what is dead does nothing more
  begin
  leaves kill && lives || return 1
  timeout -s INT 60 "$kymo" cat --follow $name >followed 2>said &
  local reader=$!
  until_true eval '[ "$(grep -vc "^#" followed)" -ge 100 ]' || { cat said; return 1; }
  kill -INT $reader
  wait $reader
  end_process
}
check 'cat --follow: the living one' followed
controlled() { # enable, disable, mode, record -p and list take the name of what listens
  local other
  begin
  start_process KYMO_SAVE=never "programs/$name" -t 1 -n 100 -e stop || return 1
  expect '1 tracepoint enabled' "$kymo" enable $name work:text && expect '1 tracepoint disabled' "$kymo" disable $name work:text || return 1
  expect overwrite "$kymo" mode $name && "$kymo" list --brief $name | grep -qx work:text || return 1
  "$kymo" record -q -p $name --duration 10ms -o attached && [ -e attached ] || return 1
  refuses 2 "kymo mode: expected the number or name of a process, found \"y$name\" (did you mean \"$name\"?)
Try \`kymo mode --help' or \`kymo mode --usage' for more information." "$kymo" mode y$name || return 1
  other=$pid
  start_process KYMO_SAVE=never "programs/$name" -t 1 -n 100 -e stop || return 1
  "$kymo" enable $name work:text >printed 2>said
  [ $? = 2 ] && head -1 said | grep -qxF "kymo enable: 2 processes are called \"$name\"; use the number of one:" && grep -qx " *$pid" said && grep -qx " *$other" said || { cat said; return 1; }
  kill -9 $other
  end_process
}
[ -z "$sanitizer" ] && check 'a name instead of a number, for what controls a process' controlled
unknown() {
  begin
  leaves kill
  refuses 3 "kymo snapshot: there are no rings of a program \"y$name\" (did you mean \"$name\"?)" "$kymo" snapshot -o saved y$name || return 1
  refuses 3 "kymo cat: y$name: cannot open: No such file or directory
kymo cat: a process with rings has a name that is near (did you mean \"$name\"?)" "$kymo" cat y$name || return 1
  refuses 2 "kymo stat: expected the number or name of a process, or a kind of statistics and traces, found \"y$name\" (did you mean \"$name\"?)
Try \`kymo stat --help' or \`kymo stat --usage' for more information." "$kymo" stat y$name
}
check 'a name that no process has' unknown
paths_first() { # what is there is meant, and a path is no name
  begin
  leaves kill
  "$kymo" snapshot -q -o $name rings/$name-$dead && expect 10 count_events $name && "$kymo" info $name | grep -q '(ctf 1.8)' || return 1
  refuses 3 "kymo cat: ./missing: cannot open: No such file or directory" "$kymo" cat ./missing
}
check 'a trace of that name is meant before' paths_first
young() { # it listens only a moment later
  begin
  (sleep 0.3 && exec env KYMO_ENABLE='*' "programs/$name" -t 1 -n 100 -e stop >printed 2>&1) &
  started+=($!)
  "$kymo" list $! >listed 2>&1 && grep -q work:text listed || { cat listed; return 1; }
  kill -9 $!
}
check 'a process that has just begun is waited for' young
