#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo cat --format csv, loaded by Python and by sqlite3, against what the JSON output says of the same traces.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace || exit 1
python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 40 || exit 1

same_as_json() {
  may_lose "$kymo" cat -q -f csv "$@" >table.csv 2>/dev/null && may_lose "$kymo" cat -q -f json "$@" >lines.json || return 1
  rm -f db && sqlite3 db '.import --csv table.csv t' 2>words || { cat words; return 1; }
  [ -z "$(python3 "$KYMO_SOURCE/tests/csv/compare.py" table.csv lines.json db 2>&1 | tee difference | head -5)" ] || { head -5 difference; return 1; }
}
check 'sample trace' same_as_json mytrace
check 'events of one name' same_as_json --event net:rx mytrace
cp -r mytrace copy && sed -i s/01234567-89ab/11234567-89ab/ copy/metadata
check 'several traces' same_as_json mytrace copy
for ((seed = 1; seed <= 40; seed++)); do
  check "random trace $seed" same_as_json random/$seed
done

header() { [ "$("$kymo" cat -f csv --event net:rx mytrace | head -1)" = \
  'ts,time,event,tid,thread,cpu,port,state,state.label,iface,where.x,where.y,count,lengths,context.vtid,context.procname,context.depth' ]; }
check 'only the columns of the events that are wanted' header
line() { [ "$("$kymo" cat -f csv --event net:rx mytrace | sed -n 3p)" = \
  '1700000000000001505,2023-11-14T22:13:20.000001505Z,net:rx,4711,worker,0,443,3,HALF OPEN,eth0,-1,2,3,"[1,2,65535]",4711,worker,7' ]; }
check 'a line' line
empty() { "$kymo" cat -f csv --event bare mytrace | sed -n 2p | grep -qxF '1700000000000002005,2023-11-14T22:13:20.000002005Z,bare,9,,1,9,"",7'; }
check 'an empty text is not no value' empty
losses() { "$kymo" cat -f csv mytrace 2>&1 >/dev/null | diff - <(echo 'lost 12 events between 2023-11-14 22:13:20.000003005 and 2023-11-15 22:13:20.000000005 in mytrace/channel_0
lost 2 packets between 2023-11-14 22:13:20.000003005 and 2023-11-14 22:13:20.000005005 in mytrace/channel_0
kymo cat: the trace is not whole: 12 events are lost, 2 packets are lost'); }
check 'losses are told' losses
