#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo stat latency of spans: nested, recursive, of several kinds, of several threads, and over lost events.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/spans
cd "$TMPDIR" || exit 1

# ---- spans of threads ----

record() {
  ${KYMO_CC:-cc} $sanitizer -I"$KYMO_SOURCE/include" "$here/spans.c" -o spans -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread &&
    "$kymo" record -q -o recorded -- ./spans && "$kymo" cat -f json recorded >events
}
agrees() { "$kymo" stat latency "$@" --by event --json recorded >statistics; }
recursive() {
  agrees --from app:rec_begin --to app:rec_end && python3 "$here/check.py" statistics events app:rec &&
    jq -se 'map(select(.event == "app:rec_end"))[0].count == 40' statistics >printed && ! grep -q without statistics
}
kinds() {
  agrees --from 'app:*_begin' --to 'app:*_end' && python3 "$here/check.py" statistics events app:rec app:even app:odd
}
nested() { # one kind alone: those of the other in between do not matter
  agrees --from app:even_begin --to app:even_end && python3 "$here/check.py" statistics events app:even
}
named_as_written() { # KYMO_SPAN(app, rec) has the events app:rec_begin and app:rec_end
  local hint='the traces have no event of such a name (it is a span: use its events, "app:rec_*")'
  [ "$("$kymo" cat --event app:rec recorded 2>&1)" = "kymo cat: --event app:rec: $hint" ] && "$kymo" cat --event 'app:rec_*' recorded | grep -q app:rec_end &&
    [ "$("$kymo" stat latency --from app:rec --to app:rec_end recorded 2>&1)" = "kymo stat: --from app:rec: $hint" ]
}
no_pair() { # a begin and an end of two kinds are paired if that is what is asked for
  "$kymo" stat latency --from app:even_begin --to app:odd_end recorded | grep -qE '^all +10 '
}
key() { # spans belong to their thread also where a key is given
  "$kymo" stat latency --from app:even_begin --to app:even_end --key n --by n --json recorded >statistics &&
    [ "$(jq -r 'select(.count and .n) | "\(.n) \(.count)"' statistics | sort)" = "$(printf '%s\n' '1 2' '3 2' '5 2' '7 2' '9 2')" ]
}
begun() { # the end of KYMO_SPAN has no fields: it counts where it began
  "$kymo" stat latency --from app:rec_begin --to app:rec_end --by n --json recorded >statistics &&
    [ "$(jq -r 'select(.count and .n) | "\(.n) \(.count)"' statistics | sort)" = "$(seq -f '%g 4' 0 9)" ]
}
other_thread() { # a key of requests goes from thread to thread
  "$kymo" stat latency --from request:begin --to request:end --key id --by event recorded >printed &&
    grep -qE '^request:end +10 ' printed && ! grep -q 'not counted' printed &&
    "$kymo" stat latency --from request:begin --to request:end recorded | grep -qx 'not counted: 10 without begin, 10 without end'
}
regression() { # nested as deep as it likes, and what is inside counts for itself
  "$kymo" stat regression --from 'app:*_begin' --to 'app:*_end' --csv recorded | tail -n +2 >printed && [ "$(cut -d, -f2 printed)" = 60 ]
}
if record; then
  check 'the name of a span, which is no event' named_as_written
  check 'a recursive span: each end belongs to the latest begin' recursive
  check 'several kinds of spans at once' kinds
  check 'one kind among others' nested
  check 'a begin and an end of two kinds' no_pair
  check 'spans with a key' key
  check 'an end without fields is of the group of its begin' begun
  check 'a key of requests that end in another thread' other_thread
  check 'regression over nested spans' regression
else
  skip 'spans of threads' 'cannot be recorded on this rung'
fi

# ---- lost events ----

mkdir lossy && python3 - <<'P'
import struct
open('lossy/metadata', 'w').write('''/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; align = 8; } magic; }; };
clock { name = c; freq = 1000000000; };
stream {
  packet.context := struct {
    integer { size = 64; align = 8; } content_size; integer { size = 64; align = 8; } packet_size;
    integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin; integer { size = 64; align = 8; map = clock.c.value; } timestamp_end;
    integer { size = 64; align = 8; } events_discarded; integer { size = 32; align = 8; } tid; };
  event.header := struct { integer { size = 16; align = 8; } id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; };
};
event { id = 0; name = "begin"; fields := struct { }; };
event { id = 1; name = "end"; fields := struct { }; };
''')
packets = [(0, [(10, 0), (20, 0)]), (3, [(100, 1), (110, 0), (130, 1)])]
with open('lossy/stream', 'wb') as file:
    for lost, events in packets:
        body = b''.join(struct.pack('<HQ', kind, time) for time, kind in events)
        bits = (4 + 44 + len(body)) * 8
        file.write(struct.pack('<IQQQQQI', 0xC1FC1FC1, bits, bits, events[0][0], events[-1][0], lost, 7) + body)
