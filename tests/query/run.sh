#!/bin/bash
# SPDX-License-Identifier: MIT
# heavy
#
# kymo query: answers beside counts by Python, random statements beside imported tables, formats, messages.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/query
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
if "$kymo" query 2>&1 | grep -qF 'built without SQLite'; then
  skip 'kymo query' 'built without SQLite'
  exit 0
fi
python3 "$here/make_trace.py" one 1 && python3 "$here/make_trace.py" two 2 1000 && python3 "$here/make_trace.py" back 3 1000 --back &&
  python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace || exit 1

# ---- answers ----

python3 "$here/forms.py" "$kymo" one
python3 "$here/forms.py" "$kymo" one two | sed 's/^ok /ok two traces: /; s/^not ok /not ok two traces: /'
check 'random statements' python3 "$here/random_queries.py" "$kymo" 1 "$(rounds 200 50)" one
check 'random statements, two traces' python3 "$here/random_queries.py" "$kymo" 2 "$(rounds 60 20)" one two
check 'random statements, packets that go back in time' python3 "$here/random_queries.py" "$kymo" 3 "$(rounds 60 20)" back

for traces in one 'one two' back; do check "statements that only count: $traces" python3 "$here/folded.py" "$kymo" $traces; done
check 'unwanted classes leave no trace in the others, also in damaged ones' python3 "$here/thinned.py" "$kymo" "$(rounds 25 8)"
check 'whole traces are counted as their rows are, also damaged ones' python3 "$here/counted.py" "$kymo" "$(rounds 40 10)"

python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 20 && "$kymo" convert -q --to cpel -o log.cpel one || exit 1
for trace in mytrace log.cpel random/*; do check "all events of $trace" python3 "$here/same_events.py" "$kymo" "$trace"; done
check 'all events of two traces' python3 "$here/same_events.py" "$kymo" one mytrace

# answer LINES WORDS…: what the command prints as CSV, without its titles; nothing else is said
answer() {
  local wanted=$1
  shift
  diff <(printf '%s\n' "$wanted") <("$kymo" query --format csv "$@" 2>&1 | tail -n +2)
}
ordered() { diff <("$kymo" query back 'SELECT ts FROM events ORDER BY ts' --format csv) <("$kymo" query back 'SELECT ts FROM events ORDER BY +ts' --format csv) &&
  ! "$kymo" cat --format csv back | cut -d, -f1 | tail -n +2 | sort -nc 2>/dev/null; }
check 'times that go back are sorted' ordered
filtered() { answer "$("$kymo" cat one --filter 'port = 80' --format json | wc -l)" one --filter 'port = 80' 'SELECT count(*) FROM events'; }
check 'with a filter' filtered
named() { answer "$("$kymo" cat one --event net --format json | wc -l)" one --event net 'SELECT count(*) FROM events' &&
  [ "$("$kymo" query one --event net "SELECT 1 FROM alloc" | wc -l)" = 1 ] && answer 'net:rx' one --event net 'SELECT DISTINCT class FROM events'; }
check 'with chosen events' named
windowed() { answer "$("$kymo" cat one --begin +10ms --end +20ms --format json | wc -l)" one --begin +10ms --end +20ms 'SELECT count(*) FROM events'; }
check 'in a window of time' windowed
narrowed() { answer "$("$kymo" cat one --begin +15ms --end +20ms --format json | wc -l)" one --begin +10ms --end +20ms "SELECT count(*) FROM events WHERE ts >= 1700000000015001002"; }
check 'in a window within it' narrowed
self_join() { answer "$("$kymo" query one 'SELECT count(*) FROM work_begin' --format csv | tail -1)" one 'SELECT count(*) FROM work_begin a JOIN work_begin b USING (job)'; }
check 'one table twice' self_join
statements() { printf 'SELECT 1 AS a; -- a comment\nCREATE TEMP TABLE t AS SELECT class FROM events;\nSELECT count(*) AS b FROM t;' >file.sql
  diff <(printf '%s\n' a 1 '' b 2000) <("$kymo" query one -f file.sql | sed 's/ *//') && diff <(printf '%s\n' '{"a":1}' '{"b":2000}') <("$kymo" query one --format json -f - <file.sql); }
check 'statements in a file' statements

# More events than are kept in memory for GROUP BY class: then each class is read apart. Two events are a byte each.
mkdir long && python3 - <<'END'
import json
u8 = {'type': 'fixed-length-unsigned-integer', 'length': 8, 'byte-order': 'little-endian'}
parts = [{'type': 'preamble', 'version': 2}, {'type': 'trace-class'},
         {'type': 'data-stream-class', 'event-record-header-field-class': {'type': 'structure', 'member-classes': [
             {'name': 'id', 'field-class': {**u8, 'roles': ['event-record-class-id']}}]}},
         *({'type': 'event-record-class', 'id': i, 'name': name} for i, name in enumerate(('a', 'b')))]
