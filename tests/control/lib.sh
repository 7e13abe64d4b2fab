# SPDX-License-Identifier: MIT
# Sourced by the suites that control live processes: starting them, waiting for what they do, ending them.
. "$KYMO_SOURCE/tests/recorder/lib.sh"

control=$KYMO_SOURCE/tests/control
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS KYMO_CONTROL KYMO_MODE
started=()
end_all() { [ ${#started[@]} = 0 ] || kill -9 "${started[@]}" 2>/dev/null; }
trap end_all EXIT

# start_process NAME=VALUE… PROGRAM ARGUMENT…: runs it without input that ends, $pid; waits until it listens
start_process() {
  run_process "$@" && until_true listens "$pid"
}
run_process() {
  : >printed # output of an earlier process: the shell below may run later than the reader
  env "$@" <"$idle" >printed 2>said &
  pid=$!
  started+=("$pid")
}
listens() { "$kymo" list --brief "$1"; }
# an input that never ends and never holds anything
idle=$TMPDIR/idle
[ -p "$idle" ] || mkfifo "$idle"
exec 9<>"$idle"
end_process() {
  kill -9 "$pid" && wait "$pid" 2>/dev/null
  return 0
}
# how many tracepoints of the process are on
on_in() { "$kymo" list "$1" | grep -c '^on '; }
# rings_of PID: where they lie
rings_of() { ls -d "$XDG_RUNTIME_DIR/kymo"/*-"$1" 2>/dev/null | grep -v control- | tail -1; }
# events of a trace or of rings
count_events() { "$kymo" cat -q "$1" 2>/dev/null | grep -vc '^#'; }
# has_record PID LEAST: a recording of 100 ms has that number of events or more; for until_true: a process may get no turn for a while
has_record() {
  rm -rf out
  may_lose "$kymo" record -q -p "$1" -o out --duration 100ms && [ "$(count_events out)" -ge "$2" ]
}
# refuses STATUS WORDS COMMAND…: it ends with this status, and prints exactly these words
refuses() {
  local status=$1 words=$2 got
  shift 2
  got=$("$@" 2>&1 >/dev/null)
  [ $? = "$status" ] && [ "$got" = "$words" ] && return
  printf 'expected %s: %s\nfound: %s\n' "$status" "$words" "$got"
  return 1
}
# golden_table SUITE NAME WIDTH COMMAND…: what it prints of processes is that of expected/NAME.WIDTH, and no wider than the terminal
golden_table() {
  local expected=$KYMO_SOURCE/tests/$1/expected/$2.$3 width=$3
  shift 3
  COLUMNS=$width "$@" >printed 2>said && python3 "$control/same_table.py" <printed >actual || { cat printed said; return 1; }
  [ "${KYMO_REWRITE:-}" != 1 ] || cp actual "$expected"
  diff -u "$expected" actual && [ "$(wc -L <printed)" -le $width ] || { cat printed; return 1; }
}
# stops $pid, with all its threads
stop_process() {
  kill -STOP $pid && until_true all_stopped
}
all_stopped() { ! grep -h ^State: /proc/$pid/task/*/status | grep -qv '(stopped)'; }
