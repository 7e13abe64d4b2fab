#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# <kymo/live.h> and <kymo/stat.h>: examples/supervisor does with them what kymo record, snapshot, list, enable and stat do. Both are
# run on the same processes and traces, and say the same.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'recording from C' 'the command kymo is not built'
  exit 77
fi
supervisor=$KYMO_BUILD/examples/supervisor
for program in points worker; do must_build $program; done
programs=$KYMO_SOURCE/tests/spans must_build spans

# events of a trace without what differs from run to run: number and name
names_in() { "$kymo" cat -q --format json "$1" | jq -r .event | sort | uniq -c; }
same() { # same FILE FILE
  [ -s "$1" ] && diff "$1" "$2"
}

# ---- recording ----

records() {
  fresh
  "$supervisor" record ours "$bin/spans" >said || { cat said; return 1; }
  "$kymo" record -q -o theirs -- "$bin/spans" || return 1
  names_in ours >ours.names && names_in theirs >theirs.names && same ours.names theirs.names || return 1
  expect "ours: $(count_events ours) events, 0 lost" cat said
}
check 'a recorded command writes the same trace as kymo record' records
exits() {
  fresh
  local end expected
  export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0 # the signal is the program's, in the rung address too
  for end in 'return 0' 'abort 134' 'segv 139' 'kill 137'; do
    expected=${end#* }
    "$supervisor" record "ours-${end% *}" "$bin/worker" -n 10 -e "${end% *}" >said 2>&1
    [ $? = "$expected" ] || { echo "${end% *}: expected $expected"; cat said; return 1; }
    "$kymo" record -q -o "theirs-${end% *}" -- "$bin/worker" -n 10 -e "${end% *}" >said 2>&1
    [ $? = "$expected" ] || { cat said; return 1; }
    names_in "ours-${end% *}" >ours.names && names_in "theirs-${end% *}" >theirs.names && same ours.names theirs.names || return 1
    "$kymo" info "ours-${end% *}" | grep -E 'taken|cause|fault|Abort' >ours.cause
    "$kymo" info "theirs-${end% *}" | grep -E 'taken|cause|fault|Abort' >theirs.cause
    [ "$(sed 's/[0-9]\+/N/g' ours.cause)" = "$(sed 's/[0-9]\+/N/g' theirs.cause)" ] || { cat ours.cause theirs.cause; return 1; }
  done
}
check 'a command that crashes: every event, its end, and the note in the trace' exits
refused() {
  fresh
  mkdir full && touch full/file
  refuses 3 'supervisor: full: cannot make the directory: Directory not empty' "$supervisor" record full "$bin/points" || return 1
  refuses 3 'supervisor: cannot run ./nothing: No such file or directory' "$supervisor" record trace ./nothing || return 1
  [ ! -e trace ] || { echo 'the directory stays'; return 1; }
  refuses 3 'supervisor: there is no process 999999999' "$supervisor" attach trace 999999999 1 || return 1
  refuses 3 'supervisor: there is no process 999999999' "$supervisor" points 999999999
}
check 'a failed recording is an error with the message of the command' refused
attaches() {
  fresh
  start_process "$bin/worker" -t 1 -n 0 -w 200 || return 1
  "$supervisor" attach ours $pid 0.3 >said || { cat said; return 1; }
  [ "$(count_events ours)" -gt 20 ] && expect "ours: $(count_events ours) events, 0 lost" cat said || return 1
  expect 0 on_in $pid || return 1
  "$supervisor" attach until $pid 100 >said 2>&1 &
  local recorder=$!
  being_recorded() { "$kymo" list $pid | grep -q '^on '; }
  until_true being_recorded || return 1
  end_process
  wait $recorder || { cat said; return 1; }
  [ "$(count_events until)" -gt 0 ]
}
check 'a process that runs is recorded for a time, or until it ends, and is as it was' attaches

# ---- processes ----

switches() {
  fresh
  start_process "$bin/points" wait || return 1
  "$supervisor" list | grep -x "$pid points 7 0" || { "$supervisor" list; return 1; }
  "$supervisor" points $pid >ours && "$kymo" list $pid | awk '{ printf "%-3s %s\n", $1, $3 }' >theirs && same ours theirs || return 1
  expect 3 "$supervisor" enable $pid 'net:*' && expect 3 on_in $pid || return 1
  expect 1 "$supervisor" disable $pid net:tx && expect 2 on_in $pid || return 1
  "$supervisor" points $pid >ours && "$kymo" list $pid | awk '{ printf "%-3s %s\n", $1, $3 }' >theirs && same ours theirs || return 1
  expect 0 "$supervisor" enable $pid none:such
  end_process
}
check 'processes and tracepoints are listed and switched as kymo list, enable and disable do' switches
all_recorded() { [ "$("$supervisor" count $pid | awk '{ sum += $(NF - 1) } END { print sum + 0 }')" -ge 1500 ]; }
counts() {
  fresh
  start_process KYMO_ENABLE='*' "$bin/worker" -t 3 -n 500 -e stop || return 1
  until_true all_recorded && stop_process || return 1
  "$supervisor" count $pid | sort >ours || return 1
  "$kymo" stat --once -i 1ms --json $pid | jq -r '.threads[] | "\(.tid) \(.name) \(.events) \(.lost)"' | sort >theirs || return 1
  same ours theirs || return 1
  "$supervisor" snapshot ours-saved $pid >said || { cat said; return 1; }
  "$kymo" snapshot -q -o theirs-saved $pid || return 1
  "$kymo" cat -q ours-saved >ours && "$kymo" cat -q theirs-saved >theirs && same ours theirs || return 1
  expect "ours-saved: $(count_events ours-saved) events, 0 lost" cat said
  end_process
}
check 'counters and a snapshot of a stopped process are those of kymo stat and kymo snapshot' counts

# ---- statistics ----

# columns LIST: of CSV, without its head
columns() { tail -n +2 | tr -d '"' | awk -F, -v "list=$1" -v OFS=, '{ n = split(list, c, " "); row = $c[1]; for (i = 2; i <= n; i++) row = row "," $c[i]; print row }'; }
measures() {
  fresh
  "$kymo" record -q -o trace -- "$bin/spans" || return 1
  "$supervisor" stat latency trace >ours || return 1
  "$kymo" stat latency -q --csv trace | columns '1 2 3 6 7 8 9' >theirs && same ours theirs || return 1
  "$supervisor" stat latency trace app:even_begin app:even_end >ours || return 1
  "$kymo" stat latency -q --csv --from app:even_begin --to app:even_end trace | columns '1 2 11 5 6 8 10' >theirs && same ours theirs || return 1
  "$supervisor" stat counts trace >ours && "$kymo" stat counts -q --csv trace | columns '1 2' >theirs && same ours theirs || return 1
  "$supervisor" stat distance trace >ours && "$kymo" stat distance -q --csv trace | columns '1 2 11 5 6 8 10' >theirs && same ours theirs
}
check 'rows of statistics are those of kymo stat' measures
measures_nothing() {
  fresh
  "$kymo" record -q -o trace -- "$bin/spans" || return 1
  refuses 3 'supervisor: there is no kind of statistics "latencies" (did you mean "latency"?)' "$supervisor" stat latencies trace || return 1
  refuses 3 'supervisor: counts: there is no from and no to' "$supervisor" stat counts trace a b || return 1
  refuses 3 'supervisor: histogram: a field is needed' "$supervisor" stat histogram trace || return 1
  refuses 3 'supervisor: --from app:evn: the traces have no event of such a name' "$supervisor" stat latency trace app:evn app:even_end
}
check 'a kind or option that makes no sense is an error' measures_nothing