P
lossy() { # 20 and 100 are no pair that is known: the end of the first one, and the begin of the other, may be what is lost
  "$kymo" stat latency --from begin --to end --json lossy >statistics 2>said
  [ "$(jq -r 'select(.count and .track) | "\(.track) \(.count) \(.max)"' statistics)" = '7 1 20' ] &&
    grep -qxF '{"without_begin":0,"without_end":1,"without_key":0,"over_lost_events":1}' statistics &&
    "$kymo" stat latency --from begin --to end lossy 2>said | grep -qxF 'not counted: 1 without end, 1 over lost events' &&
    "$kymo" stat latency --from begin --to end --csv lossy 2>&1 >printed | grep -qxF 'kymo stat: not counted: 0 without begin, 1 without end, 0 without key, 1 over lost events'
}
check 'a span over lost events is not measured, and this is reported' lossy

# ---- tables ----

export TZ=UTC
python3 "$here/table_trace.py" table && python3 "$here/table_trace.py" seconds no-epoch || exit 1

# golden NAME COMMAND…: its output is that of expected/NAME, and no line is wider than COLUMNS
golden() {
  local name=$1
  shift
  "$@" >actual 2>&1 || { cat actual; return 1; }
  [ "${KYMO_REWRITE:-}" != 1 ] || { mkdir -p "$here/expected" && cp actual "$here/expected/$name"; }
  diff -u "$here/expected/$name" actual || return 1
  [ -z "${COLUMNS:-}" ] || [ "$(wc -L <actual)" -le "$COLUMNS" ] || { echo "wider than $COLUMNS"; return 1; }
}
tables() { # at the width of COLUMNS; NAME
  golden "latency.$1" "$kymo" stat latency table && golden "latency-by.$1" "$kymo" stat latency --by event table &&
    golden "distance.$1" "$kymo" stat distance table && golden "counts.$1" "$kymo" stat counts table &&
    golden "functions.$1" "$kymo" stat functions table && golden "calls.$1" "$kymo" stat calls table &&
    golden "regression.$1" "$kymo" stat regression --from http:request_begin --to http:request_end --key tid table &&
    golden "histogram.$1" "$kymo" stat histogram duration_ns table
}
for columns in 80 160; do
  COLUMNS=$columns check "tables at $columns columns" tables $columns
done
check 'tables on a pipe' tables pipe
check 'times of a clock without epoch' golden latency.seconds "$kymo" stat latency seconds
narrow() { # what cannot be narrower is not cut to nothing
  COLUMNS=30 "$kymo" stat latency table >printed && head -1 printed | grep -qE '^span +count +total +self +p50 +p99 +max$'
}
check 'a terminal that is too narrow' narrow
on_terminal() { # the width is the terminal's, and the names on it are cut
  env -u COLUMNS script -qec "stty cols 90; '$kymo' stat latency table" /dev/null </dev/null | tr -d '\r' >printed
  [ "$(wc -L <printed)" -le 90 ] && grep -q '^db:a_.*\.\.\..* ' printed
}
if command -v script >/dev/null; then check 'the width of the terminal' on_terminal; else skip 'the width of the terminal' 'there is no script'; fi

# The command under each row shows the events from the begin to the end when it is pasted: also where a line is broken.
bin=$TMPDIR/bin
mkdir -p "$bin" && ln -sf "$kymo" "$bin/kymo" && cp -r table "it's a trace"
cat >paste.py <<'P'
import json, subprocess, sys
def run(*words):
    out = subprocess.run(words, capture_output=True, text=True)
    assert out.returncode == 0, (words, out.stderr)
    return out.stdout.splitlines()
statistics = sys.argv[2:] or ['latency']
rows, opened = {}, []
for row in map(json.loads, run('kymo', 'stat', *statistics, '--json', sys.argv[1])):
    if 'worst' in row:
        rows[row['worst']['end'] - row['worst']['begin'], row['worst']['begin']] = row['span']
    elif 'longest' in row:
        rows[row['longest'], row['begin']] = None
    elif 'open' in row:
        opened.append(row['open'])
