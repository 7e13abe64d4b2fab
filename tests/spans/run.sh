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
    "$kymo" stat latency --from request:begin --to request:end recorded | grep -q '^not counted: 10 without begin, 10 without end, '
}
regression() { # nested as deep as it likes, and what is inside counts for itself
  "$kymo" stat regression --from 'app:*_begin' --to 'app:*_end' --csv recorded | tail -n +2 >printed && [ "$(cut -d, -f2 printed)" = 60 ]
}
if record; then
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
    "$kymo" stat latency --from begin --to end lossy 2>said | grep -qxF 'not counted: 0 without begin, 1 without end, 0 without key, 1 over lost events' &&
    "$kymo" stat latency --from begin --to end --csv lossy 2>&1 >printed | grep -qxF 'kymo stat: not counted: 0 without begin, 1 without end, 0 without key, 1 over lost events'
}
check 'what lasts over lost events is not measured, and said so' lossy

exit 0
