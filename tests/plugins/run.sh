#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Sinks out of shared objects: what they are given, how they fail, what is no plug-in; the one of docs/sinks.md, and those of
# examples/, by what their READMEs say. All are compiled against an installed tree, by nothing but its pkg-config.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
here=$KYMO_SOURCE/tests/plugins
cd "$TMPDIR" || exit 1
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace || exit 1

check 'meson install' meson install -C "$KYMO_BUILD" --no-rebuild --quiet --destdir "$TMPDIR/stage"
kymo=$(find stage -path '*/bin/kymo')
kymo=$TMPDIR/$kymo
export PKG_CONFIG_PATH=$(dirname "$(find "$TMPDIR/stage" -name kymo.pc)") PKG_CONFIG_SYSROOT_DIR=$TMPDIR/stage

# compile OUT SOURCE FLAGS…: a plug-in, as its author would
compile() {
  local out=$1 source=$2
  shift 2
  gcc -std=c11 -Wall -Wextra -Werror -shared -fPIC $sanitizer -o "$out" "$source" $(pkg-config --cflags kymo) "$@"
}

# ---- the documented one ----

not_whole='kymo cat: the trace is incomplete: 12 events are lost, 2 packets are lost'

sed -n '/^```c sum.c$/,/^```$/{/^```/d;p}' "$KYMO_SOURCE/docs/sinks.md" >sum.c
check 'the sink of docs/sinks.md compiles as the document says' compile sum.so sum.c -Wno-unused-parameter
check 'it has forty lines' test "$(grep -c . sum.c)" = 40
events=$("$kymo" cat -q -f json mytrace | jq -s '[.[] | select(.event)] | length')
sum=$("$kymo" cat -q -f json mytrace | jq -s '[.[] | .fields.port? // empty | numbers] | "\(length) of them with the field: \(add)"' -r)
check 'it counts and sums' says 1 "$events events, $sum
$not_whole" "$kymo" cat mytrace --sink ./sum.so:port
check 'it does without options' says 1 "$events events, 0 of them with the field: 0
$not_whole" "$kymo" cat mytrace --sink ./sum.so
check 'options may be empty' says 1 "$events events, 0 of them with the field: 0
$not_whole" "$kymo" cat mytrace --sink ./sum.so:
check 'a name without a slash is a file here' says 1 "$events events, $sum
$not_whole" "$kymo" cat mytrace --sink sum.so:port

# ---- what a sink is given, and how it ends ----

compile faulty.so "$here/faulty.c" || not_ok 'the plug-in of the tests' 'does not compile'
losses=$("$kymo" cat -q -f json mytrace | jq -s '[.[] | select(.lost)] | length')
told="$events events, $losses losses, some boundaries, not flushed"
check 'events, losses and boundaries are reported' says 1 "loaded
$told
$not_whole" "$kymo" cat mytrace --sink ./faulty.so
check 'a filter selects the events that it receives' says 0 "loaded
0 events, 0 losses, some boundaries, not flushed" "$kymo" cat mytrace --sink ./faulty.so --begin 2033-01-01
# fails WHERE EVENTS LOSSES BOUNDARIES: the function fails, the end is called nevertheless, the sink's own message is printed
fails() {
  "$kymo" cat mytrace --sink ./faulty.so:"$1" >out 2>said
  [ $? = 3 ] && diff said <(printf 'loaded\nkymo cat: machine: %s is out of order\n' "$1") && grep -qx "$2" out || { cat out said; false; }
}
check 'begin fails' fails begin '0 events, 0 losses, no boundaries, not flushed'
check 'event fails' fails event '1 events, 0 losses, some boundaries, not flushed'
check 'loss fails' fails loss '[0-9]* events, 1 losses, some boundaries, not flushed'
check 'boundary fails' fails boundary '0 events, 0 losses, some boundaries, not flushed'
check 'end fails' fails end "$told"
check 'a sink that does not say why it fails' says 3 'loaded
kymo cat: the sink "faulty" failed without a message: a limit of the library was reached
1 events, 0 losses, some boundaries, not flushed' "$kymo" cat mytrace --sink ./faulty.so:silent
check 'options that the sink refuses' says 2 'loaded
kymo cat: usage is no option of the sink' "$kymo" cat mytrace --sink ./faulty.so:usage

