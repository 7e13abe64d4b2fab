#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Statistics of traces: against an evaluation of every event in check.py, on CPEL files and on a trace of threads that is
# recorded here; and against what VPP's tools print.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
data=${KYMO_SHARED:-/nonexistent}/data/cpel
cd "$TMPDIR" || exit 1

if [ -d "$data" ]; then
  as_vpp() { "$kymo" stat "${@:2}" --format vpp "$data/15-latency.cpel" >printed && cmp printed "$data/$1"; }
  check "latency as cpelatency prints it" as_vpp 15-latency.cpelatency.txt latency --from 2 --to 1
  check "state as cpelstate prints it" as_vpp 15-latency.cpelstate.txt state --event 1
  # cpelinreg cuts all times to whole microseconds
  fits() {
    "$kymo" stat regression --from 11 --to 12 --key datum --csv "$data/16-linreg.cpel" >fitted || return 1
    python3 - fitted "$data/16-linreg.cpelinreg.txt" <<'P'
import csv, sys
ours = {int(row['datum'].strip('"'), 16): row for row in csv.DictReader(open(sys.argv[1]))}
theirs = [line.split() for line in open(sys.argv[2]) if line.strip().split()[-1:] and line.split()[-1].startswith('0x')]
assert len(theirs) == len(ours) == 2
for count, offset, slope, total, least, most, mean, percent, r, key in theirs:
    row = ours[int(key, 16)]
    assert row['count'] == count
    for name, value, scale, most_off in (('offset', offset, 1000, .3), ('slope', slope, 1000, .01), ('total', total, 1000, 12),
                                         ('max', most, 1000, 1), ('mean', mean, 1000, .3), ('percent', percent, 1, .1), ('r', r, 1, .03)):
        assert abs(float(row[name]) / scale - float(value)) <= most_off, (name, row[name], value)
P
  }
  check "regression as cpelinreg fits it" fits
else
  skip "as VPP's tools print it" "no shared data"
fi

# agrees TRACE KIND OPTIONS… -- NAMES…
agrees() {
  local trace=$1 kind=$2 options=()
  shift 2
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  [ -s "events of $trace" ] || "$kymo" cat --format json "$trace" >"events of $trace" || { rm "events of $trace"; return 1; }
  "$kymo" stat "$kind" "${options[@]}" --json "$trace" >statistics &&
    python3 "$KYMO_SOURCE/tests/stat/check.py" statistics "events of $trace" "$kind" "$@"
}

python3 - <<'P'
import random, struct
rng, strings = random.Random(5), bytearray(b'T\0')
def add(text):
    at = len(strings); strings.extend(text.encode() + b'\0'); return at
names = [add(name) for name in ('begin', 'end', 'tick')]
number, tracks, time, events = add('%d'), [add(f'worker {i}') for i in range(5)], 0, b''
for _ in range(20000):
    time += rng.choice([1, 10, 1000, 50000])
    events += struct.pack('>QIII', time, rng.randrange(5), rng.choice([0, 0, 1, 1, 2]), rng.randrange(100))
table = b'T'.ljust(64, b'\0')
sections = [(1, bytes(strings)), (3, table + struct.pack('>I', 3) + b''.join(struct.pack('>III', i, name, number) for i, name in enumerate(names))),
            (4, table + struct.pack('>I', 5) + b''.join(struct.pack('>II', i, track) for i, track in enumerate(tracks))),
            (5, table + struct.pack('>II', 20000, 1000000000) + events)]
