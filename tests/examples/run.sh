#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The examples do what they say: untraced, traced, with tracing compiled out; and so does the demo.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

here=$KYMO_SOURCE/tests/examples

# ---- declared tracepoints ----

jobs_are_traced() {
  "$KYMO_BUILD/kymo" record -q -o "$TMPDIR/jobs" -e 'jobs:*' -- "$KYMO_BUILD/examples/jobs" &&
    "$KYMO_BUILD/kymo" cat --format json "$TMPDIR/jobs" | jq -r .event | sort | uniq -c | tr -s ' ' >"$TMPDIR/jobs.counts" &&
    diff - "$TMPDIR/jobs.counts" <<'EOF' && [ "$(grep -c jobs:done "$TMPDIR/jobs/metadata")" = 1 ]
 20 jobs:done
 1 jobs:idle
 16 jobs:queued
EOF
}
check 'jobs: events of the program and of its library are of one class' jobs_are_traced

# ---- orders ----

orders_are_written() {
  "$KYMO_BUILD/examples/orders" "$TMPDIR" && od -An -v -tx1 "$TMPDIR/orders_thread0" | tr -d ' \n' >"$TMPDIR/orders.hex" || return 1
  local order=6f140001000000e303000000000000626f6f6b00
  local way=621c0003001040000000000000204000000000000030400000000000
  [ "$(cat "$TMPDIR/orders.hex")" = "$order$way" ] || { cat "$TMPDIR/orders.hex"; return 1; }
}
check 'orders: a log in a format of its own' orders_are_written

# ---- poet ----

poet=$KYMO_BUILD/examples/poet

# prints EXPECTED_STATUS COMMAND…: its output equals the standard input
prints() {
  local expected=$1 status
  shift
  "$@" >"$TMPDIR/poet.printed" 2>&1 && status=0 || status=$?
  diff - "$TMPDIR/poet.printed" && [ "$status" = "$expected" ]
}
meanings() {
  "$poet" "$TMPDIR/jobs" >"$TMPDIR/poet.all" &&
    awk '{ if ($1 != NR) exit 1; print $2 }' "$TMPDIR/poet.all" | sort | uniq -c | tr -s ' ' | diff "$TMPDIR/jobs.counts" -
}
check 'poet numbers the events of a trace and prints what they mean' meanings
check 'poet refuses to run without a trace' prints 2 "$poet" <<'EOF'
usage: poet TRACE [KEY]
EOF
check 'poet reports what is no trace' prints 3 "$poet" "$TMPDIR/no-trace" <<EOF
poet: $TMPDIR/no-trace: cannot open: No such file or directory
EOF
check 'poet reports what is no compiled description' prints 3 "$poet" "$TMPDIR/jobs" "$TMPDIR/no-key" <<EOF
poet: $TMPDIR/no-key: cannot open: No such file or directory
EOF
cat >"$TMPDIR/doors.tdl" <<'EOF'
TRACE doors;
  BYTES LITTLE;
  CLOCK wall IS EPOCH "1970-01-01T00:00:00Z" RESOLUTION 1 s;
  TOKEN moves=("opened"=1,"closed"=2);
  RECORD door EVENT IS
    ACQUISITION: UNSIGNED 32 TIME wall POINT;
    EVENT: UNSIGNED 8 TOKEN moves;
    number: UNSIGNED 8;
  END;
  LAYOUT REPEAT door;
END TRACE.
EOF
printf '\1\0\0\0\1\7\2\0\0\0\2\7\3\0\0\0\11\7' >"$TMPDIR/doors"
if "$KYMO_BUILD/kymo" compile "$TMPDIR/doors.tdl" -o "$TMPDIR/doors.key" 2>/dev/null; then
  check 'poet prints what records of a described file mean, by the compiled description' \
    prints 0 "$poet" "$TMPDIR/doors" "$TMPDIR/doors.key" <<'EOF'
       1  opened
       2  closed
       3  9 (no interpretation)
EOF
else
  skip 'poet with a compiled description' 'descriptions are not compiled yet'
fi

# The constants of a key's C header, in a program that reads by them.
constants() {
  "$KYMO_BUILD/kymo" describe --as c -o "$TMPDIR/doors.h" "$TMPDIR/doors.key" && cat >"$TMPDIR/constants.c" <<'C' &&
#include "doors.h"
#include <kymo/read.h>
#include <stdio.h>
int main(int argc, char **argv) {
  struct kymo_trace_options options = {0};
  struct kymo_trace *trace;
  const struct kymo_event *event;
  if (argc != 3 || kymo_description_load(&options.description, argv[2], NULL) || kymo_trace_open(&trace, (const char **)&argv[1], 1, &options, NULL))
    return 1;
  while (kymo_trace_next(trace, &event, NULL) == KYMO_OK) {
    uint64_t number = 0;
    if (kymo_event_get_class_number(event) == DOORS_CLOSED)
      kymo_event_get_uint(event, kymo_field_id(trace, event->class_, DOORS_CLOSED_NUMBER), &number);
    printf("%d", (int)number);
  }
  kymo_description_release(options.description);
  kymo_trace_close(trace);
  return 0;
}
C
    gcc -std=c11 -Wall -Wextra -Werror $sanitizer -I"$KYMO_SOURCE/include" "$TMPDIR/constants.c" -o "$TMPDIR/constants" \
      -L"$KYMO_BUILD" -lkymo -Wl,-rpath,"$KYMO_BUILD" && [ "$("$TMPDIR/constants" "$TMPDIR/doors" "$TMPDIR/doors.key")" = 070 ]
}
check 'a program reads by the constants that kymo describe --as c gives' constants

# The program in docs/reading.md, as a reader would copy it.
documented() {
  local status
  sed -n '/^```c$/,/^```$/{/^```/d;p}' "$KYMO_SOURCE/docs/reading.md" >"$TMPDIR/documented.c" &&
    gcc -std=c11 -Wall -Wextra -Werror $sanitizer -I"$KYMO_SOURCE/include" "$TMPDIR/documented.c" -o "$TMPDIR/documented" \
      -L"$KYMO_BUILD" -lkymo -Wl,-rpath,"$KYMO_BUILD" &&
    "$TMPDIR/documented" "$TMPDIR/jobs" >"$TMPDIR/documented.printed" && "$TMPDIR/documented" "$TMPDIR/no-trace"
  [ $? = 3 ]
}
check 'the program in docs/reading.md compiles, reads a trace and fails without one' documented

# ---- sqlite-io ----

program=$KYMO_BUILD/examples/sqlite-io
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
check 'sqlite-io --help lists every option' ends_with 0 '--threads.*' "$program" --help
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
# which are slowest, is chance: a sync that closes a database belongs to no statement
names_syncs() {
  [ "$(grep -c -E '^ +[0-9.]+ ms +(wal|undo)\.db' "$TMPDIR/shown")" = 5 ] &&
    grep -q -E '^ +[0-9.]+ ms +(wal|undo)\.db.* ms  [A-Z]' "$TMPDIR/shown" || { tail -9 "$TMPDIR/shown"; false; }
}
check 'the demo names five syncs, and the statements that waited for them' names_syncs
# kymo record prints where the trace is; any other output on standard error is a complaint
loses_nothing() {
  cat "$TMPDIR/said"
  grep -q -E ': [0-9]+ events, 0 lost$' "$TMPDIR/said" && ! grep -v -E ': [0-9]+ events, 0 lost$' "$TMPDIR/said"
}
check 'the demo breaks no pipe and loses no event' loses_nothing