open('long/metadata', 'w').write(''.join('\x1e' + json.dumps(part) + '\n' for part in parts))
open('long/stream', 'wb').write(bytes([1, 0, 0]) * 750000)
END
long() { diff <(printf '%s\n' class,n,last a,1500000, b,750000,) <("$kymo" query long --format csv 'SELECT class, count(*) AS n, max(ts) AS last FROM events GROUP BY class'); }
check 'GROUP BY class of many events' long
times_by_class() { diff <("$kymo" query "$1" --format csv 'SELECT class, count(*), min(ts), max(ts) FROM events WHERE ts > 1700000000010000000 GROUP BY class') \
  <("$kymo" query "$1" --format csv 'SELECT class, count(*), min(ts), max(ts) FROM events WHERE +ts > 1700000000010000000 GROUP BY +class'); }
check 'times by class' times_by_class one
check 'times by class, packets that go back in time' times_by_class back

# ---- names ----

# Names that SQLite does not distinguish, that it needs in quotes, and that its own columns and tables have; a version of a class.
python3 "$here/names_trace.py" names || exit 1
columns() { diff <(printf '%s\n' 'ts,thread,tid,cpu,Len,len#2,fields.CLASS,"say ""x"""' ',,,,1,2,3,4') <("$kymo" query names --format csv 'SELECT * FROM one'); }
check 'columns of one name' columns
same_names() { diff <(printf '%s\n' 'ts,thread,tid,cpu,a.b,a.b#2' ',,,,5,6') <("$kymo" query names --format csv 'SELECT * FROM "one#2"'); }
check 'tables of one name' same_names
reserved() { diff <(printf '%s\n' 's,s.value,s.value#2' 'ON,1,8') <("$kymo" query names --format csv 'SELECT s, "s.value", "s.value#2" FROM "events#2"') &&
  answer 7 names 'SELECT count(*) FROM events' && answer 10 names 'SELECT z FROM "json_each#2"' && answer 1 names "SELECT count(*) FROM json_each('[1]')"; }
check 'a class that is called like a table' reserved
versions() { diff <(printf '%s\n' x,x.value,y 9,,  ON,1,7) <("$kymo" query names --format csv 'SELECT x, "x.value", y FROM two'); }
check 'versions of a class' versions

# ---- formats ----

table() { diff - <("$kymo" query -q mytrace 'SELECT ts, port, state, iface FROM "net:rx"'); } <<'END'
                 ts  port  state      iface
1700000000000000105    80  OPEN       eth0
1700000000000001505   443  HALF OPEN  eth0
1700000000000001505    53  NULL       eth0
END
check 'a table' table
unsafe() { diff <(printf '%s\n' who ETH0 'a b' eth0 eth1 "it's" lo 'tab\tnew\nline' 'x\x1b[31m' é) <("$kymo" query one "SELECT DISTINCT who FROM alloc WHERE who <> '' ORDER BY who"); }
check 'control characters in a table' unsafe
unsafe_title() { diff <(printf '%s\n' 'a\x1b[31mb' '                 1') <("$kymo" query one "SELECT 1 AS \"a"$'\033'"[31mb\"" | sed 's/^ *1$/                 1/'); }
check 'control characters in a title' unsafe_title
csv() { diff - <("$kymo" query -q mytrace --format csv 'SELECT port, state, lengths, 1.5 AS "a,b", x'"'00ff'"' AS c, '"'say \"x\"'"' AS d, '"''"' AS e FROM "net:rx"'); } <<'END'
port,state,lengths,"a,b",c,d,e
80,OPEN,[],1.5,00ff,"say ""x""",""
443,HALF OPEN,"[1,2,65535]",1.5,00ff,"say ""x""",""
53,,[7],1.5,00ff,"say ""x""",""
END
check 'CSV' csv
json() { diff - <("$kymo" query -q mytrace --format json 'SELECT port, state, lengths, 1 AS port, 9e999 AS inf FROM "net:rx"'); } <<'END'
{"port":80,"state":"OPEN","lengths":[],"port#2":1,"inf":"Infinity"}
{"port":443,"state":"HALF OPEN","lengths":[1,2,65535],"port#2":1,"inf":"Infinity"}
{"port":53,"state":null,"lengths":[7],"port#2":1,"inf":"Infinity"}
END
check 'JSON' json
many() { [ "$("$kymo" query one "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, 'x' FROM n" | wc -l)" = 3001 ]; }
check 'a long table' many
none() { diff <(echo 'class  n') <("$kymo" query one 'SELECT class, 1 AS n FROM events WHERE 0'); }
check 'a table without rows' none
preset() { diff <("$kymo" query --preset top --explain) <("$kymo" query one --preset top --explain | grep -v '^--') && "$kymo" query --preset top --explain >top.sql &&
  diff <("$kymo" query one --preset top) <("$kymo" query one -f top.sql); }