with open('random.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
check "latency" agrees random.cpel latency --from begin --to end -- begin end
check "latency, the numbers of the classes" agrees random.cpel latency --from 0 --to 1 --worst 50 -- begin end
check "state" agrees random.cpel state --event tick -- tick
check "distance" agrees random.cpel distance --
check "counts" agrees random.cpel counts --

cat >threads.c <<'C'
#include <kymo/trace.h>
#include <pthread.h>
static void *work(void *from) {
  for (unsigned i = 0; i < 2000; i++) {
    unsigned long id = (unsigned long)from * 10000 + i;
    KYMO(job, begin, id);
    KYMO(job, step, i);
    KYMO(job, end, id);
  }
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (unsigned long i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return 0;
}
C
record() {
  ${KYMO_CC:-cc} $sanitizer -I"$KYMO_SOURCE/include" threads.c -o threads -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread &&
    "$kymo" record -q -o recorded -- ./threads
}
if record; then
  check "latency of threads" agrees recorded latency --from job:begin --to job:end -- job:begin job:end
  check "distance of events" agrees recorded distance --
  several() { "$kymo" stat distance --event job:begin --event job:step --csv recorded | cut -d, -f1 | sort >rows && printf '%s\n' '"job:begin"' '"job:step"' event | cmp - rows; }
  check "several events" several
  by_key() { "$kymo" stat latency --from job:begin --to job:end --key id --by event recorded | grep -q '^job:end *6000 '; }
  check "latency by a field" by_key
else
  skip "threads" "cannot be recorded on this rung"
fi

draws() { "$kymo" stat histogram datum --csv random.cpel | awk -F, 'NR > 1 { sum += $2 } END { exit sum != 20000 }'; }
check "histogram" draws
# two classes, one in the middle of the other's time; the field has a unit
cat >units.tdl <<'T'
TRACE t;
  BYTES LITTLE;
  CLOCK c IS RESOLUTION 1 ms;
  TOKEN kinds = ("read"=0, "write"=1);
  RECORD r EVENT IS t: UNSIGNED 32 TIME c POINT; kind: UNSIGNED 8 TOKEN kinds; took: UNSIGNED 32 UNITS "us"; END;
  LAYOUT REPEAT r;
END TRACE.
T
python3 - <<'P'
import struct
with open('units', 'wb') as file:
    for i in range(101):
        file.write(struct.pack('<IBI', i * 10, 40 <= i < 45, 7 if 40 <= i < 45 else 1000))
P
units() { "$kymo" stat "$@" --description units.tdl units >printed; }
# 5 events within 40 ms are 5 a second if the trace lasts one
one_span() {
  units counts --by kind && diff printed - <<'E'
kind          count        a second
read             96          96.000
write             5           5.000
all             101           101.0
over 1.000000000 s
E
}
check "rates are over one span" one_span
histogram_by() {
  units histogram took --by kind && sed 's/ #*$//' printed | diff - <(printf '%20s %10s\n' 'took (us)' count; echo 'kind = read: 96'; printf '%20d %10d\n' 512 96
    echo 'kind = write: 5'; printf '%20d %10d\n' 0 5) &&
    units histogram took --by kind --csv && diff printed <(printf '%s\n' 'kind,from (us),count' '"read",512,96' '"write",0,5') &&
    units histogram took --by kind --json && grep -qxF '{"kind":"write","from":0,"count":5,"unit":"us"}' printed
}
check "a histogram of each group, with its unit" histogram_by
histogram_of_all() { units histogram took --csv && diff printed <(printf '%s\n' 'from (us),count' 0,5 16,0 32,0 64,0 128,0 256,0 512,96); }
check "a histogram of all, with its unit" histogram_of_all
# cpelatency leaves out the kernel's work, and everything that is not asked for; its table says so
python3 - <<'P'
import struct
strings = bytearray(b'T\0')
def add(text):
    at = len(strings); strings.extend(text.encode() + b'\0'); return at
tracks = [add(text) for text in ('kernel t1(0)', 'a thread of a long name t2(10)', 'bgp t3(11)', 'bgp t4(12)')]
names = [add('running'), add('ready')]
events = b''.join(struct.pack('>QIII', time * 1000, track, code, 0) for time, track, code in
                  [(0, 0, 2), (5, 0, 1), (6, 1, 2), (9, 1, 1), (9, 2, 2), (19, 2, 1), (20, 2, 2), (24, 2, 1), (30, 3, 2), (30, 3, 1)])
table = b'T'.ljust(64, b'\0')
sections = [(1, bytes(strings)), (3, table + struct.pack('>I', 2) + b''.join(struct.pack('>III', i + 1, name, 0) for i, name in enumerate(names))),
            (4, table + struct.pack('>I', 4) + b''.join(struct.pack('>II', i, track) for i, track in enumerate(tracks))),
            (5, table + struct.pack('>II', 10, 1000000000) + events)]
with open('kernel.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
vpp() { "$kymo" stat latency --from 2 --to 1 --format vpp "$@" kernel.cpel; }
leaves_kernel_out() {
  vpp --sort count >printed
  cmp - printed <<'T'
Results sorted by max occurrences of state.

ProcName Thread(PID)             Mean(us)     Stdev(us)   Total(us)      N
bgp t3(11)                          7.000 +-      4.243      14.000       2
a thread of a long name t2(10)      3.000 +-      0.000       3.000       1

Note: the following statistics exclude kernel-thread activity.
Total time in state:     17.000 (us), Total state occurrences: 3
Average time in state:      5.667 (us)
State start event: 2, state end event: 1
T
}
check "the kernel is left out as cpelatency does" leaves_kernel_out
takes_kernel_in() {
  vpp --kernel-included --prefix kernel >printed
  grep -qx 'kernel t1(0)              5.000 +-      0.000       5.000       1' printed &&
    grep -qF 'statistics include kernel-thread' printed && grep -qF "threads matching 'kernel' are included" printed &&
    grep -qF 'Total time in state:      5.000 (us), Total state occurrences: 1' printed
}
check "the kernel is taken in" takes_kernel_in
# numbers below zero have bars of their own, and are in order with the others
signed_values() {
  cat >signed.c <<'C'
#include <kymo/trace.h>
int main(void) {
  static const long values[] = {-9223372036854775807L - 1, -70000, -17, -16, -15, -1, 0, 15, 16, 9223372036854775807L};
  for (int i = 0; i < 10; i++)
    KYMO(test, value, KYMO_AS(x, values[i]));
  return 0;
}
C
  ${KYMO_CC:-cc} $sanitizer -I"$KYMO_SOURCE/include" signed.c -o signed -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread || return 1
  "$kymo" record -q -o signed.trace -- ./signed && "$kymo" stat histogram x --csv signed.trace | grep -v ',0$' >printed
  cmp - printed <<'T'
from,count
-9223372036854775808,1
-131071,1
-31,2
-15,2
0,2
16,1
4611686018427387904,1
T
}
[ -e threads ] && check "histogram of signed values" signed_values
# floating-point numbers, which no trace of kymo's recorder is needed for
floats() {
  python3 -c "import sys; sys.path.insert(0, '$KYMO_SOURCE/tests/serve'); import data; data.floats()" &&
    "$kymo" stat histogram x --filter 'i < 20' floats | sed 's/ #*$//' >printed || return 1
  cmp - printed <<'T' && "$kymo" stat histogram x --filter 'i > 17 AND i < 20' --csv floats >printed && cmp - printed <<'C' && "$kymo" stat histogram x --filter 'i = 18 OR i = 10' --json floats >printed && cmp - printed <<'J'
                   x      count
-1.3393857589828342e+300          1
                -4.0          1
                -1.0          2
                -0.5          1
-4.94065645841247e-324          1
                 0.0          2
4.94065645841247e-324          1
1.73833895195875e-310          1
                 0.5          2
                 1.0          1
                 2.0          1
6.696928794914171e+299          1
8.98846567431158e+307          1
           -Infinity          1
            Infinity          2
        not a number          1
T
from,to,count
Infinity,,1
NaN,,1
C
{"from":8.98846567431158e+307,"to":"Infinity","count":1}
{"value":"NaN","count":1}
J
}
check "histogram of floating-point numbers" floats
scatters() { "$kymo" stat latency --from begin --to end --scatter random.cpel | wc -l >lines && "$kymo" stat latency --from begin --to end --csv --prefix 'worker 3' random.cpel | grep -q '^"worker 3",'; }
check "scatter data and prefixes" scatters
# names that are no plain words; what a prefix leaves out is reported nowhere
python3 - <<'P'
import struct
strings, table = b'T\0a\nb\0c\0x,"1"\0y\0', b'T'.ljust(64, b'\0')
events = b''.join(struct.pack('>QIII', time * 1000, track, code, 0) for time, track, code in [(0, 1, 1), (2, 1, 2), (3, 2, 1), (9, 2, 2)])
def write(path, events):
    sections = [(1, strings), (3, table + struct.pack('>IIIIIII', 2, 1, 2, 0, 2, 6, 0)),
                (4, table + struct.pack('>IIIII', 2, 1, 8, 2, 14)), (5, table + struct.pack('>II', len(events) // 20, 1000000000) + events)]
    with open(path, 'wb') as file:
        file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
write('odd.cpel', events)
write('empty.cpel', b'')
P
quotes() { "$kymo" stat latency --from 1 --to 2 --scatter odd.cpel | cmp - <(printf '%s\n' begin,duration,group '0,2000,"x,""1"""' '3000,6000,"y"'); }
check "scatter data of names with commas" quotes
hides_controls() { "$kymo" stat counts odd.cpel | grep -q '^a\\nb  *2 ' && "$kymo" stat distance odd.cpel | grep -qE '^ *[0-9.]+ us  .* to [0-9]+  a\\nb$'; }
check "controls in names" hides_controls
keeps_to_prefix() {
  "$kymo" stat latency --from 1 --to 2 --prefix x odd.cpel >printed &&
    [ "$(grep -cE '^ *[0-9.]+ us  ' printed)" = 1 ] && grep -qE '^ *2\.000 us  .* 1 to 2  x,"1"$' printed &&
    "$kymo" stat latency --from 1 --to 2 --prefix x --json odd.cpel | grep -qF '{"track":null,"count":1,' &&
    [ "$("$kymo" stat latency --from 1 --to 2 --prefix y --scatter odd.cpel | tail -n +2)" = '3000,6000,"y"' ] &&
    [ "$("$kymo" stat counts --prefix c odd.cpel | awk '$1 == "all" { print $2 }')" = 2 ]
}
check "a prefix applies to everything that is reported" keeps_to_prefix
check "distances without events" eval '"$kymo" stat distance empty.cpel | grep -q "^all  *0 "'

# refuses STATUS TEXT OPTIONS…
refuses() {
  local status=$1 text=$2
  shift 2
  "$kymo" stat "$@" >printed 2>told
  [ $? = "$status" ] && grep -qF -- "$text" told || { cat told; return 1; }
}
check "an event that does not exist" refuses 2 'kymo stat: --from begn: the traces have no event of such a name (did you mean "begin"?)' latency --from begn --to end random.cpel
check "a field that does not exist" refuses 2 'no event has a field "size"' latency --from begin --to end --by size random.cpel
check "a histogram without traces" refuses 2 'kymo stat: histogram: expected FIELD TRACE..., found "datum" alone' histogram datum
check "a form that is for others" refuses 2 'kymo stat: counts: --format vpp is for latency and state' counts --format vpp random.cpel
check "an option that a kind would pass over" refuses 2 'kymo stat: counts: there is no --from' counts --from begin random.cpel
check "the same of histograms" refuses 2 'kymo stat: histogram: there is no --worst' histogram datum --worst 3 random.cpel
check "a field to group histograms by that does not exist" refuses 2 'no event has a field "nothing"' histogram datum --by nothing random.cpel
check "a key where there is none" refuses 2 \
  'kymo stat: counts: there is no --key FIELD; a file that describes the traces is given by --description' counts --key x.tdl random.cpel
check "no events to measure" refuses 2 'kymo stat: latency: the traces have no spans (KYMO_SPAN): --from EVENT and --to EVENT are needed' latency random.cpel
check "an event that ends nothing" refuses 2 'latency: --from EVENT and --to EVENT are needed together' latency --to end random.cpel
check "cpelatency of all spans" refuses 2 'latency: --from EVENT and --to EVENT are needed together' latency --format vpp random.cpel

# ---- the longest as CSV ----

# JSON and CSV report the same about the longest ones.
longest() {
  "$kymo" stat latency --from begin --to end --worst 7 --json random.cpel |
    jq -r 'select(.longest) | [.longest, .track, .begin, .events[0], .events[1]] | "\(.[0]),\"\(.[1])\",\(.[2]),\(.[3]),\(.[4])"' >told
  [ "$(wc -l <told)" = 7 ] && "$kymo" stat latency --from begin --to end --worst 7 --csv random.cpel |
    diff - <(echo duration,track,begin,begin_event,end_event; cat told)
}
check "the longest as CSV" longest
groups_alone() { "$kymo" stat latency --from begin --to end --csv random.cpel | awk -F, 'NF != 11' | diff - /dev/null; }
check "CSV of groups has groups alone" groups_alone
# Several traces: counts of both, if their clocks are one.
both() {
  cp random.cpel again.cpel
  diff <("$kymo" stat counts --csv random.cpel again.cpel | cut -d, -f1,2) <("$kymo" stat counts --csv random.cpel | awk -F, -v OFS=, '{ print $1, (NR > 1 ? 2 * $2 : $2) }')
}
check "counts of two traces" both

# ---- memory ----

# What goes to a file in between is what would have been in memory: groups of three sorts, and lines.
python3 - $([ -n "$sanitizer" ] && echo 36000 || echo 60000) <<'P' # sanitizers are slow; there are still more than 10,000 keys
import random, struct, sys
rng, strings = random.Random(7), bytearray(b'T\0')
def add(text):
    at = len(strings); strings.extend(text.encode() + b'\0'); return at
names, number, track = [add('begin'), add('end')], add('%d'), add('worker')
table, time, opened, events = b'T'.ljust(64, b'\0'), 0, [], bytearray()
def event(kind, key):
    global time
    time += rng.choice([1, 10, 1000, 50000])
    events.extend(struct.pack('>QIII', time, 0, kind, key))
for i in range(int(sys.argv[1])): # most keys come once, 40 of them often, one very often
    key = rng.choice([1, 2 + i % 40, 1000 + i])
    event(0, key); opened.append(key)
    while len(opened) > 8:
        event(1, opened.pop(rng.randrange(8)))
for key in opened[:5]:
    event(1, key)
sections = [(1, bytes(strings)), (3, table + struct.pack('>I', 2) + b''.join(struct.pack('>III', i, name, number) for i, name in enumerate(names))),
            (4, table + struct.pack('>I', 1) + struct.pack('>II', 0, track)), (5, table + struct.pack('>II', len(events) // 20, 1000000000) + bytes(events))]
with open('requests.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
cat >alike.py <<'P'
import json, sys
def rows(path): return [json.loads(line) for line in open(path)]
a, b = rows(sys.argv[1]), rows(sys.argv[2])
assert len(a) == len(b) > 50, (len(a), len(b))
def key(row): return json.dumps([row.get('datum', '?'), row.get('longest'), row.get('begin')])
for x, y in zip(sorted(a, key=key), sorted(b, key=key)):
    assert x.keys() == y.keys(), (x, y)
    for name, value in x.items():
        assert value == y[name] or (isinstance(value, float) and abs(value - y[name]) <= 1e-6 * max(abs(value), abs(y[name]), 1)), (name, x, y)
P
spills() {
  "$kymo" stat "$@" --json --top 100000 --memory 1G requests.cpel >plain && "$kymo" stat "$@" --json --top 100000 --memory 200K requests.cpel >spilled &&
    python3 alike.py plain spilled
}
check 'groups by way of a file: latency' spills latency --from begin --to end --key datum --by datum --worst 50
check 'groups by way of a file: state' spills state --event begin --by datum
check 'groups by way of a file: distance' spills distance --by datum --worst 20
check 'groups by way of a file: state of the key' spills state --event begin --key datum --by datum --worst 20
check 'groups by way of a file: counts' spills counts --by datum
check 'groups by way of a file: histogram' spills histogram datum --by datum
spills_floats() {
  "$kymo" stat histogram x --by i --sort name --json --top 100000 --memory 1G floats | sort >plain && "$kymo" stat histogram x --by i --sort name --json --top 100000 --memory 100K floats | sort >spilled &&
    [ "$(grep -c from plain)" -gt 2900 ] && cmp plain spilled && "$kymo" stat histogram x --json floats >plain && "$kymo" stat histogram x --json --memory 1K floats | cmp - plain
}
check 'groups by way of a file: histogram of floating-point numbers' spills_floats
other_forms() { # VPP's table, the longest as CSV, and each time of its own
  local forms=('state --event begin --by datum --format vpp' 'distance --by datum --csv --worst 20' 'distance --by datum --scatter') form memory
  for form in "${forms[@]}"; do
    for memory in 200K 1G; do
      "$kymo" stat $form --top 100000 --memory $memory requests.cpel >form.$memory || return 1
    done
    diff <(sort form.200K) <(sort form.1G) >differences && [ "$(wc -l <form.1G)" -gt 20 ] || { echo "$form"; head -4 differences; return 1; }
  done
}
check 'groups by way of a file: other forms' other_forms
cat >lossy.tdl <<'T'
TRACE lossy; BYTES LITTLE; CLOCK c IS;
RECORD r EVENT IS ACQUISITION: UNSIGNED 32 TIME c POINT; LOST: UNSIGNED 32; datum: UNSIGNED 32; END;
LAYOUT REPEAT r; END TRACE.
T
python3 -c 'import struct, sys
sys.stdout.buffer.write(b"".join(struct.pack("<III", i, 7 * (i == 10000), i % 5000) for i in range(20000)))' >lossy.bin
over_losses() { # each of the 5000 has one time over the lost events, whether its groups are in a file then or not
  local memory
  "$kymo" compile lossy.tdl -o lossy.key || return 1
  for memory in 64K 1G; do
    "$kymo" stat distance --by datum --description lossy.key --memory $memory --json lossy.bin 2>told | jq -c 'select(.over_lost_events or .count and .datum == null) | [.count, .total, .without_begin, .without_end, .over_lost_events]' >lossy.$memory
  done
  diff lossy.64K lossy.1G && grep -qxF '[null,null,5000,5000,5000]' lossy.64K && grep -qF '[10000,' lossy.64K || { cat lossy.64K told; return 1; }
}
check 'groups by way of a file: over lost events' over_losses
check 'groups by way of a file: regression' spills regression --from begin --to end --key datum
groups() { jq -r 'select(.count and .datum) | "\(.datum) \(.count) \(.total) \(.p99)"' "$1"; }
tops() { # the first ones, their number, and the sum of all; for every way
  local requests=(latency --from begin --to end --key datum --by datum) memory all
  "$kymo" stat "${requests[@]}" --memory 1G --worst 0 --json requests.cpel >long || return 1
  all=$(groups long | wc -l)
  for memory in 200K 1G; do
    "$kymo" stat "${requests[@]}" --top 7 --memory $memory --worst 0 --json requests.cpel >short || return 1
    [ "$(groups short)" = "$(groups long | head -7)" ] && grep -qxF "{\"shown\":7,\"of\":$all}" short &&
      [ "$(jq 'select(.count and .datum == null).count' short)" = "$(jq 'select(.count and .datum == null).count' long)" ] || return 1
    "$kymo" stat "${requests[@]}" --top 7 --memory $memory requests.cpel | grep -qxF "7 of $all are shown (--top)" &&
      "$kymo" stat "${requests[@]}" --top 7 --memory $memory --csv requests.cpel 2>&1 >rows | grep -qxF "kymo stat: 7 of $all rows are shown (--top)" &&
      [ "$(wc -l <rows)" = 8 ] || return 1
  done
  [ "$("$kymo" stat "${requests[@]}" --memory 200K --csv -q requests.cpel | wc -l)" = 10001 ] &&
    [ "$("$kymo" stat counts --by datum --top 3 --csv -q requests.cpel | wc -l)" = 4 ]
}
check 'the first groups, and how many there are' tops
unwritable() {
  TMPDIR=/nonexistent "$kymo" stat latency --from begin --to end --key datum --by datum --memory 200K requests.cpel >printed 2>told
  [ $? = 3 ] && grep -q '^kymo stat: temporary file: cannot be made (set TMPDIR): No such file' told || { cat told; return 1; }
}
check 'no place for the file' unwritable
if [ -z "$sanitizer" ]; then
  # the same number of events, once of a thousand keys and once of 300,000: memory is that of what is open, and what was asked for
  python3 - <<'P'
import struct
strings, table = b'T\0begin\0end\0%d\0w\0', b'T'.ljust(64, b'\0')
for path, keys in (('few.cpel', 1000), ('many.cpel', 300000)):
    events = b''.join(struct.pack('>QIIIQIII', 20 * i, 0, 0, i % keys, 20 * i + 9, 0, 1, i % keys) for i in range(300000))
    sections = [(1, strings), (3, table + struct.pack('>IIIIIII', 2, 0, 2, 12, 1, 8, 12)), (4, table + struct.pack('>III', 1, 0, 15)),
                (5, table + struct.pack('>II', 600000, 1000000000) + events)]
    with open(path, 'wb') as file:
        file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
  peak() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$kymo" stat "$@"
  }
  bounded() { # KiB; 188 bytes a key were 55 MB
    local few many
    few=$(peak "$@" few.cpel) && many=$(peak "$@" many.cpel) && [ $((many - few)) -lt 20000 ] || { echo "$few $many"; return 1; }
  }
  check 'memory of latency --key is that of open keys' bounded latency --from begin --to end --key datum
  check 'memory of latency --by is bounded' bounded latency --from begin --to end --key datum --by datum --memory 8M --top 100 -q
  check 'memory of counts --by is bounded' bounded counts --by datum --memory 8M --top 100 -q
  check 'memory of histogram --by is bounded' bounded histogram datum --by datum --memory 8M --top 100 -q
  check 'memory of distance --by is bounded' bounded distance --by datum --memory 8M --top 100 -q
  check 'memory of state is bounded in the form of VPP' bounded state --event begin --by datum --format vpp --memory 8M --top 100 -q
  check 'memory of regression --key is bounded' bounded regression --from begin --to end --key datum --memory 8M --top 100 -q
fi
