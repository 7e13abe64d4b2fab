#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo cat --format csv, loaded by Python and by sqlite3, compared with the JSON output of the same traces.
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
seeds=$([ -n "$sanitizer" ] && echo 10 || echo 40) # sanitizers are slow
for ((seed = 1; seed <= seeds; seed++)); do
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
# a.b of a struct, a field called a.b, the label of an enumeration and what is called as that would be
mkdir dots && python3 - <<'END'
import json, struct
u8 = {'type': 'fixed-length-unsigned-integer', 'length': 8, 'byte-order': 'little-endian'}
def members(**fields): return {'type': 'structure', 'member-classes': [{'name': name.replace('_dot_', '.'), 'field-class': of} for name, of in fields.items()]}
state = {**u8, 'mappings': {'ON': [[1, 1]]}}
parts = [{'type': 'preamble', 'version': 2}, {'type': 'trace-class'},
         {'type': 'data-stream-class', 'event-record-header-field-class': members(id={**u8, 'roles': ['event-record-class-id']})},
         {'type': 'event-record-class', 'id': 0, 'name': 'one', 'payload-field-class': members(a=members(b=u8), a_dot_b=u8, s=state, s_dot_label=u8)},
         {'type': 'event-record-class', 'id': 1, 'name': 'two', 'payload-field-class': members(s=members(label=u8), x_dot_y=u8)}]
open('dots/metadata', 'w').write(''.join('\x1e' + json.dumps(part) + '\n' for part in parts))
open('dots/stream', 'wb').write(bytes([0, 1, 2, 1, 4, 1, 5, 6]))
END
dots() { "$kymo" cat -f csv dots | cut -d, -f7- | diff - <(printf '%s\n' 'a.b,`a.b`,s,s.label,`s.label`,s.label#2,x.y' '1,2,1,ON,4,,' ',,,,,5,6'); }
check 'columns of different fields have different names' dots
losses() { "$kymo" cat -f csv mytrace 2>&1 >/dev/null | diff - <(echo 'lost 12 events between 2023-11-14 22:13:20.000003005 and 2023-11-15 22:13:20.000000005 in mytrace/channel_0
lost 2 packets between 2023-11-14 22:13:20.000003005 and 2023-11-14 22:13:20.000005005 in mytrace/channel_0
kymo cat: the trace is incomplete: 12 events are lost, 2 packets are lost'); }
check 'losses are reported' losses