# what is there is given and flushed; then the interrupt ends it
follows() {
  "$kymo" cat --follow mytrace --sink ./faulty.so >out 2>said &
  local follower=$! deadline=$((SECONDS + 60))
  until grep -q flushed said || [ $SECONDS -ge $deadline ]; do sleep 0.05; done
  kill -INT $follower
  wait $follower
  grep -x "$events events, .*, flushed" out || { cat out said; false; }
}
check 'a sink with flush and grow follows' follows

# ---- messages ----

compile messages.so "$here/messages.c" || not_ok 'the plug-in of messages' 'does not compile'
log=${KYMO_SHARED:-}/data/cpel/14-elog.elog
same_messages() {
  "$kymo" cat -f json "$log" | jq -r '.message // empty' >wanted
  "$kymo" cat --sink ./messages.so "$log" >said && test "$(wc -l <said)" -gt 100 && diff wanted said
}
if [ -e "$log" ]; then
  check 'a sink renders the messages that JSON has' same_messages
else
  skip 'a sink renders the messages that JSON has' "no $log"
fi
check 'events without a message have none' says 1 "$not_whole" "$kymo" cat mytrace --sink ./messages.so

# ---- what is no plug-in ----

sink_says() { says "$1" "$2" "$kymo" cat mytrace --sink "$3"; }
check 'no such file' sink_says 3 'kymo cat: ./none.so: cannot open: No such file or directory' ./none.so
check 'a directory' sink_says 3 'kymo cat: ./mytrace: not a regular file' ./mytrace
echo 'no program' >text.so
check 'no shared object' sink_says 3 'kymo cat: ./text.so: expected a shared object of this machine, found other bytes' ./text.so
: >empty.so
check 'an empty file' sink_says 3 'kymo cat: ./empty.so: expected a shared object of this machine, found other bytes' ./empty.so
gcc -c -fPIC -o object.o "$here/faulty.c" $(pkg-config --cflags kymo)
check 'an object that was not linked' sink_says 3 'kymo cat: ./object.o: expected a shared object of this machine, found other bytes' ./object.o
compile other.so "$here/faulty.c" -DNAME=other_plugin
check 'nothing is run of a shared object that exports no sink' \
  sink_says 3 'kymo cat: ./other.so: expected a shared object that exports kymo_sink_plugin, found none of that name' ./other.so