commands = []
for line in run('kymo', 'stat', *statistics, sys.argv[1]):
    if line.startswith('    kymo '):
        commands.append(line)
    elif line.startswith('        ') and commands and commands[-1].replace("\\'", '').count("'") % 2:
        commands[-1] += '\n' + line
    elif commands and commands[-1].endswith(' \\'):
        commands[-1] += '\n' + line
assert len(commands) == len(rows) + len(opened) and len(rows) == 5, (commands, rows, opened)
for command in commands:
    events = [json.loads(line) for line in run('bash', '-c', command.replace('kymo cat', 'kymo cat -q -f json', 1))]
    if ' END)' in command.replace('\n', ' '): # it is open at the end
        begin = opened.pop(0)
        assert (events[0]['ts'], events[0]['tid']) == (begin['begin'], begin['tid']), (command, events[0], begin)
        assert all(event['tid'] == begin['tid'] for event in events) and events[0]['event'] == begin.get('span', 'http:request') + '_begin', events[0]
        continue
    if statistics != ['latency']:
        del rows[events[-1]['ts'] - events[0]['ts'], events[0]['ts']]
        continue
    span = rows.pop((events[-1]['ts'] - events[0]['ts'], events[0]['ts']))
    assert events[0]['event'] == span + '_begin' and events[-1]['event'] == span + '_end', (command, events[0], events[-1])
    assert all(event['tid'] == events[0]['tid'] for event in events), command
assert not rows and not opened, (rows, opened)
P
pasted() { COLUMNS=$1 PATH=$bin:$PATH python3 paste.py "${@:2}"; }
for zone in UTC Europe/Berlin America/St_Johns; do TZ=$zone check "a pasted command, $zone" pasted 80 table; done
check 'a pasted command in one line' pasted 1000 table
check 'a pasted command in many lines' pasted 45 table
check 'a pasted command, without epoch' pasted 80 seconds
check 'a pasted command, of a name with blanks and quotes' pasted 50 "it's a trace"

check 'a pasted command of latency from one event to another' pasted 80 table latency --from http:request_begin --to http:request_end
check 'a pasted command of distances' pasted 80 table distance
check 'a pasted command of states, without epoch' pasted 60 seconds state --event 'db:*'

# what was a thread doing when its process crashed?
cat >crash.c <<'P'
#include <kymo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void *work(void *name) {
  int asked = 4711;
  pthread_setname_np(pthread_self(), name);
  KYMO_SPAN_BEGIN(server, request, asked);
  KYMO_SPAN_BEGIN(server, parse, asked);
  if (strcmp(name, "good") == 0) {
    KYMO_SPAN_END(server, parse);
    KYMO_SPAN_END(server, request);
    return NULL;
  }
  printf("%d\n", (int)gettid());
  fflush(stdout);
  *(volatile int *)1 = asked;
  return NULL;
}
int main(void) {
  static char *names[] = {"good", "bad"};
  pthread_t thread;
  for (int i = 0; i < 2; i++) {
    pthread_create(&thread, NULL, work, names[i]);
    pthread_join(thread, NULL);
  }
}
P
crashed() {
  "$kymo" record -q -o crashed -- ./crash >tid || true
  "$kymo" stat latency crashed >printed 2>&1 && grep -qE "^ +[0-9.]+ .?s  .*  bad/$(cat tid)  server:parse$" printed &&
    [ "$(grep -c "bad/$(cat tid)  server:" printed)" = 2 ] && ! grep -q good/ printed &&
    grep -E -A1 'server:parse$' printed | grep -q "kymo cat crashed --filter 'TIME IN (.* \.\. END) AND tid = $(cat tid)'" &&
    "$kymo" stat latency --json crashed | jq -se 'map(select(.open).open) | map(.span) == ["server:parse", "server:request"] and all(.thread == "bad")' >/dev/null ||
    { cat printed; return 1; }
}
if [ -z "$sanitizer" ] && ${KYMO_CC:-cc} -D_GNU_SOURCE -I"$KYMO_SOURCE/include" crash.c -o crash -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread; then
  check 'the span that a thread crashed in' crashed
else
  skip 'the span that a thread crashed in' 'a sanitizer takes the crash'
fi
no_edges() { ! "$kymo" stat distance table | grep -q 'open for' && ! "$kymo" stat state --event 'db:*' --json table | grep -q '"open"'; }
check 'a measure from event to event has no open spans' no_edges

