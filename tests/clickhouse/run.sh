#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo convert --to clickhouse, with servers of Debian's clickhouse-server: values, whatever breaks on the way, messages.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/clickhouse
export TZ=UTC LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 PATH=$PATH:/usr/sbin
cd "$TMPDIR" || exit 1
if "$kymo" convert nothing --to clickhouse -o http://127.0.0.1:1/k 2>&1 | grep -qF 'built without libcurl'; then
  skip 'kymo convert --to clickhouse' 'built without libcurl'
  exit 0
fi

# ---- messages, without a server ----

python3 "$KYMO_SOURCE/tests/query/make_trace.py" one 1 && python3 "$KYMO_SOURCE/tests/query/make_trace.py" two 2 1000 || exit 1
to() { "$kymo" convert one --to clickhouse -o "$@"; }
unreachable() { says 3 "kymo convert: http://127.0.0.1:1/k: Couldn't connect to server" to http://127.0.0.1:1/k; }
check 'a server that does not answer' unreachable
no_database() { says 2 'kymo convert: expected http://HOST:PORT/DATABASE, found "127.0.0.1:1"' to http://ada:s3cret@127.0.0.1:1; }
check 'an address without a database' no_database
other_scheme() { says 2 'kymo convert: expected http://HOST:PORT/DATABASE, found "ftp://127.0.0.1/k"' to ftp://127.0.0.1/k; }
check 'an address of another protocol' other_scheme
in_query() { says 2 'kymo convert: expected http://HOST:PORT/DATABASE, found "http://127.0.0.1:1/k"' to 'http://127.0.0.1:1/k?password=s3cret'; }
check 'a password that is not printed' in_query
selected() { says 2 'kymo convert: --filter: the format "clickhouse" takes whole traces; leave out events when you query' to http://127.0.0.1:1/k --filter 'port = 80' &&
  says 2 'kymo convert: --begin: the format "clickhouse" takes whole traces; leave out events when you query' to http://127.0.0.1:1/k --begin +1s; }
check 'parts of traces' selected
options() { says_first 2 'kymo convert: --cluster is for the format "clickhouse" (--to clickhouse)' "$kymo" convert one -o x --cluster c &&
  says_first 2 'kymo convert: --jobs is a number from 1 to 64, not "0"' to http://127.0.0.1:1/k --jobs 0 &&
  says_first 2 'kymo convert: --track is for the format "cpel" (--to cpel)' to http://127.0.0.1:1/k --track cpu &&
  says_first 2 'kymo convert: there is no format "clickhous" (did you mean "clickhouse"?)' "$kymo" convert one --to clickhous -o x; }
check 'options of other formats' options
printf 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' >reply
not_clickhouse() {
  local port
  port=$(python3 "$here/reply.py" reply listening)
  says 3 "kymo convert: http://127.0.0.1:$port/k: expected the version of a ClickHouse server, found \"hello\"" to "http://127.0.0.1:$port/k"
}
check 'a server of something else' not_clickhouse

check 'the tables of newer servers' python3 "$here/dialect.py" "$kymo" one

if ! command -v clickhouse-server >/dev/null; then
  skip 'rows in ClickHouse' 'clickhouse-server is not installed'
  exit 0
fi

# ---- rows, and faults ----

python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 3 && cc -O2 -D_GNU_SOURCE "$KYMO_SOURCE/bench/query/generate.c" -o generate &&
  ./generate large 300000 && ./generate few 2000 || exit 1
python3 "$here/same_rows.py" "$kymo" .
python3 "$here/presets.py" "$kymo" .
python3 "$here/cluster.py" "$kymo" .
python3 "$here/faults.py" "$kymo" . "${KYMO_ROUNDS:-}"