check 'a preset that is printed is the one that runs' preset
plan() { diff - <("$kymo" query one --explain "SELECT ts FROM \"net:rx\" WHERE ts > 5 AND port = 80 AND iface LIKE 'e%' ORDER BY ts"); } <<'END'
SELECT ts FROM "net:rx" WHERE ts > 5 AND port = 80 AND iface LIKE 'e%' ORDER BY ts;
-- SCAN net:rx (the table itself: ts >, port =, ORDER BY ts)
END
check 'a plan' plan
grouped() { diff - <("$kymo" query one --explain 'SELECT class, count(*), max(ts) FROM events GROUP BY class'); } <<'END'
SELECT class, count(*), max(ts) FROM events GROUP BY class;
-- SCAN events (the table itself: class by class)
END
check 'GROUP BY class needs no sorting' grouped

counting() { diff - <("$kymo" query one --explain "SELECT count(*) FROM events WHERE ts > 5 AND class <> 'a'"); } <<'END'
SELECT count(*) FROM events WHERE ts > 5 AND class <> 'a';
-- SCAN events (the table itself: ts >)
-- each class is one row, which counts as many
END
check 'a statement that only counts' counting

# ---- messages ----

check 'a misspelt column' says 2 'kymo query: statement:1:8: error: no such column: prot (did you mean "port"?)
  SELECT prot FROM "net:rx"
         ^' "$kymo" query one 'SELECT prot FROM "net:rx"'
check 'a misspelt column of a table with another name' says 2 'kymo query: statement:1:8: error: no such column: x.lenn (did you mean "len"?)
  SELECT x.lenn FROM "net:rx" x
         ^' "$kymo" query one 'SELECT x.lenn FROM "net:rx" x'
check 'a misspelt column of another table' says 2 'kymo query: statement:1:8: error: no such column: nam (the table "spans" has "name")
  SELECT nam FROM events
         ^' "$kymo" query one 'SELECT nam FROM events'
check 'a field of a class, asked of all events' says 2 'kymo query: statement:1:8: error: no such column: iface (the table "net:rx" has "iface")
  SELECT iface FROM events
         ^' "$kymo" query one 'SELECT iface FROM events'
check 'a column like none' says 2 'kymo query: statement:1:8: error: no such column: unheard_of
  SELECT unheard_of FROM events
         ^' "$kymo" query one 'SELECT unheard_of FROM events'
clean_percentile() { answer 0.3 one "SELECT percentile(x, 10) FROM (SELECT 0 AS x UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)" &&
  answer 1123867.4 one "SELECT percentile(x, 40) FROM (SELECT 1123867 AS x UNION ALL SELECT 1123868)" && answer -0.5 one "SELECT percentile(x, 50) FROM (SELECT -1 AS x UNION ALL SELECT 0)" &&
  answer 9223372036854775807 one "SELECT percentile(x, 100) FROM (SELECT -9223372036854775807 AS x UNION ALL SELECT 9223372036854775807)"; }
check 'percentiles without digits from rounding' clean_percentile
check 'a misspelt table' says 2 'kymo query: no such table: net:xr (did you mean "net:rx"?)' "$kymo" query one 'SELECT 1 FROM "net:xr"'
check 'a misspelt function' says 2 'kymo query: statement:1:8: error: no such function: percentil (did you mean "percentile"?)
  SELECT percentil(1, 2)
         ^' "$kymo" query one 'SELECT percentil(1, 2)'
check 'a text in double quotes' says 2 'kymo query: statement:1:43: error: no such column: alloc (texts are in single quotes)
  SELECT count(*) FROM events WHERE class = "alloc"
                                            ^' "$kymo" query one 'SELECT count(*) FROM events WHERE class = "alloc"'
check 'a statement that is none' says 2 'kymo query: statement:1:1: error: near "SELCT": syntax error
  SELCT 1
  ^' "$kymo" query one 'SELCT 1'