library=$(ls -1 /lib/*/libc.so.6 /lib/libc.so.6 2>/dev/null | head -1)
[ -n "$library" ] && check 'a library of the system is not searched by name' \
  sink_says 3 'kymo cat: libc.so.6: cannot open: No such file or directory' libc.so.6
head -c 3000 faulty.so >cut.so
check 'a shared object that was cut off' \
  sink_says 3 'kymo cat: ./cut.so: expected a shared object that exports kymo_sink_plugin, found none of that name' ./cut.so
compile undefined.so "$here/faulty.c" -DUNDEFINED
check 'one that needs what this kymo does not have' \
  sink_says 3 'kymo cat: ./undefined.so: cannot be loaded: undefined symbol: kymo_of_the_future' ./undefined.so

# ---- versions ----

cat >size.c <<'C'
#include <kymo/sink.h>
int main(void) { return printf("%zu %zu\n", offsetof(struct kymo_sink, flush), sizeof(struct kymo_sink)) < 0; }
C
size=$(gcc $sanitizer -o size size.c $(pkg-config --cflags kymo) && ./size)
least=${size% *} most=${size#* }
compile older.so "$here/faulty.c" '-DSIZE=offsetof(struct kymo_sink, flush)'
check 'an older plug-in is read' says 1 "loaded
$told
$not_whole" "$kymo" cat mytrace --sink ./older.so
check 'an older plug-in follows nothing' says 2 'loaded
kymo cat: the sink "faulty" cannot be used while a trace grows' "$kymo" cat --follow mytrace --sink ./older.so
compile newer.so "$here/faulty.c" '-DSIZE=sizeof(struct kymo_sink)+8'
check 'a newer plug-in is refused' sink_says 3 "loaded
kymo cat: ./newer.so: expected kymo_sink_plugin of $least to $most bytes, found $((most + 8)): it is made for a newer kymo" ./newer.so
compile small.so "$here/faulty.c" -DSIZE=8
check 'a descriptor that is too small is refused' sink_says 3 "loaded
kymo cat: ./small.so: expected kymo_sink_plugin of $least to $most bytes, found 8" ./small.so
compile version.so "$here/faulty.c" -DVERSION=2
check 'another version is refused' sink_says 3 'loaded
kymo cat: ./version.so: expected kymo_sink_plugin of version 1, found version 2' ./version.so
compile eventless.so "$here/faulty.c" -DWITHOUT_EVENT
check 'a sink must take events' sink_says 3 'loaded
kymo cat: ./eventless.so: expected kymo_sink_plugin with event, found NULL' ./eventless.so
compile half.so "$here/faulty.c" -DONLY_FLUSH
check 'flush without grow is refused' sink_says 3 'loaded
kymo cat: ./half.so: expected kymo_sink_plugin with flush and grow or neither, found only flush' ./half.so

# ---- command lines ----

# usage TEXT COMMAND…: the first line, and status 2
usage() {
  local text=$1 status
  shift
  "$@" >said 2>&1
  status=$?
  [ "$(head -1 said)" = "$text" ] && [ $status = 2 ] || { echo "exit status $status"; cat said; false; }
}
check 'a format and a sink' usage 'kymo cat: --format and --sink both choose where the events go; use one' \
  "$kymo" cat mytrace -f json --sink ./faulty.so
check 'two sinks' usage 'kymo cat: --sink is given once' "$kymo" cat mytrace --sink ./faulty.so --sink ./sum.so
check 'no file' usage 'kymo cat: --sink is a file, FILE or FILE:OPTIONS' "$kymo" cat mytrace --sink :port
check 'what is of formats' usage 'kymo cat: --no-delta is for formats: the options of a sink follow its file, --sink FILE:OPTIONS' \
  "$kymo" cat mytrace --no-delta --sink ./faulty.so
compile files.so "$here/faulty.c" -DMAKES_FILES
check 'cat with a sink that makes files' says 2 'loaded
kymo cat: the sink ./files.so writes files: kymo convert --sink ./files.so --output OUT' "$kymo" cat mytrace --sink ./files.so
check 'convert with a sink that makes none' says 2 'loaded
kymo convert: the sink ./faulty.so writes no files: kymo cat --sink ./faulty.so' "$kymo" convert mytrace --sink ./faulty.so -o made
check 'convert with a format and a sink' usage 'kymo convert: --to and --sink both choose where the events go; use one' \
  "$kymo" convert mytrace --to ctf2 --sink ./files.so -o made
for command in convert merge; do
  check "$command writes the output of a sink" eval 'may_lose "$kymo" $command mytrace --sink ./files.so -o made.'$command' && grep -qx "$told" made.'$command
done

# ---- in C++ ----

in_cpp() {
  cat >counts.cc <<'C' || return
#include <cstdio>
#include <kymo/sink.h>
struct kymo_sink_state { std::FILE *out; unsigned events; };
static int begin(kymo_sink_state **state, kymo_trace *, const kymo_sink_options *options, kymo_error *) {
  *state = new kymo_sink_state{options->out, 0};
  return KYMO_OK;
}
static int event(kymo_sink_state *state, const kymo_event *, kymo_error *) { return state->events++, KYMO_OK; }
static int end(kymo_sink_state *state, kymo_error *) {
  std::fprintf(state->out, "%u events\n", state->events);
  delete state;
  return KYMO_OK;
}
const struct kymo_sink kymo_sink_plugin = {KYMO_SINK_ABI, .name = "counts", .begin = begin, .event = event, .end = end};
C
  g++ -std=c++20 -Wall -Werror -shared -fPIC $sanitizer -o counts.so counts.cc $(pkg-config --cflags kymo) &&
    says 1 "$events events
$not_whole" "$kymo" cat mytrace --sink ./counts.so
}
check 'a sink in C++' in_cpp

# ---- both ways to libkymo ----

check 'a plug-in that is linked with libkymo' eval \
  'compile linked.so sum.c -Wno-unused-parameter $(pkg-config --libs kymo) && LD_LIBRARY_PATH=$(dirname "$(find "$TMPDIR/stage" -name libkymo.so)") says 1 "$events events, $sum
$not_whole" "$kymo" cat mytrace --sink ./linked.so:port'
cat >driver.c <<'C'
#include <kymo/sink.h>
int main(int argc, char **argv) {
  const struct kymo_sink *sink;
  struct kymo_error error = {.offset = KYMO_ERROR_NO_OFFSET};
  char text[1024];
  if (argc != 2 || kymo_sink_load(&sink, argv[1], &error) != KYMO_OK)
    return puts(kymo_error_text(&error, text, sizeof text)), 1;
  puts(sink->summary);
  kymo_sink_unload(sink);
  return 0;
}
C
drives() {
  gcc -Wall -Werror $sanitizer -o driver driver.c $(pkg-config --cflags --libs kymo) || return 1
  export LD_LIBRARY_PATH=$(dirname "$(find "$TMPDIR/stage" -name libkymo.so)")
  says 0 'how many events, and the sum of a field' ./driver ./sum.so &&
    says 1 './none.so: cannot open: No such file or directory' ./driver ./none.so
}
check 'a program with libkymo loads sinks' drives
mkdir 'a:b' && cp sum.so 'a:b/sum:port.so'
check 'colons in the name of a file' says 1 "$events events, $sum
$not_whole" "$kymo" cat mytrace --sink 'a:b/sum:port.so:port'

# ---- examples ----

# The line of an example's README that compiles it, in its folder, with the warnings and sanitizers of this build.
compile_example() {
  local line
  line=$(sed -n 's/^    cc //p' "$KYMO_SOURCE/examples/$1/README.md")
  mkdir -p "$1" && cp "$KYMO_SOURCE/examples/$1/$1.c" "$1" && (cd "$1" && eval "gcc -std=c11 -Wall -Wextra -Werror $sanitizer $line")
}
bin=$TMPDIR/bin
mkdir -p "$bin" && ln -sf "$kymo" "$bin/kymo"
"$KYMO_BUILD/kymo" record -q -o jobs -e 'jobs:*' -- "$KYMO_BUILD/examples/jobs" >/dev/null 2>&1

# ---- sink-sqlite ----

in_database() {
  rm -f events.db
  may_lose "$kymo" cat -q "$@" --sink ./sink-sqlite/sink-sqlite.so:events.db && may_lose "$kymo" cat -q -f json "$@" >events.json &&
    python3 "$here/sqlite.py" events.db events.json
}
sql() { sqlite3 -readonly events.db "$1"; }
# One thing that sqlite3 and jq count alike.
sums_up() {
  [ "$(sql 'select count(*), sum(port) from "net:rx"')" = "$(jq -s -r '[.[].fields.port? // empty] | "\(length)|\(add)"' events.json)" ]
}
if ! compile_example sink-sqlite >compiled 2>&1 && ! pkg-config --exists sqlite3; then
  skip 'examples/sink-sqlite' 'there is no libsqlite3-dev'
elif ! command -v sqlite3 >/dev/null; then
  skip 'examples/sink-sqlite' 'there is no sqlite3'
else
  check 'sink-sqlite compiles as its README says' eval 'cat compiled; [ -e sink-sqlite/sink-sqlite.so ]'
  check 'sqlite3 has the events of jobs' in_database jobs
  check 'sqlite3 has those of every kind' in_database mytrace
  check 'sums in SQL are those of JSON' sums_up
  check 'unsigned numbers of 64 bits stay what they are' \
    test "$(sql 'select distinct typeof(max), max, max > 9223372036854775807 from "all:kinds"')" = 'text|18446744073709551615|1'
  check 'text that is no UTF-8 stays as bytes' test "$(sql 'select distinct typeof(text) from "all:kinds"')" = blob
  check 'losses are in a table' test "$(sql 'select what, sum(count) from losses group by what')" = 'events|12
packets|2'
  check 'a filter decides what is in' eval 'in_database mytrace --filter "port = 443" && [ "$(sql "select count(*) from events")" = 1 ]'
  check 'a database that has events is refused' says 3 'kymo cat: events.db: table events already exists' \
    "$kymo" cat mytrace --sink ./sink-sqlite/sink-sqlite.so:events.db
  check 'and stays as it was' test "$(sql 'select count(*) from events')" = 1
  check 'a database that cannot be made' says 3 'kymo cat: none/events.db: unable to open database file' \
    "$kymo" cat mytrace --sink ./sink-sqlite/sink-sqlite.so:none/events.db
  check 'a database must be named' says 2 'kymo cat: which database? --sink ./sink-sqlite.so:FILE' \
    "$kymo" cat mytrace --sink ./sink-sqlite/sink-sqlite.so
  traces=$(find "${KYMO_SHARED:-/nonexistent}"/data/ctf/lttng-{two-channels-timer,discarded,uid-kinds} -name metadata -printf '%h\n' 2>/dev/null)
  [ -n "$traces" ] || skip "sqlite3 has LTTng's events" 'no shared data'
  for trace in $traces; do
    check "sqlite3 has the events of ${trace#*/ctf/}" in_database "$trace"
  done
  [ -z "$traces" ] || check 'classes of one name in several traces share a table if they are alike' in_database --force-correlate $traces
  follows_database() {
    rm -f live.db
    "$kymo" cat --follow mytrace --sink ./sink-sqlite/sink-sqlite.so:live.db &
    local follower=$! deadline=$((SECONDS + 60))
    until [ "$(sqlite3 -readonly live.db 'select count(*) from events' 2>/dev/null)" = "$events" ] || [ $SECONDS -ge $deadline ]; do
      sleep 0.05
    done
    kill -INT $follower
    wait $follower
    [ "$(sqlite3 live.db 'select count(*) from events')" = "$events" ]
  }
  check 'others see the rows that were written so far' follows_database
  # while a transaction waits, no other program can begin to read
  is_waiting() { ! sqlite3 -readonly held.db 'select * from other' 2>/dev/null; }
  waits_for_reader() {
    rm -f held.db reader
    mkfifo reader
    sqlite3 held.db 'create table other(a); insert into other values(1)'
    sqlite3 held.db <reader >held &
    exec 8>reader
    echo 'begin; select a from other;' >&8
    until_true grep -qx 1 held || return 1
    "$kymo" cat mytrace --sink ./sink-sqlite/sink-sqlite.so:held.db 8>&- &
    local writer=$! status=0
    until_true is_waiting || status=1
    exec 8>&-
    wait $writer || [ $? = 1 ] || status=1 # the trace has losses
    [ $status = 0 ] && [ "$(sqlite3 held.db 'select count(*) from events')" = "$events" ]
  }
  check 'rows wait while another program reads' waits_for_reader
  documented() {
    (cd sink-sqlite && cp -r ../mytrace TRACE && PATH=$bin:$PATH &&
      sed -n 's/^    \(kymo\|sqlite3\)/\1/p' "$KYMO_SOURCE/examples/sink-sqlite/README.md" >shown && . ./shown) >printed 2>&1 &&
      grep -qx 'net:rx|3' printed && grep -qx 'eth0|3|1400' printed || { cat printed; false; }
  }
  check 'the commands in its README work' documented
  manual() {
    sed -n '/^kymo cat .*--sink/,/^\.Ed/{/^\.Ed/d;p}' "$KYMO_SOURCE/docs/man/kymo-cat.1" >shown && [ -s shown ] &&
      (cd sink-sqlite && cp -r ../mytrace . && PATH=$bin:$PATH && . ../shown) >printed 2>&1 && grep -qx '3|eth0' printed || { cat printed; false; }
  }
  check 'the example of kymo-cat(1) works' manual
