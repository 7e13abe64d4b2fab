#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# The viewer's index: what it says of traces is what kymo stat and kymo cat --filter print, of a trace that kymo has recorded,
# one of LTTng's layout, a CPEL file and a capture of packets that a description reads.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
probe=$KYMO_BUILD/tests/view_probe
here=$KYMO_SOURCE/tests/view
cd "$TMPDIR" || exit 1
export XDG_CACHE_HOME=$TMPDIR/cache KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions

# sanitizers are slow: a third of the events
third=$([ -n "$sanitizer" ] && echo 3 || echo 1)

agrees() { python3 "$here/check.py" "$kymo" "$probe" "$@"; }

# ---- a trace that kymo has recorded ----
cat >program.c <<'C'
#include <kymo/trace.h>
#include <pthread.h>
static void *work(void *from) {
  for (unsigned i = 0; i < ROUNDS; i++) {
    unsigned long id = (unsigned long)from * 10000 + i;
    KYMO_SPAN(app, outer);
    const char *name = i % 7 ? "often" : i % 2 ? "some times" : "rarely";
    KYMO(job, begin, id, name);
    if (i == ROUNDS - 1 && from) {
      KYMO_SPAN_BEGIN(app, unended);
      KYMO_SPAN_BEGIN(app, unended_inside);
    }
    if (i % 3) {
      KYMO_SPAN(app, inner);
      KYMO(job, step, i);
    }
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
  ${KYMO_CC:-cc} $sanitizer -DROUNDS=$((3000 / third)) -I"$KYMO_SOURCE/include" program.c -o program -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread &&
    "$kymo" record -q -o recorded -- ./program
}
if record >words 2>&1; then
  check "recorded: beside itself" agrees compare recorded recorded
  for what in tracks kinds spans drawn open; do check "recorded: $what" agrees $what recorded; done
  check "recorded: a filter" agrees filter recorded 'EVENT = "job:step" AND i % 7 = 3'
  check "recorded: a filter with a memory" agrees filter recorded 'EVERY 10 OF (EVENT = "job:begin")'
  check "recorded: a selection" agrees selection recorded 1 999
  check "recorded: a filtered selection" agrees selection recorded 2 998 'EVENT LIKE "app:*"'
  check "recorded: all of it" agrees selection recorded 0 2000
  check "recorded: texts" agrees texts recorded name
  check "recorded: rows" agrees rows recorded $((12000 / third)) 300
  check "recorded: filtered rows" agrees rows recorded 100 300 'EVENT = "job:step"'
  check "recorded: values" agrees values recorded i
  check "recorded: latency" agrees latency recorded job:begin job:end
  check "recorded: latency by a key" agrees latency recorded job:begin job:end id
  check "recorded: histogram" agrees histogram recorded id
else
  skip "recorded" "cannot be recorded on this rung"
fi

# ---- LTTng's layout: streams of processors, threads in the context, losses, pairs by their names ----
python3 "$here/kernel.py" kernel $((30000 / third)) || exit 1
for what in tracks kinds spans drawn open; do check "processors: $what" agrees $what kernel; done
check "processors: a filter" agrees filter kernel 'value < 100 AND vtid = 103'
check "processors: a selection" agrees selection kernel 250 750
check "processors: a filtered selection" agrees selection kernel 100 600 'value < 400'
check "processors: rows" agrees rows kernel 1200 300
check "processors: filtered rows" agrees rows kernel 100 300 'value < 100 AND vtid = 103'
check "processors: values" agrees values kernel value
python3 "$here/kernel.py" shorter $((7000 / third)) || exit 1
check "processors: two traces" agrees compare kernel shorter
check "processors: texts" agrees texts kernel procname
check "processors: latency" agrees latency kernel syscall_entry_read syscall_exit_read
check "processors: histogram" agrees histogram kernel value
lttng=${KYMO_SHARED:-/nonexistent}/data/ctf/lttng-discarded
if [ -d "$lttng" ]; then
  for what in tracks kinds; do check "recorded by LTTng: $what" agrees $what "$lttng"; done
  check "recorded by LTTng: a filter" agrees filter "$lttng" 'id % 3 = 1'
else
  skip "recorded by LTTng" "no shared data"
fi
kept() { # the second run takes the index that the first one has kept
  local before
  KEEP=1 "$probe" spans kernel >first && ls "$XDG_CACHE_HOME"/kymo/view-* >files && before=$(stat -c %i $(cat files)) &&
    KEEP=1 "$probe" spans kernel >second && cmp first second && [ "$(stat -c %i $(cat files))" = "$before" ]
}
check "an index that is kept says the same" kept

# ---- CPEL ----
python3 - $((20000 / third)) <<'P'
import random, struct, sys
rng, strings, count = random.Random(5), bytearray(b'T\0'), int(sys.argv[1])
def add(text):
    at = len(strings); strings.extend(text.encode() + b'\0'); return at
names = [add(name) for name in ('begin', 'end', 'tick')]
number, tracks, time, events = add('%d'), [add(f'worker {i}') for i in range(5)], 0, b''
for _ in range(count):
    time += rng.choice([1, 10, 1000, 50000])
    events += struct.pack('>QIII', time, rng.randrange(5), rng.choice([0, 0, 1, 1, 2]), rng.randrange(100))
table = b'T'.ljust(64, b'\0')
sections = [(1, bytes(strings)), (3, table + struct.pack('>I', 3) + b''.join(struct.pack('>III', i, name, number) for i, name in enumerate(names))),
            (4, table + struct.pack('>I', 5) + b''.join(struct.pack('>II', i, track) for i, track in enumerate(tracks))),
            (5, table + struct.pack('>II', count, 1000000000) + events)]
with open('random.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
for what in tracks kinds; do check "CPEL: $what" agrees $what random.cpel; done
check "CPEL: a filter" agrees filter random.cpel 'datum < 10 AND track = "worker 3"'
check "CPEL: a selection" agrees selection random.cpel 250 750
check "CPEL: a filtered selection" agrees selection random.cpel 100 900 'datum < 10'
check "CPEL: rows" agrees rows random.cpel 1200 300
check "CPEL: filtered rows" agrees rows random.cpel 100 300 'datum < 10'
check "CPEL: values" agrees values random.cpel datum
check "CPEL: latency" agrees latency random.cpel begin end
check "CPEL: latency by the datum" agrees latency random.cpel begin end datum
check "CPEL: histogram" agrees histogram random.cpel datum
data=${KYMO_SHARED:-/nonexistent}/data/cpel
if [ -d "$data" ]; then
  several() { for file in "$data"/{02-be-1k,03-le-1k,10-two-event-sections,12-unsorted,15-latency}.cpel; do agrees tracks "$file" && agrees kinds "$file" || return 1; done; }
  check "CPEL files of other tools" several
else
  skip "CPEL files of other tools" "no shared data"
fi

# ---- a capture of packets, by the description that is installed ----
python3 - <<'P'
import random, struct
rng, time = random.Random(3), 0
with open('packets.pcap', 'wb') as out:
    out.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(2000):
        time += rng.choice([1, 100, 20000])
        data = bytes(rng.randrange(256) for _ in range(rng.randrange(60, 90)))
        out.write(struct.pack('<IIII', 1700000000 + time // 1000000, time % 1000000, len(data), len(data)) + data)
P
for what in tracks kinds; do check "packets: $what" agrees $what packets.pcap; done
field=$("$kymo" cat -f json packets.pcap | head -1 | jq -r '.. | objects | to_entries[] | select(.value == 60 or (.key | test("len"))) | .key' | head -1)
check "packets: histogram of ${field:-nothing}" agrees histogram packets.pcap "${field:-len}"
check "packets: a selection" agrees selection packets.pcap 250 750
check "packets: a filtered selection" agrees selection packets.pcap 100 900 "${field:-len} < 70"
check "packets: rows" agrees rows packets.pcap 1200 300
check "packets: filtered rows" agrees rows packets.pcap 10 300 "${field:-len} < 70"
check "packets: values" agrees values packets.pcap "${field:-len}"
check "packets: a filter" agrees filter packets.pcap "${field:-len} < 70"

# ---- damage ----
head -c 100000 kernel/channel_0 >cut && mkdir damaged && cp kernel/metadata damaged/ && mv cut damaged/channel_0
damaged() {
  "$probe" problems damaged >listed 2>words
  [ $? = 1 ] && cmp listed words && "$kymo" cat damaged 2>&1 >/dev/null | grep -F "damaged/channel_0: byte" | sed 's/^kymo cat: //; s/ ([0-9]* bytes skipped)$//' >printed
  [ -s listed ] && cmp listed printed
}
check "problems are those that kymo cat lists" damaged