# self time is that of the innermost open span, worked out event by event
cat >innermost.py <<'P'
import json
rows = {row['span']: row for row in map(json.loads, open('statistics')) if 'span' in row}
open_, last, self_, total, times = {}, {}, {}, {}, {}
for event in map(json.loads, open('events')):
    name, tid, now = event.get('event', ''), event.get('tid'), event.get('ts')
    kind, _, edge = name.rpartition('_')
    if edge not in ('begin', 'end'):
        continue
    stack = open_.setdefault(tid, [])
    if edge == 'end' and not any(span[0] == kind for span in stack):
        continue
    if stack:
        stack[-1][2] += now - last[tid]
    last[tid] = now
    if edge == 'begin':
        stack.append([kind, now, 0])
        continue
    at = max(i for i, span in enumerate(stack) if span[0] == kind)
    _, begin, own = stack.pop(at)
    self_[kind] = self_.get(kind, 0) + own
    times.setdefault(kind, []).append(now - begin)
    if not any(span[0] == kind for span in stack):
        total[kind] = total.get(kind, 0) + now - begin
assert rows.keys() == times.keys() and rows, (rows.keys(), times.keys())
for kind, row in rows.items():
    values = sorted(times[kind])
    wanted = (len(values), total[kind], self_[kind], values[0], values[-1], values[-(-len(values) // 2) - 1])
    assert (row['count'], row['total'], row['self'], row['min'], row['max'], row['p50']) == wanted, (row, wanted)
P
all_spans() { "$kymo" cat -q -f json "$1" >events && "$kymo" stat latency --json "$1" >statistics && python3 innermost.py; }
check 'all spans of the table, event by event' all_spans table
[ ! -d recorded ] || check 'all recorded spans, event by event' all_spans recorded
in_order() { # --sort, --top, --prefix
  [ "$("$kymo" stat latency --sort self --csv --prefix db: table | tail -n +2 | cut -d, -f1 | tr '\n' ' ')" = \
    '"db:query" "db:a_name_of_a_span_that_is_much_longer_than_the_others" ' ] &&
    "$kymo" stat latency --top 2 --sort count table | grep -qxF '2 of 5 are shown (--top)' &&
    [ "$("$kymo" stat latency --top 1 --sort count --csv -q table | tail -1 | cut -d, -f1)" = '"db:query"' ]
}
check 'the order of spans' in_order
python3 - <<'P'
import json, os, struct
os.makedirs('lost')
def integer(size, *roles):
    return {'type': 'fixed-length-unsigned-integer', 'length': size, 'byte-order': 'little-endian', 'alignment': 8, **({'roles': list(roles)} if roles else {})}
def struct_of(**members): return {'type': 'structure', 'member-classes': [{'name': k, 'field-class': v} for k, v in members.items()]}
fragments = [{'type': 'preamble', 'version': 2},
    {'type': 'trace-class', 'packet-header-field-class': struct_of(magic=integer(32, 'packet-magic-number'))},
    {'type': 'clock-class', 'id': 'c', 'name': 'c', 'frequency': 1000000000},
    {'type': 'data-stream-class', 'default-clock-class-id': 'c',
     'event-record-header-field-class': struct_of(id=integer(16, 'event-record-class-id'), time=integer(64, 'default-clock-timestamp')),
     'packet-context-field-class': struct_of(size=integer(64, 'packet-content-length'), whole=integer(64, 'packet-total-length'),
        end=integer(64, 'packet-end-default-clock-timestamp'), lost=integer(64, 'discarded-event-record-counter-snapshot'), tid=integer(32))}]
fragments += [{'type': 'event-record-class', 'id': i, 'name': f'a:b_{edge}', 'attributes': {'kymo.span': edge}} for i, edge in enumerate(('begin', 'end'))]
open('lost/metadata', 'w').write(''.join('\x1e' + json.dumps(f) + '\n' for f in fragments))
with open('lost/stream', 'wb') as file:
    for lost, events in [(0, [(10, 0), (20, 0)]), (3, [(100, 1), (110, 0), (130, 1)])]:
        body = b''.join(struct.pack('<HQ', kind, time) for time, kind in events)
        bits = (4 + 36 + len(body)) * 8
        file.write(struct.pack('<IQQQQI', 0xC1FC1FC1, bits, bits, events[-1][0], lost, 7) + body)
P
lost_spans() { # as of pairs: what lasts over lost events is not measured
  "$kymo" stat latency --json lost >statistics 2>said
  [ "$(jq -r 'select(.span) | "\(.span) \(.count) \(.max)"' statistics)" = 'a:b 1 20' ] &&
    grep -qxF '{"without_begin":0,"without_end":1,"without_key":0,"over_lost_events":1}' statistics
}
check 'spans over lost events' lost_spans

exit 0