fi

check 'sink-gnuplot compiles as its README says' compile_example sink-gnuplot

# ---- streams of a program ----

# Events that describe themselves, in a file a thread: import and query, and a graph, as SystemTap's thread wanted them.
record_reads() {
  gcc -std=gnu11 -Wall -Wextra -Werror $sanitizer -o reads "$here/reads.c" $(pkg-config --cflags --libs kymo-trace) -pthread &&
    LD_LIBRARY_PATH=$(dirname "$(find "$TMPDIR/stage" -name libkymo-trace.so)") ./reads log 300 && [ -s log_thread0 ] && [ -s log_thread1 ]
}
check 'a program writes events that describe themselves' record_reads
check 'any sink takes streams of a file a thread' says 0 '660 events, 600 of them with the field: 734822400' "$kymo" cat log_thread* --sink ./sum.so:count
if [ -e sink-sqlite/sink-sqlite.so ] && command -v sqlite3 >/dev/null; then
  check 'they are imported' in_database log_thread*
  check '… and asked for' test "$(sql 'select count(*), sum(count), min(timeval), max(fd) from read')" = '600|734822400|1142896381.0|6'
  check '… by name' test "$(sql 'select distinct id, filename from open')" = '2|/dev/hdc'
fi
check 'and drawn' eval 'rm -f log.svg*; "$kymo" cat log_thread* --sink ./sink-gnuplot/sink-gnuplot.so:x=timeval,y=fd,out=log.svg,script && [ "$(wc -l <log.svg.data)" = 600 ]'

