#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# libkymo-sqlite, the tables of kymo query for other programs: in the shell of SQLite, and in Python.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
extension=$KYMO_BUILD/libkymo-sqlite
query=$KYMO_SOURCE/tests/query
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
if [ ! -e "$extension.so" ]; then
  skip 'the extension' 'built without SQLite'
  exit 0
fi
python3 "$query/make_trace.py" one 1 && python3 "$query/make_trace.py" two 2 500 || exit 1
cp -r one damaged && printf '\377\377\377\377' | dd of=damaged/stream_1 bs=1 seek=400 conv=notrunc status=none

names() { diff <(nm -D --defined-only "$extension.so" | awk '{print $3}' | sort) <(printf '%s\n' sqlite3_extension_init sqlite3_kymosqlite_init); }
check 'it shows no other names' names
alone() { ! ldd "$extension.so" | grep -F libsqlite3; }
check 'it brings no SQLite of its own' alone

# ---- the shell ----

# shell WANTED LINES…: what the shell prints for these lines, with the extension
shell() {
  local wanted=$1
  shift
  diff <(printf '%s\n' "$wanted") <(printf '%s\n' ".load $extension" "$@" | sqlite3 -batch 2>&1)
}
events=$("$kymo" query one --format csv 'SELECT class, count(*) FROM events GROUP BY class' | tail -n +2 | tr , '|')
classes() { shell "7
$events" "SELECT kymo_open('one');" 'SELECT class, count(*) FROM events GROUP BY class;'; }
check 'kymo_open' classes
check 'kymo_open of two traces' shell "1
$("$kymo" query one two --format csv 'SELECT count(*), max(trace) FROM events' | tail -1 | tr , '|')" "SELECT kymo_open('one', 'two') > 0;" 'SELECT count(*), max(trace) FROM events;'
check 'CREATE VIRTUAL TABLE of all events' shell "$events" "CREATE VIRTUAL TABLE t USING kymo('one');" 'SELECT class, count(*) FROM t GROUP BY class;'
check '… of one class' shell "$("$kymo" query one --format csv 'SELECT count(*), max(hash) FROM "net:rx"' | tail -1 | tr , '|')" \
  "CREATE VIRTUAL TABLE t USING kymo('one', 'net:rx');" 'SELECT count(*), max(hash) FROM t;'
check '… of spans' shell "$("$kymo" query one --format csv 'SELECT count(*), max(duration) FROM spans' | tail -1 | tr , '|')" \
  "CREATE VIRTUAL TABLE t USING kymo_spans('one');" 'SELECT count(*), max(duration) FROM t;'
check '… of losses' shell 0 "CREATE VIRTUAL TABLE t USING kymo_losses(one);" 'SELECT count(*) FROM t;'
check 'functions' shell '2023-11-14T22:13:20.000001002Z
3' "CREATE VIRTUAL TABLE t USING kymo('one');" 'SELECT ns_to_text(min(ts)) FROM t;' 'SELECT percentile(x, 50) FROM (SELECT 1 AS x UNION SELECT 3 UNION SELECT 9);'
check 'the order of large numbers' shell '0
18446744073709551615' "CREATE VIRTUAL TABLE t USING kymo('one', 'net:rx');" 'SELECT min(hash) FROM t;' 'SELECT hash FROM t ORDER BY hash DESC LIMIT 1;'
check 'a view of a table' shell 1 "CREATE VIRTUAL TABLE t USING kymo('one');" 'CREATE VIEW v AS SELECT DISTINCT process FROM t;' 'SELECT count(*) FROM v;'
kept() {
  rm -f kept.db
  printf '%s\n' ".load $extension" "CREATE VIRTUAL TABLE t USING kymo('one');" | sqlite3 -batch kept.db &&
    diff <(echo 2000) <(printf '%s\n' ".load $extension" 'SELECT count(*) FROM t;' | sqlite3 -batch kept.db)
}
check 'a table in a database file' kept
dropped() { shell 'gone' "CREATE VIRTUAL TABLE t USING kymo('one');" 'DROP TABLE t;' "SELECT 'gone' WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema);"; }
check 'DROP TABLE' dropped

# by_command OPTIONS…: what kymo query answers with them
by_command() { "$kymo" query one --format csv "$@" 'SELECT class, count(*), min(ts) FROM events GROUP BY class' | tail -n +2 | tr , '|'; }
begin=1700000000010000000
filtered() { shell "7
$(by_command --filter 'port = 80' --begin "${begin}ns" --end=-2ms)" "SELECT kymo_open(kymo_option('filter', 'port = 80'), 'one', kymo_option('begin', $begin), kymo_option('end', '-2ms'));" \
  'SELECT class, count(*), min(ts) FROM events GROUP BY class;'; }
check 'kymo_open with a filter and a window' filtered
for limit in "$begin" "'${begin}ns'" "  $begin "; do
  check "CREATE VIRTUAL TABLE with a filter and a window from $limit" shell "$(by_command --filter 'port = 80' --begin "${begin}ns")" \
    "CREATE VIRTUAL TABLE t USING kymo('one', filter = 'port = 80', begin=$limit);" 'SELECT class, count(*), min(ts) FROM t GROUP BY class;'
done
check '… of spans in a window' shell "$("$kymo" query one --begin "${begin}ns" --format csv 'SELECT count(*), max(duration) FROM spans' | tail -1 | tr , '|')" \
  "CREATE VIRTUAL TABLE t USING kymo_spans('one', begin=$begin);" 'SELECT count(*), max(duration) FROM t;'

# refuses TEXT LINE: the message of the shell
refuses() { printf '%s\n' ".load $extension" "$2" | sqlite3 -batch 2>&1 | grep -qF -- "$1" || { printf '%s\n' ".load $extension" "$2" | sqlite3 -batch; return 1; }; }
check 'no path' refuses "expected the path of a trace: USING kymo('TRACE')" 'CREATE VIRTUAL TABLE t USING kymo;'
check 'no trace' refuses 'absent: cannot open: No such file or directory' "CREATE VIRTUAL TABLE t USING kymo('absent');"
check 'no trace for kymo_open' refuses 'absent: cannot open: No such file or directory' "SELECT kymo_open('absent');"
check 'kymo_open of nothing' refuses "kymo_open('TRACE', ...): which trace?" 'SELECT kymo_open();'
check 'a misspelt class' refuses 'the trace has no events "net:xr" (did you mean "net:rx"?)' "CREATE VIRTUAL TABLE t USING kymo('one', 'net:xr');"
check 'a misspelt argument' refuses 'kymo has no option "damge" (did you mean "damage"?)' "CREATE VIRTUAL TABLE t USING kymo('one', damge='skip');"
check 'a misspelt value' refuses "damage is 'fail' or 'skip', not 'skp'" "CREATE VIRTUAL TABLE t USING kymo('one', damage='skp');"
check 'a misspelt option' refuses 'kymo has no option "filtr" (did you mean "filter"?)' "SELECT kymo_open('one', kymo_option('filtr', 'port = 80'));"
check 'an option given twice' refuses 'the option end is given twice' "SELECT kymo_open('one', kymo_option('end', 5), kymo_option('end', 6));"
check 'an option that is NULL' refuses "kymo_option('NAME', VALUE): the name or the value is NULL" "SELECT kymo_open('one', kymo_option('filter', NULL));"
check 'an option that is a number' refuses 'filter is a text, not a number' "SELECT kymo_open('one', kymo_option('filter', 80));"
check 'options without a trace' refuses "kymo_open('TRACE', ...): which trace?" "SELECT kymo_open(kymo_option('end', 5));"
check 'a wrong filter' refuses 'filter:1:1: error: E31 no event has a field "prot" (did you mean "port"?)' "SELECT kymo_open('one', kymo_option('filter', 'prot = 80'));"
check 'a wrong time' refuses 'begin:1:1: error: "s": expected a time' "CREATE VIRTUAL TABLE t USING kymo('one', begin='soon');"
check 'a description that is not there' refuses 'absent.tdl: cannot open: No such file or directory' "CREATE VIRTUAL TABLE t USING kymo('one', description='absent.tdl');"
check 'too many arguments' refuses "expected kymo('TRACE') or kymo('TRACE', 'CLASS')" "CREATE VIRTUAL TABLE t USING kymo('one', 'alloc', 'more');"
check 'a class of spans' refuses "expected the path of a trace: USING kymo_spans('TRACE')" "CREATE VIRTUAL TABLE t USING kymo_spans('one', 'alloc');"

readable=$("$kymo" cat -q damaged --format json | wc -l)
damaged() {
  printf '%s\n' ".load $extension" "CREATE VIRTUAL TABLE t USING kymo('damaged');" 'SELECT ts FROM t;' | sqlite3 -batch >rows 2>said
  [ "$(wc -l <rows)" = "$readable" ] && grep -qE "damaged/stream_1: byte [0-9]+: .*; the rows so far are what is readable" said || { cat said; return 1; }
}
check 'a damaged trace: the readable rows, then an error' damaged
check 'damage that is to be skipped' shell "$readable" "CREATE VIRTUAL TABLE t USING kymo('damaged', damage='skip');" 'SELECT count(*) FROM t;'

skipped() { shell "7
$readable
{\"damage\":[{\"path\":\"damaged/stream_1\",\"offset\":416,\"bytes_lost\":2173,\"message\":\"no event class has the id 32391\"}],\"lost\":{\"events\":0,\"packets\":0,\"unknown\":0}}" \
  "SELECT kymo_open('damaged', kymo_option('damage', 'skip'));" 'SELECT count(ts) FROM events;' 'SELECT kymo_met();'; }
check 'kymo_open that skips damage, and kymo_met: all readable rows, and then what is damaged' skipped
lost() { python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" lossy && printf '%s\n' ".load $extension" "SELECT kymo_open(kymo_option('damage', 'skip'), 'lossy');" 'SELECT kymo_met();' 'SELECT count(fields) FROM events;' 'SELECT kymo_met();' | sqlite3 -batch 2>&1 | grep -o '"lost".*' |
  diff <(printf '%s\n' '"lost":{"events":0,"packets":0,"unknown":0}}' '"lost":{"events":12,"packets":2,"unknown":0}}') -; }
check 'kymo_met: what was lost' lost

# ---- Python ----

# Some builds of Python have no extensions.
for python in python3 /usr/bin/python3; do
  "$python" -c 'import sqlite3; sqlite3.connect("").enable_load_extension(True)' 2>/dev/null && break
  python=
done
if [ -n "$python" ]; then
  check 'random statements by Python' env KYMO_EXTENSION="$extension" "$python" "$query/random_queries.py" "$kymo" 11 200 one
  check 'random statements by Python, two traces' env KYMO_EXTENSION="$extension" "$python" "$query/random_queries.py" "$kymo" 12 50 one two
  cat >threads.py <<'END'
import sqlite3, sys, threading
def count(results):
    db = sqlite3.connect(':memory:')
    db.enable_load_extension(True)
    db.load_extension(sys.argv[1])
    db.execute("SELECT kymo_open('one')")
    for _ in range(20):
        results.append(db.execute('SELECT count(*), max(hash) FROM "net:rx" WHERE port > 22').fetchone())
    db.close()
results = []
threads = [threading.Thread(target=count, args=(results,)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(results) == 80 and len(set(results)) == 1, set(results)
END
  check 'connections in threads' "$python" threads.py "$extension"
  cat >interrupted.py <<'END'
import sqlite3, sys
db = sqlite3.connect(':memory:')
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("SELECT kymo_open('one')")
cursors = [db.execute('SELECT ts, fields FROM events ORDER BY ts') for _ in range(20)]
rows = [cursor.fetchone() for cursor in cursors]
assert len(set(rows)) == 1
for i, cursor in enumerate(cursors):  # each has a position of its own, and goes before the end
    cursor.fetchmany(i + 1)
assert [cursor.fetchone() for cursor in cursors[:2]] == db.execute('SELECT ts, fields FROM events ORDER BY ts LIMIT 2 OFFSET 2').fetchall()
del cursors
db.execute("SELECT kymo_open('two')")
assert db.execute('SELECT count(*) FROM events').fetchone() == (500,)
END
  check 'many cursors, none to its end' "$python" interrupted.py "$extension"
  if "$python" -c 'import pandas' 2>/dev/null; then
    cat >frame.py <<'END'
import sqlite3, sys
import pandas
db = sqlite3.connect(':memory:')
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("SELECT kymo_open('one')")
frame = pandas.read_sql('SELECT ts, port, len, state FROM "net:rx"', db)
assert list(frame.columns) == ['ts', 'port', 'len', 'state'] and frame.dtypes['ts'] == 'int64'
assert len(frame) == db.execute('SELECT count(*) FROM "net:rx"').fetchone()[0]
assert frame.groupby('port').size().to_dict() == dict(db.execute('SELECT port, count(*) FROM "net:rx" GROUP BY port'))
END
    check 'a pandas frame' "$python" frame.py "$extension"
  else
    skip 'a pandas frame' 'there is no pandas'
  fi
else
  skip 'the extension in Python' 'no Python here loads extensions of SQLite'
fi

# ---- installed ----

installed() {
  meson install -C "$KYMO_BUILD" --no-rebuild --quiet --destdir "$TMPDIR/stage" >said 2>&1 || { cat said; return 1; }
  local pc path
  pc=$(find stage -name kymo-sqlite.pc) && path=$(PKG_CONFIG_PATH=${pc%/*} pkg-config --variable=extension kymo-sqlite) &&
    diff <(echo 2000) <(printf '%s\n' ".load $path" "CREATE VIRTUAL TABLE t USING kymo('one');" 'SELECT count(*) FROM t;' | sqlite3 -batch 2>&1)
}
check 'pkg-config says where the installed extension is' installed
