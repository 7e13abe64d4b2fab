#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The examples do what they say: untraced, traced, with tracing compiled out; and so does the demo.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

program=$KYMO_BUILD/examples/sqlite-io
here=$KYMO_SOURCE/tests/examples
if [ ! -x "$program" ]; then
  skip 'examples/sqlite-io' 'not built, as there is no libsqlite3-dev'
  exit 0
fi
few='--threads 8 --transactions 20'

# ends_with STATUS TEXT COMMAND…: that exit code, and TEXT (a regex) in what it prints
ends_with() {
  local expected=$1 text=$2 output status
  shift 2
  output=$("$@" 2>&1) && status=0 || status=$?
  printf '%s\n' "$output"
  [ "$status" = "$expected" ] && grep -q -e "$text" <<<"$output"
}

# ---- untraced ----

runs_and_cleans_up() {
  mkdir "$TMPDIR/parent" && TMPDIR=$TMPDIR/parent "$program" $few && rmdir "$TMPDIR/parent"
}
check 'sqlite-io runs and removes its temporary directory' runs_and_cleans_up
check 'sqlite-io keeps databases in a directory of the user' "$program" $few --directory "$TMPDIR/kept"
check 'sqlite-io goes on where an earlier run ended' \
  ends_with 0 '^undo.db: 80 transfers, expected 80$' "$program" $few --directory "$TMPDIR/kept"
check 'sqlite-io runs with one thread' "$program" --threads 1 --transactions 3
check 'sqlite-io --help tells of every option' ends_with 0 '--threads.*' "$program" --help
for bad in '--threads 0' '--threads 65' '--threads -1' '--threads 2x' '--transactions 0' '--transactions' \
  '--nonsense' 'word'; do
  check "sqlite-io refuses $bad" ends_with 2 . "$program" $bad
done

# ---- it can fail ----

change() {
  python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db: db.execute(sys.argv[2])' "$@"
}
check 'a database changes its money' \
  change "$TMPDIR/kept/wal.db" 'UPDATE account SET balance = balance + 1 WHERE id = (SELECT min(id) FROM account)'
check 'sqlite-io finds money that came from nowhere' \
  ends_with 1 'wal.db: the accounts make 1$' "$program" $few --directory "$TMPDIR/kept"
mkdir "$TMPDIR/broken" && printf '%8192s' 'no database' >"$TMPDIR/broken/undo.db"
check 'sqlite-io fails on what is no database' \
  ends_with 1 'undo.db: .*not a database' "$program" $few --directory "$TMPDIR/broken"
check 'sqlite-io fails without a directory' ends_with 1 'cannot make' "$program" --directory "$TMPDIR/none/none"
check 'sqlite-io fails when its output is lost' ends_with 1 '' bash -c "$program $few >/dev/full"

# ---- traced ----

traced() {
  KYMO_ENABLE='*' KYMO_OUT=$TMPDIR/traces KYMO_MODE=discard KYMO_BUFFER=4M "$program" $few >"$TMPDIR/printed"
}
check 'sqlite-io runs traced' traced
if command -v babeltrace2 >/dev/null; then
  babeltrace2 --clock-seconds "$TMPDIR"/traces/* >"$TMPDIR/events" 2>"$TMPDIR/complaints"
  check 'babeltrace2 reads the trace without complaint' test ! -s "$TMPDIR/complaints"
  python3 "$here/check_trace.py" "$TMPDIR/events" "$TMPDIR/printed"
else
  skip 'the trace of sqlite-io' 'babeltrace2 is not installed'
fi

# ---- compiled out ----

for compiler in gcc clang; do
  if ! command -v "$compiler" >/dev/null; then
    skip "KYMO_DISABLE with $compiler" "$compiler is not installed"
    continue
  fi
  check "KYMO_DISABLE leaves no warning in $compiler, and needs no library" \
    "$compiler" -std=c11 -O2 -Wall -Wextra -Wshadow -Wpedantic -Werror -DKYMO_DISABLE -I"$KYMO_SOURCE/include" \
    "$KYMO_SOURCE/examples/sqlite-io.c" -o "$TMPDIR/disabled-$compiler" $(pkg-config --cflags --libs sqlite3) -pthread
done
records_nothing() {
  KYMO_ENABLE='*' KYMO_OUT=$TMPDIR/nothing "$TMPDIR/disabled-gcc" $few && [ ! -e "$TMPDIR/nothing" ]
}
check 'KYMO_DISABLE: sqlite-io runs and records nothing' records_nothing

# ---- what reads traces ----

names_slowest() {
  python3 "$KYMO_SOURCE/examples/slowest-syncs.py" 2 <"$here/syncs.json" | diff "$here/syncs.expected" -
}
check 'slowest-syncs.py names statements, also those that it did not see begin' names_slowest
check_fails 'slowest-syncs.py says so when there is no sync' python3 "$KYMO_SOURCE/examples/slowest-syncs.py" </dev/null

demo() {
  (cd "$KYMO_SOURCE" && scripts/demo.sh "$KYMO_BUILD" "$TMPDIR/demo") >"$TMPDIR/shown" 2>"$TMPDIR/said"
  local status=$?
  cat "$TMPDIR/shown" "$TMPDIR/said"
  return $status
}
check 'the demo runs' demo
check 'the demo runs again' demo
check 'the demo shows twenty events' \
  test "$(grep -c -E '^\[[0-9:.]+\] \+[0-9.]+ .* (vfs|sql|bank):[a-z_]+ ' "$TMPDIR/shown")" = 20
check 'the demo names the statements of five syncs' \
  test "$(grep -c -E '^ +[0-9.]+ ms +(wal|undo)\.db.* ms  [A-Z]' "$TMPDIR/shown")" = 5
# kymo record tells where the trace is; whatever else comes on standard error is a complaint
loses_nothing() {
  cat "$TMPDIR/said"
  grep -q -E ': [0-9]+ events, 0 lost$' "$TMPDIR/said" && ! grep -v -E ': [0-9]+ events, 0 lost$' "$TMPDIR/said"
}
check 'the demo breaks no pipe and loses no event' loses_nothing
