#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo convert --to sqlite: the file has what the virtual tables have, read by Python's SQLite and by the stock shell; what
# stays when it cannot be written.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/database
query=$KYMO_SOURCE/tests/query
export TZ=UTC LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR" || exit 1
if "$kymo" query 2>&1 | grep -qF 'built without SQLite'; then
  skip 'a database' 'built without SQLite'
  exit 0
fi
python3 "$query/make_trace.py" one 1 && python3 "$query/make_trace.py" two 2 1000 && python3 "$query/make_trace.py" back 3 1000 --back &&
  python3 "$query/names_trace.py" names && python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace &&
  python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 8 && "$kymo" convert -q --to cpel -o log.cpel one || exit 1
cp -r one damaged && printf '\377\377\377\377' | dd of=damaged/stream_1 bs=1 seek=400 conv=notrunc status=none

# ---- the same tables ----

# same FILE TRACE…: the file is written, and has what the virtual tables have
same() {
  local file=$1
  shift
  "$kymo" convert -q --to sqlite -o "$file" "$@"
  [ $? -le 1 ] && python3 "$here/same_tables.py" "$kymo" "$file" "$@"
}
for trace in one back names mytrace damaged log.cpel random/*; do check "all tables of $trace" same "${trace//\//-}.db" "$trace"; done
check 'all tables of two traces' same two.db one two
check 'random statements' env KYMO_DATABASE=one.db python3 "$query/random_queries.py" "$kymo" 21 "$(rounds 200 50)" one
check 'random statements, two traces' env KYMO_DATABASE=two.db python3 "$query/random_queries.py" "$kymo" 22 "$(rounds 200 50)" one two
check 'random statements, packets that go back in time' env KYMO_DATABASE=back.db python3 "$query/random_queries.py" "$kymo" 23 "$(rounds 100 25)" back
selected() { "$kymo" convert --to sqlite --event net:rx --filter 'port = 80' --begin +10ms -o part.db one &&
  diff <("$kymo" cat one --event net:rx --filter 'port = 80' --begin +10ms --format json | wc -l) <(sqlite3 part.db 'SELECT count(*) FROM events') &&
  diff <(echo '80|0') <(sqlite3 part.db 'SELECT DISTINCT port, (SELECT count(*) FROM alloc) FROM "net:rx"'); }
check 'the options that choose events' selected
merged() { "$kymo" merge --to sqlite -o merged.db one two && diff <(sqlite3 two.db .dump) <(sqlite3 merged.db .dump); }
check 'kymo merge' merged
same_again() { "$kymo" convert --to sqlite -o again.db one && cmp one.db again.db; }
check 'two times the same bytes' same_again
before_epoch() { # times before 1970, of which the text is computed
  mkdir early && sed 's/offset_s = 1700000000;/offset_s = -5;/' one/metadata >early/metadata && cp one/stream_* early && same early.db early; }
check 'times before 1970' before_epoch

# ---- the stock shell ----

for preset in top gaps drops slowest threads; do
  preset() { "$kymo" query --preset "$preset" --explain >"$preset.sql" &&
    diff <("$kymo" query -q one --preset "$preset" --format csv | tail -n +2 | tr -d '"') <(sqlite3 -csv one.db <"$preset.sql" | tr -d '\r"'); }
  check "the preset $preset in the shell of SQLite" preset
done
if [ -e "$KYMO_BUILD/libkymo-sqlite.so" ] && [ -z "$sanitizer" ]; then
  latency() { "$kymo" query --preset latency --explain >latency.sql &&
    diff <("$kymo" query one --preset latency --format csv | cut -d, -f1-3,7-) <(sqlite3 -cmd ".load $KYMO_BUILD/libkymo-sqlite" -csv -header one.db <latency.sql | tr -d '\r' | cut -d, -f1-3,7-) ; }
  check 'the preset latency with the extension' latency
else
  skip 'the preset latency with the extension' 'the extension is not for this build'
fi
indexed() { sqlite3 one.db 'EXPLAIN QUERY PLAN SELECT port FROM "net:rx" WHERE ts BETWEEN 5 AND 6' | grep -qF 'USING INDEX net:rx.ts (ts>? AND ts<?)'; }
check 'a window of time uses an index' indexed
# Numbers of 19 and of 20 digits in a column: an error, and no wrong order. In port there are none.
mixed() { ! sqlite3 one.db 'SELECT max(hash) FROM "net:rx"' >said 2>&1 && grep -qF 'no such collation sequence: kymo_number' said &&
  diff <(sqlite3 one.db 'SELECT count(*) FROM "net:rx" WHERE hash COLLATE BINARY = '"'18446744073709551615'") \
    <("$kymo" query one --format csv 'SELECT count(*) FROM "net:rx" WHERE hash = '"'18446744073709551615'" | tail -1); }
check 'large numbers that would be in a wrong order' mixed
large() { # only numbers of 20 digits: nothing is needed
  "$kymo" convert --to sqlite --filter 'hash < 9000 OR hash > 10000000000000000000' -o large.db one &&
    diff <("$kymo" query --filter 'hash < 9000 OR hash > 10000000000000000000' one --format csv 'SELECT max(hash), min(hash) FROM "net:rx"' | tail -1 | tr , '|') <(sqlite3 large.db 'SELECT max(hash), min(hash) FROM "net:rx"'); }
check 'large numbers that are in order' large

# ---- what cannot be written ----

check 'a file that is there' says 3 'kymo convert: one.db: cannot write: File exists' "$kymo" convert --to sqlite -o one.db one
check 'no folder' says 3 'kymo convert: none/x.db: cannot write: No such file or directory' "$kymo" convert --to sqlite -o none/x.db one
check 'the standard output' says 2 'kymo convert: a database is written to a file, not to the standard output: --output FILE' "$kymo" convert --to sqlite -o - one
check 'options of the format' says_first 2 'kymo convert: the format "sqlite" has no options' "$kymo" convert --to sqlite:x -o x.db one
check 'options of another format' says_first 2 'kymo convert: --track is for the format "cpel" (--to cpel)' "$kymo" convert --to sqlite --track cpu -o x.db one
check 'a misspelt format' says_first 2 'kymo convert: there is no format "sqlit" (did you mean "sqlite"?)' "$kymo" convert --to sqlit -o x.db one
check 'no trace' says_first 3 'kymo convert: absent: cannot open: No such file or directory' "$kymo" convert --to sqlite -o x.db absent
nothing_stays() { ! compgen -G 'x.db*'; }
check 'nothing stays of what failed' nothing_stays
# A limit of the size of files: at the first page, in the middle, at the indexes.
size=$(($(stat -c %s one.db) / 1024))
limited() { for part in 1 $((size / 3)) $((size * 2 / 3)) $((size - 8)); do
  bash -c "trap '' XFSZ; ulimit -f $part; exec $kymo convert --to sqlite -o x.db one" >said 2>&1
  [ $? = 3 ] && grep -q '^kymo convert: x.db: cannot write: ' said && [ "$(wc -l <said)" = 1 ] && nothing_stays || { cat said; return 1; }
done; }
check 'files of a limited size' limited
if unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
  full() { mkdir -p small && unshare -m bash -c 'mount -t tmpfs -o size=300k none small && "$@" && [ -z "$(ls small)" ]' - \
    says 3 'kymo convert: small/x.db: cannot write: No space left on device' "$kymo" convert --to sqlite -o small/x.db one; }
  export -f says
  check 'a full disk' full
else
  skip 'a full disk' 'no file systems can be mounted here'
fi
killed() { # by the signal of that limit
  bash -c "ulimit -c 0; ulimit -f $((size / 2)); exec $kymo convert --to sqlite -o x.db one" >/dev/null 2>&1
  [ ! -e x.db ] && [ -e x.db.part ] && says 3 'kymo convert: ./x.db.part: cannot write: File exists' "$kymo" convert --to sqlite -o x.db one && rm x.db.part
}
check 'a killed command leaves no file that looks whole' killed
odd_path() { "$kymo" convert --to sqlite -o 'file:odd?mode=memory' one && cmp one.db 'file:odd?mode=memory' && "$kymo" convert --to sqlite -o :memory: one && cmp one.db :memory:; }
check 'paths that mean something to SQLite' odd_path