# ---- sink-gnuplot ----

graph() { "$kymo" cat "$1" --sink "./sink-gnuplot/sink-gnuplot.so:$2"; }
# draws TRACE OPTIONS CLASS FIELD: a point in the SVG for each event, and one in the legend; the data are what JSON has
draws() {
  local wanted
  rm -f graph.svg*
  may_lose graph "$1" "$2" || return 1
  wanted=$("$kymo" cat -q -f json "$1" | jq -r "select(.event == \"$3\") | .fields.$4")
  [ -n "$wanted" ] && diff <(cut -d' ' -f2 graph.svg.data) <(printf '%s\n' "$wanted") &&
    [ "$(grep -c "<use xlink:href='#gpPt0' transform=" graph.svg)" = $(($(wc -l <<<"$wanted") + 1)) ]
}
check 'a script and its data' eval 'may_lose graph mytrace y=port,out=left.svg,script && [ ! -e left.svg ] && cat left.svg.data left.svg.gnuplot | diff "$here/left.expected" -'
check 'over another field' eval 'may_lose graph mytrace y=port,x=where.x,out=where.svg,script && diff where.svg.data <(printf "%s\n" "-1 80 0" "-1 443 0" "-1 53 0")'
check 'no event has the field' says 3 'kymo cat: gnuplot: no event has numbers "time" and "iface"' graph mytrace y=iface
check 'no field' says 2 'kymo cat: gnuplot: which field? --sink ./sink-gnuplot.so:y=FIELD' graph mytrace out=a.svg
check 'a wrong option' says 2 'kymo cat: gnuplot: expected x=, y=, out=, with= or script, found "z"' graph mytrace z=port
check 'a wrong style' says 2 'kymo cat: gnuplot: expected points, dots, lines, linespoints, steps or impulses, found "pies; system"' \
  graph mytrace 'y=port,with=pies; system'
check 'a wrong ending' says 2 'kymo cat: gnuplot: expected out=NAME.svg or NAME.png, found "graph.txt"' graph mytrace y=port,out=graph.txt
check 'no place for the data' says 3 'kymo cat: none/graph.svg.data: No such file or directory' graph mytrace y=port,out=none/graph.svg
check 'no gnuplot' says 3 'kymo cat: gnuplot: No such file or directory' \
  env PATH="$bin" "$kymo" cat mytrace --sink ./sink-gnuplot/sink-gnuplot.so:y=port
if ! command -v gnuplot >/dev/null; then
  skip 'what gnuplot draws' 'gnuplot is not installed'
else
  check 'gnuplot draws a point for each event' draws mytrace y=port net:rx port
  check 'names with quotes are no commands' eval "may_lose graph mytrace \"y=port,out=it's.svg\" && [ -s \"it's.svg\" ]"
  check 'gnuplot makes a PNG' eval 'may_lose graph mytrace y=port,out=graph.png && [ "$(head -c 8 graph.png | tail -c 7 | head -c 3)" = PNG ]'
fi
