#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The options of all commands that read events that choose the events: classes, times; and the offsets of their times.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace || exit 1

# refused TEXT ARGUMENT…: exit status 2, nothing on stdout, exactly this on stderr
refused() {
  local text=$1 status
  shift
  "$kymo" "$@" >printed 2>said
  status=$?
  [ $status = 2 ] && [ ! -s printed ] && [ "$(cat said)" = "$text" ]
}

# ---- event classes ----

# names ARGUMENT…: the numbers of events by name
names() { "$kymo" cat -f json "$@" mytrace | python3 -c '
import collections, json, sys
print(sorted(collections.Counter(e["event"] for e in map(json.loads, sys.stdin) if "event" in e).items()))'; }
selects() { # WHAT ARGUMENT…
  local wanted=$1
  shift
  [ "$(names "$@")" = "$wanted" ]
}
rx="('net:rx', 3)" bare="('bare', 2)" kinds="('all:kinds', 2)"
check 'by name' selects "[$rx]" --event net:rx
check 'by group' selects "[$rx]" --event net
check 'by glob' selects "[$kinds, $rx]" --event '*:*'
check 'by regular expression' selects "[$kinds, $bare]" --event 're:^(all|bare)'
check 'a regular expression holds commas' selects "[$bare]" --event 're:^[a-f,r]{3,4}$'
check 'several in one option' selects "[$bare, $rx]" --event bare,net:rx
check 'several options' selects "[$bare, $rx]" --event bare --event net:rx
check 'all but some' selects "[$kinds, $bare]" --event '!net:rx'
check 'all but a regular expression' selects "[$rx]" --event '!re:^[ab]'
check 'some of some' selects "[$rx]" --event '*:*,!all'
check 'none' selects '[]' --event 'net,!net:rx'
losses() { [ "$("$kymo" cat --event bare mytrace | grep -c '^# lost')" = 2 ]; }
check 'losses are reported in any case' losses
counts() { [ "$("$kymo" info --event net --json mytrace | jq -c '[.events, (.traces[0].classes[] | .count)]')" = '[3,3,0,0,0]' ]; }
check 'info counts them' counts

says='kymo cat: --event'
none='the traces have no event of such a name'
check 'unknown name' refused "$says net:rx2: $none (did you mean \"net:rx\"?)" cat --event net:rx2 mytrace
check 'unknown name to leave out' refused "$says !bear: $none (did you mean \"bare\"?)" cat --event '!bear' mytrace
check 'unknown glob' refused "$says x*: $none" cat --event 'x*' mytrace
check 'bad regular expression' refused "$says re:(: a parenthesis that is not closed" cat --event 're:(' mytrace

# ---- clock offsets ----

same_as_babeltrace2() { cmp <(babeltrace2 "$@" 2>&1) <("$kymo" cat -f babeltrace2 "$@" 2>&1); }
python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 21 || exit 1
# babeltrace2 rounds an offset down to whole cycles of the clock: of slow ones, whole seconds are the same for both
for offset in --clock-offset=5 --clock-offset=-3600 --clock-offset-ns=-2000000000; do
  check "$offset of a random trace as babeltrace2 does" same_as_babeltrace2 $offset random
done
for offset in --clock-offset=5 --clock-offset-ns=-7 --clock-offset-ns=1234567890123; do
  check "$offset as babeltrace2 does" same_as_babeltrace2 $offset mytrace
done

cp -r mytrace copy
cp -r mytrace again # another trace: its uuid is another
sed -i s/01234567-89ab/11234567-89ab/ again/metadata
LC_ALL=C sed -i 's/\x01\x23\x45\x67\x89\xab/\x11\x23\x45\x67\x89\xab/g' again/channel_*
# times ARGUMENT…: of the events called bare, in nanoseconds from 1700000000 s
times() { "$kymo" cat -f json --event bare "$@" | python3 -c '
import json, sys
print(*(e["ts"] - 1700000000 * 10**9 for e in map(json.loads, sys.stdin) if "ts" in e))'; }
later() {
  local wanted=$1
  shift
  [ "$(times "$@")" = "$wanted" ]
}
check 'no offset' later '2005 2005 5005 5005' mytrace again
check 'offsets are exact' later '-499997996 -499997996 -499994996 -499994996' --clock-offset=-0.500000001 mytrace again
check 'offsets have units' later '1502005 1502005 1505005 1505005' --clock-offset=1.5ms mytrace again
check 'offsets add up' later '2000001998 2000004998' --clock-offset=2 --clock-offset-ns=-7 mytrace
check 'an offset for one of the traces' later '2005 5005 3600000002005 3600000005005' --clock-offset=again/=1h mytrace again
check 'an earlier one' later '-999997995 -999994995 2005 5005' --clock-offset again=-1s mytrace again
check 'copies of one trace with two offsets are two traces' later '2005 5005 1002005 1005005' --clock-offset copy=1ms mytrace copy
check 'events beyond all times are not lost' later '7523372036854775806 7523372036854775806' --clock-offset-ns=9223372036854775807 mytrace

says='kymo cat: --clock-offset'
check 'offset that is no number' refused "$says five: expected a time" cat --clock-offset five mytrace
check 'offset below a nanosecond' refused "$says 0.5ns: no clock here counts parts of nanoseconds" cat --clock-offset 0.5ns mytrace
check 'offset of an unknown trace' refused "$says mytrac=5: expected one of the traces, found \"mytrac\" (did you mean \"mytrace\"?)" cat --clock-offset mytrac=5 mytrace
check 'offset beyond 64 bits' refused "$says 9223372037: too large" cat --clock-offset 9223372037 mytrace
check 'sum of offsets beyond 64 bits' refused "$says 9223372036: too large" cat --clock-offset=9223372036 --clock-offset 9223372036 mytrace
check 'offset of parts of nanoseconds' refused "$says-ns 1.5: expected a whole number of nanoseconds" cat --clock-offset-ns 1.5 mytrace

# ---- times ----

# numbers ARGUMENT…: which events, by microseconds from 1700000000 s; the last one is a day later
numbers() { "$kymo" cat -f json "$@" mytrace | python3 -c '
import json, sys
print(*((e["ts"] - 1700000000 * 10**9) // 1000 for e in map(json.loads, sys.stdin) if "event" in e))'; }
window() {
  local wanted=$1
  shift
  [ "$(numbers "$@")" = "$wanted" ]
}
check 'from a time on, which is included' window '2 3 5 86400000000' --begin 1700000000.000002005
check 'up to a time, which is included' window '0 1 1 2' --end 1700000000.000002005
check 'a nanosecond more' window '3 5 86400000000' --begin 1700000000.000002006
check 'a nanosecond less' window '0 1 1' --end 1700000000.000002004
check 'a time of day is of the first day' window '0 1 1 2 3 5' --begin 22:13:20 --end 22:13:21
check 'date and zone' window '3 5' --begin '2023-11-14T23:13:20.000003+01:00' --end '2023-11-15'
check 'from the begin' window '1 1 2' --begin +1us --end +2us
check 'from the end' window '86400000000' --begin -1min
check 'range in brackets' window '2 3' --timerange '[22:13:20.000002,22:13:20.000005]'
tokyo() { [ "$(TZ=JST-9 numbers --begin '2023-11-15 07:13:20.000003' --end '2023-11-15 08:00')" = '3 5' ]; }
check 'times are local' tokyo
check 'clock offsets come first' window '1000002 1000003 1000005' --clock-offset=1 --begin 1700000001.000002 --end 22:13:22
check 'with an event class' window '2 5' --event bare --begin +1us --end 23:00
check 'nothing in it' window '' --begin +1h --end +2h
check 'info counts what is in it' [ "$("$kymo" info --json --begin +1h mytrace | jq .events)" = 1 ]

forms='times are like "2026-11-21 15:04:05.123", "15:04:05", "today", "1700000000.5" (seconds), "+1.5s" from the begin, "-10s" from the end'
check 'no time' refused "kymo cat: --begin tomorrow: \"t\": expected a time; $forms" cat --begin tomorrow mytrace
check 'no such day' refused "kymo cat: --end 2023-02-30 12:00: \"2023-02-30\": there is no such day; $forms" cat --end '2023-02-30 12:00' mytrace
check 'no unit' refused "kymo cat: --begin +5: \"5\": a unit must follow: ns, us, ms, s, min, h or d; $forms" cat --begin +5 mytrace
check 'empty time' refused "kymo cat: --begin : a time must be given; $forms" cat --begin '' mytrace
check 'begin after the end' refused 'kymo cat: --begin -1s is later than --end +1s' cat --begin -1s --end +1s mytrace
check 'too far' refused 'kymo cat: --begin +9000000000s: too far from the times of the trace' cat --begin +9000000000s mytrace
for range in 1 1, ,2 1,2,3; do
  no_range() { "$kymo" cat --timerange "$1" mytrace 2>&1 | grep -qxF "kymo cat: --timerange is BEGIN,END, not \"$1\""; }
  check "range \"$range\"" no_range "$range"
done

# ---- where all streams have packets ----

# same_events TRACE: of both, where babeltrace2 can do it (it refuses times before the origin)
same_events() {
  babeltrace2 --stream-intersection "$1" >theirs 2>/dev/null || return 0
  "$kymo" cat -f babeltrace2 --stream-intersection "$1" >ours 2>/dev/null &&
    python3 "$KYMO_SOURCE/tests/differential/compare.py" theirs ours
}
python3 "$KYMO_SOURCE/tests/differential/random_trace.py" more 1 12 || exit 1
for trace in mytrace more/*; do
  check "intersection of the streams of $trace as babeltrace2 has it" same_events "$trace"
done
same_of_several() {
  babeltrace2 --stream-intersection --clock-force-correlate "$@" >theirs 2>/dev/null || return 0
  "$kymo" cat -f babeltrace2 --stream-intersection --force-correlate "$@" >ours 2>/dev/null &&
    python3 "$KYMO_SOURCE/tests/differential/compare.py" theirs ours
}
check 'intersection of the streams of two traces, each by itself' same_of_several mytrace more/1
for i in 2 4 6 8 10; do
  check "intersection of the streams of each of three random traces from $i on" same_of_several more/$i more/$((i + 1)) more/$((i + 2))
done
check 'intersection of a growing trace' refused 'kymo cat: --stream-intersection is for a complete trace, not for one that grows (--follow)' cat --follow --stream-intersection mytrace