printf 'SELECT 1;\nSELECT prt\n  FROM "net:rx";\n' >bad.sql
check 'the place in a file' says 2 'kymo query: bad.sql:2:8: error: no such column: prt (did you mean "port"?)
  SELECT prt
         ^' bash -c '"$0" query one -f bad.sql --format json | grep -v "^{\"1\":1}$"; exit ${PIPESTATUS[0]}' "$kymo"
check 'a large number that is not exact' says 2 'kymo query: column "hash" holds numbers of 2^63 and more as text, and this number is not exact: write it as text, as in "hash" = '"'18446744073709551615'" \
  "$kymo" query one 'SELECT count(*) FROM "net:rx" WHERE hash = 18446744073709551615' --format json
check 'a percentage that is none' says 2 'kymo query: percentile(x, p): p is a number from 0 to 100' "$kymo" query one 'SELECT percentile(ts, 101) FROM events' --format json
check 'no field of that name' says 2 'kymo query: no event has a field "nothing"' "$kymo" query one "SELECT * FROM spans('nothing')" --format json
check 'no trace' says_first 3 'kymo query: absent: cannot open: No such file or directory' "$kymo" query absent 'SELECT 1'
check 'a path as the statement' says 2 'kymo query: expected a statement as the last argument, found the file one: kymo query TRACE... "SELECT ..."' "$kymo" query one
check 'nothing' says 2 'kymo query: which traces, and which statement? kymo query TRACE... "SELECT ..."' "$kymo" query
check 'no trace for a preset' says 2 'kymo query: which trace?' "$kymo" query --preset top
check 'two sources of statements' says 2 'kymo query: --file and --preset both choose the statements; use one' "$kymo" query one -f bad.sql --preset top
check 'a misspelt preset' says_first 2 'kymo query: there is no preset "topp" (did you mean "top"?)' "$kymo" query one --preset topp
check 'a misspelt format' says_first 2 'kymo query: --format is table, csv or json, not "jsn" (did you mean "json"?)' "$kymo" query one --format jsn 'SELECT 1'
check 'lost events' says 1 '{"n":7}
kymo query: the trace is incomplete: 12 events are lost, 2 packets are lost' "$kymo" query mytrace 'SELECT count(*) AS n FROM events' --format json
check 'the table of losses' says 1 '{"what":"events","count":12,"stream":0}
{"what":"packets","count":2,"stream":0}
kymo query: the trace is incomplete: 12 events are lost, 2 packets are lost' "$kymo" query mytrace 'SELECT what, count, stream FROM losses' --format json

# libcurl is loaded when it is needed, and something else is in its place
mkdir other && echo 'no library' >other/libcurl.so.4
unloadable() { LD_LIBRARY_PATH=$PWD/other "$kymo" query --clickhouse http://127.0.0.1:1/k 'SELECT 1' >out 2>&1; [ $? = 3 ] && grep -q '^kymo query: libcurl.so.4 cannot be loaded: .*/libcurl.so.4: ' out || { cat out; return 1; }; }
if "$kymo" query --clickhouse http://127.0.0.1:1/k 'SELECT 1' 2>&1 | grep -qF 'built without libcurl'; then
  skip 'a library that cannot be loaded' 'built without libcurl'
else
  check 'a library that cannot be loaded' unloadable
fi

# ---- damage ----

cp -r one damaged && printf '\377\377\377\377' | dd of=damaged/stream_1 bs=1 seek=400 conv=notrunc status=none
readable=$("$kymo" cat -q damaged --format json | wc -l)
damaged() { "$kymo" query damaged "$1" --format csv >out 2>said; [ $? = 1 ] && diff <(echo "$readable") <(tail -1 out) && [ "$(wc -l <said)" = 1 ] &&
  grep -qE '^kymo query: damaged/stream_1: byte [0-9]+: .*; the answer is of what is readable$' said || { cat out said; return 1; }; }
check 'a damaged trace answers with what is sound' damaged 'SELECT count(*) FROM events'
check 'damage that is met twice is said once' damaged 'SELECT count(*) FROM (SELECT ts FROM events ORDER BY ts LIMIT -1 OFFSET 0)'
check 'damage that two cursors meet is said once' damaged 'SELECT (SELECT count(DISTINCT tid) FROM events) * 0 + (SELECT count(ts) FROM events)'
quiet() { "$kymo" query -q damaged 'SELECT 1 FROM events' >out 2>said; [ $? = 1 ] && [ ! -s said ]; }
check 'quietly' quiet
untouched() { "$kymo" query damaged "SELECT 1" >out 2>said; [ $? = 0 ] && [ ! -s said ]; }
check 'what is not read is not said' untouched
