#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# CPEL files: the shared samples of VPP's tools with what cpeldump prints of them, random files against the second
# reader in cpel.py, and damaged ones with the exact words about them.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
data=${KYMO_SHARED:-/nonexistent}/data/cpel
cpel() { python3 "$KYMO_SOURCE/tests/cpel/cpel.py" "$@"; }
cd "$TMPDIR" || exit 1

# prints FORMAT FILE EXPECTED
prints() {
  "$kymo" cat --format "$1" "$2" >printed && cmp printed "$3"
}

if [ -d "$data" ]; then
  for file in "$data"/*.cpel; do
    name=$(basename "$file" .cpel) page=$data/$(basename "$file" .cpel).txt vpp=$data/$(basename "$file" .cpel).txt
    [ -f "$data/$name.page.txt" ] && page=$data/$name.page.txt vpp=$data/$name.vpp.txt
    check "sample $name" prints cpel "$file" "$page"
    check "sample $name as cpeldump prints it" prints cpeldump "$file" "$vpp"
  done
  # one message, after all valid events
  malformed() {
    "$kymo" cat --format cpel "$1" >printed 2>told && return 1
    [ "$(wc -l <told)" = 1 ] && [ "$(wc -l <printed)" = "$2" ] || { cat printed told; return 1; }
  }
  while read -r name events; do
    check "malformed $name" malformed "$data/malformed/$name.cpel" "$events"
  done <<'T'
clock-zero 2
event-count-lie 2
format-hostile 1
format-offset-outside 1
missing-strtab 1
nsections-65535 3
section-length-max 0
string-offset-outside 0
strtab-unterminated 0
trunc-events 1
trunc-header 0
trunc-section-header 0
trunc-strtab 0
version-2 0
T
  [ "$(find "$data/malformed" -type f | wc -l)" = 14 ] && ok "all malformed samples" || not_ok "all malformed samples" "there are others"
else
  skip "samples" "no shared data"
fi

random_file() {
  cpel random "$1" random.cpel && cpel dump random.cpel >wanted && prints cpel random.cpel wanted
}
for seed in $(seq 1 $([ -n "$sanitizer" ] && echo 10 || echo 40)); do # sanitizers are slow
  check "random file $seed" random_file "$seed"
done

# A window shows its events, wherever in a packet it begins, and after every move to it.
window() {
  cpel random "$1" random.cpel && "$kymo" cat --format json random.cpel >all || return 1
  [ -s all ] || return 0
  python3 - "$kymo" <<'P'
import json, subprocess, sys
lines = open('all').readlines()
times = [json.loads(line)['ts'] for line in lines]
for part in (0.1, 0.5, 0.77):
    first = times[int(len(times) * part)]
    last = times[min(len(times) - 1, int(len(times) * (part + 0.1)))]
    at = lambda ns: f'{ns // 10**9}.{ns % 10**9:09}'
    shown = subprocess.run([sys.argv[1], 'cat', '--format', 'json', '--begin', at(first), '--end', at(last), 'random.cpel'],
                           capture_output=True, text=True, check=True).stdout.splitlines(True)
    assert shown == [line for line, time in zip(lines, times) if first <= time <= last], (first, last)
P
}
for seed in 3 5 8 11 14 17; do
  check "windows of random file $seed" window "$seed"
done

# The messages about a damaged file, and the number of events that are read nevertheless.
tells() {
  local kind=$1 status=$2 events=$3 text=$4 found
  cpel damage "$kind" "$kind.cpel" || return 1
  "$kymo" cat "$kind.cpel" >printed 2>told
  found=$?
  [ "$found" = "$status" ] && [ "$(wc -l <printed)" = "$events" ] && [ "$(cat told)" = "$(sed "1s/^/kymo cat: $kind.cpel: /; s/^\(kymo cat: $kind.cpel: \)\{0,1\}WARNING /kymo cat: warning: $kind.cpel: /" <<<"$text")" ] && return
  echo "status $found, $(wc -l <printed) events"
  cat told
  return 1
}
sound() { cpel damage none none.cpel && "$kymo" cat none.cpel 2>&1 | wc -l | grep -qx 2; }
check "a file without damage" sound
check "format with a conversion that is not known" tells conversion 1 2 \
  'byte 41: format "a %n", column 4: a conversion that is not known'
check "format of a huge width" tells width 1 2 \
  'byte 42: format "%1000000000d", column 5: a width or precision above 200'
check "format with a width as argument" tells star 1 2 'byte 39: format "%*d", column 2: a conversion that is not known'
check "format outside of its table" tells format 1 2 'byte 16: no string at 99999 of table "T", which has 28 bytes'
check "string outside of its table" tells string 1 2 'byte 344: no string at 100000 of table "T", which has 28 bytes'
check "a table that is not there" tells table 1 1 'byte 236: no string table has the name "None"
kymo cat: table.cpel: byte 344: a string at 16 of table "None", which does not exist'
check "a clock of zero" tells clock 1 2 'byte 304: a clock of 0 ticks a second: read as 1000000000'
check "more events than there is space for" tells count 1 2 'byte 300: 1000 entries in a section that has space for 2'
check "fewer sections than said" tells sections 1 2 'byte 348: expected section 5 of 9, found the end of the file'
check "more sections than said" tells uncounted 1 0 'byte 228: 120 bytes after the last of 3 sections'
check "bytes after all sections" tells behind 1 2 'byte 348: 4 bytes after the last of 4 sections'
check "another version" tells version 3 0 'byte 0: expected CPEL of version 1, found 2'
check "a header cut short" tells head 3 0 'byte 0: a CPEL header has 8 bytes, the file has 5'

# What is read all the same, but may be less than there is, or not what was meant.
check "an event section that is longer than its events" tells more 0 2 'WARNING byte 348: 23 bytes after the last of 2 entries of the section: not read'
check "no section of events" tells eventless 0 0 'WARNING byte 2: none of the 3 sections has events'
check "two string tables of one name" tells tables 0 2 'WARNING byte 356: string table "T" has 6 bytes, not a multiple of 4
WARNING byte 356: another string table "T": the one at byte 16 is used'
check "two definitions of one code and one track" tells definitions 0 2 'WARNING byte 424: another definition of event 1: the one at byte 132 is used
WARNING byte 512: another definition of track 1: the one at byte 220 is used'
many_warnings() {
  python3 - <<'P'
import struct
sections = [(1, b'T\0\0\0')] * 100
with open('many.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, 100, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
  "$kymo" cat many.cpel 2>told && [ "$(wc -l <told)" = 64 ] && tail -1 told | grep -qE '^kymo cat: warning: many.cpel: (byte [0-9]+: )?further warnings are not listed$' || { tail -2 told; return 1; }
}
check "more warnings than are listed" many_warnings

# Conversions of one datum each show it in their own way.
shows_both() {
  python3 - <<'P'
import struct
strings, table = b'T\0%k is %s\0main\0', b'T'.ljust(64, b'\0')
sections = [(1, strings), (2, table + struct.pack('>III', 1, 3, 11)), (3, table + struct.pack('>IIII', 1, 1, 11, 2)),
            (5, table + struct.pack('>II', 1, 1000000000) + struct.pack('>QIII', 7, 1, 1, 13))]
with open('both.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, 4, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
  rm -rf both.ctf back.cpel
  [ "$("$kymo" cat --format cpel both.cpel)" = '000:00:00:000:000 1     main  main+0xa is in' ] &&
    "$kymo" cat both.cpel | grep -qF 'main "main+0xa is in" | track = 1' &&
    "$kymo" convert both.cpel -o both.ctf && "$kymo" convert both.ctf -o back.cpel &&
    [ "$("$kymo" cat --format cpel back.cpel)" = '000:00:00:000:000 1     main  main+0xa is in' ]
}
check "a string and a symbol in one format" shows_both
# Codes and tracks may be references to strings as well.
names_are_strings() {
  cpel damage names names.cpel && cpel damage nameless nameless.cpel
  [ "$("$kymo" cat --format cpel names.cpel)" = '000:00:00:000:000 <hello> hello 7' ] &&
    "$kymo" cat names.cpel | grep -qF ' hello "7" | track = "<hello>"' &&
    "$kymo" cat nameless.cpel 2>told | grep -qF ' E99999 "7"' &&
    grep -qF 'byte 300: no string at 99999 of table "T" for a code or track' told
}
check "names of codes and tracks that are strings" names_are_strings
# A small file cannot ask for much memory: eight thousand tracks, each named by a thousand numbers of a width of 200.
asks_much() {
  python3 - <<'P'
import struct
strings = b'T\0' + b'%200d' * 800 + b'\0'
table = b'T'.ljust(64, b'\0')
tracks = b''.join(struct.pack('>II', i, 2) for i in range(8000))
sections = [(1, strings), (4, table + struct.pack('>I', 8000) + tracks), (5, table + struct.pack('>II', 0, 1000))]
with open('much.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, 3, 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
  ([ -n "${ASAN_OPTIONS:-}" ] || ulimit -v 2000000; "$kymo" info much.cpel 2>&1 >printed | grep -qF 'names of more than 1024 bytes') && [ -s printed ]
}
check "a file that asks for much memory" asks_much

# Definitions, units of clocks and symbols show in the other formats too.
shows() {
  cpel damage none plain.cpel
  "$kymo" cat --format json plain.cpel | head -1 >printed
  grep -qF '"event":"start","message":"7","fields":{"datum":7},"context":{"track":{"value":1,"label":"main"}}' printed
}
check "events as JSON" shows
says_unit() {
  cpel damage none plain.cpel
  [ "$("$kymo" cat --format json --cpel-clock us plain.cpel | tail -1 | cut -d, -f1)" = '{"ts":21474' ] &&
    [ "$("$kymo" cat --format json plain.cpel | tail -1 | cut -d, -f1)" = '{"ts":21474836489' ]
}
check "a clock whose unit is said" says_unit
warns() {
  cpel damage symbols symbols.cpel
  local text='kymo cat: warning: symbols.cpel: byte 364: symbol table "T" is not sorted by value: sorted for reading'
  [ "$("$kymo" cat symbols.cpel 2>&1 >printed)" = "$text" ] && grep -qF ' "main+0x7" | ' printed &&
    [ -z "$("$kymo" cat -q symbols.cpel 2>&1 >/dev/null)" ] && "$kymo" info --json -q symbols.cpel | grep -qF '"warnings":[{"path":"symbols.cpel","offset":364,'
}
check "symbols that are not sorted" warns
lists_sections() {
  cpel damage symbols symbols.cpel
  "$kymo" info -q symbols.cpel | grep '^  section' >sections
  cmp - sections <<'T'
  section    type 1 at byte 16, 36 bytes: string table, 8 strings, named "T"
  section    type 3 at byte 60, 92 bytes: event definitions, 2 definitions, strings of "T"
  section    type 4 at byte 160, 76 bytes: track definitions, 1 definitions, strings of "T"
  section    type 5 at byte 244, 112 bytes: events, 2 events, strings of "T", 1000000000 ticks a second
  section    type 2 at byte 364, 84 bytes: symbol table, 2 symbols, strings of "T"
T
}
check "info lists the sections" lists_sections
if [ -d "$data" ]; then
  lists_unknown() { "$kymo" info --json "$data/07-unknown-sections.cpel" | grep -qF '{"type":3735928559,"offset":73,"bytes":0,"name":"unknown","holds":null}'; }
  check "info lists unknown sections" lists_unknown
fi
names_unit() { "$kymo" info plain.cpel | grep -qF '1000000000 ticks a second'; }
check "info names the clock's unit" names_unit

# ---- clib's event logs ----

elog() { python3 "$KYMO_SOURCE/tests/cpel/elog.py" "$@"; }
# The same events as elog_dump prints: track and text; its times count from the log's start.
dumps() {
  "$kymo" cat --format json "$1" | jq -r '.context.track.label + "|" + .message' >ours
  tail -n +2 "$2" | sed -E 's/^ *[0-9.]+ //; s/^(.{24}) /\1|/; s/ *\|/|/' >theirs
  [ "$(wc -l <ours)" = 120 ] && cmp ours theirs
}
if [ -d "$data" ]; then
  check "log of VPP's elog" dumps "$data/14-elog.elog" "$data/14-elog.elog_dump.txt"
else
  skip "log of VPP's elog" "no shared data"
fi
random_log() {
  elog random "$1" random.elog >wanted && "$kymo" cat --format json random.elog >printed && cmp printed wanted
}
for seed in $(seq 1 $([ -n "$sanitizer" ] && echo 4 || echo 15)); do
  check "random log $seed" random_log "$seed"
done
# Its events have fields of their own, for which the dump of CPEL has no words.
refuses_others() {
  elog random 3 whole.elog >wanted
  "$kymo" cat --format cpel whole.elog >printed 2>told
  [ $? = 2 ] && [ ! -s printed ] && grep -qE '^kymo cat: whole.elog: event ".*" has not a track and a datum alone: this format is for CPEL files$' told
}
check "a log as CPEL is dumped" refuses_others
# Wherever a log is cut, the events before are shown, and a message reports the cut.
cut_log() {
  local size at
  elog random 3 whole.elog >wanted
  size=$(stat -c %s whole.elog)
  for at in 11 40 60 90 $((size / 2)) $((size - 1)); do
    head -c "$at" whole.elog >cut.elog
    "$kymo" cat --format json cut.elog >printed 2>told && return 1
    grep -q '^kymo cat: cut.elog' told || return 1
    head -n "$(wc -l <printed)" wanted | cmp - printed || return 1
  done
}
check "a log that is cut" cut_log
longer_log() {
  local size
  elog random 3 longer.elog >wanted
  size=$(stat -c %s longer.elog)
  printf 'more' >>longer.elog
  "$kymo" cat --format json longer.elog >printed 2>told && return 1
  cmp wanted printed && [ "$(cat told)" = "kymo cat: longer.elog: byte $size: 4 bytes after the last of $(wc -l <wanted) events" ] || { cat told; return 1; }
}
check "a log that continues after its events" longer_log

# VPP before April 2017 counted a log's start from 1970.
old_log() {
  python3 - <<'P'
import struct
u64 = lambda value: struct.pack('>II', value & 0xffffffff, value >> 32)
start = 1480000000 * 10**9 + 5
with open('old.elog', 'wb') as file:
    file.write(b'\0\0\0\7elog v0' + struct.pack('>I', 64) + u64(start + 9) + u64(9) + u64(start) + u64(1) + struct.pack('>I', 1) + b'\5up' + b'\1' +
               struct.pack('>III', 1, 0, 0) + struct.pack('>II', 0, 1) + struct.pack('>HH', 0, 0) + u64(0))
P
  "$kymo" cat --format json -q old.elog | grep -q '^{"ts":1480000000000000005,"event":"up",' &&
    "$kymo" cat old.elog 2>&1 >printed | diff - <(echo 'kymo cat: warning: old.elog: byte 31: the log'"'"'s start is 1480000000 s after 2017-03-30, a date in the future: read as seconds since 1970, as VPP before April 2017 counted')
}
check "a log from before April 2017" old_log

# The messages of a log, in all formats: names are never empty; a format that is none, or that no event has the arguments for, is none.
elog named named.elog '%s: idx %d pct %d%%=si4i4=fn_3,-863112772,100' '%d=i4=7' '%% load of %s=s=cpu' 'start %d of=i4i4=1,2' 'hot %n%s=i4s=1,x' \
  '%*d=i4i4=1,2' 'wide %1000000000d=i4=1' 'two %d %d=i4=5' 'text %d=s=abc' '%s=s=esc'$'\033'
named_fields() { "$kymo" cat --no-delta --clock-seconds named.elog | sed 's/^[^#]*#0 //; s/ | track = default//' | diff - "$1"; }
cat >wanted <<'T'
idx "fn_3: idx -863112772 pct 100%"
event1 "7"
load of "% load of cpu"
start "start 1 of", arg1 = 2
hot arg0 = 1, arg1 = "x"
event5 arg0 = 1, arg1 = 2
wide arg0 = 1
two arg0 = 5
text arg0 = "abc"
event9 "esc\x1b"
T
check 'the messages of a log' named_fields wanted
check '… as JSON' eval '"$kymo" cat --format json named.elog | jq -r "[.event, .message // \"-\"] | join(\":\")" | head -5 | diff - <(printf "%s\n" "idx:fn_3: idx -863112772 pct 100%" event1:7 "load of:% load of cpu" "start:start 1 of" hot:-)'
check '… as a table' eval '[ "$("$kymo" cat --format csv named.elog | cut -d, -f3,7 | head -3)" = "event,message
idx,fn_3: idx -863112772 pct 100%
event1,7" ]'
check '… in details' eval '"$kymo" cat --format details named.elog | grep -qxF "  Message: fn_3: idx -863112772 pct 100%" && ! "$kymo" cat --format details:2.0 named.elog | grep -q Message'
check '… by their descriptions' eval '"$kymo" cat --format generic named.elog | head -1 | grep -q "idx: time: [0-9.]*, fn_3: idx -863112772 pct 100%$"'
as_cpel() {
  rm -f named.cpel
  "$kymo" convert named.elog -o named.cpel && "$kymo" cat --format cpel named.cpel | sed 's/^[^ ]* default *//; s/  */ /' | head -4 | diff - \
    <(printf '%s\n' 'idx fn_3: idx -863112772 pct 100%' 'event1 7' 'load of % load of cpu' 'start start 1 of, arg1 = 2')
}
check '… as the datums of CPEL' as_cpel
as_ctf() {
  rm -rf named.ctf
  "$kymo" convert --to "$1" named.elog -o named.ctf && named_fields wanted && diff <("$kymo" cat --format json named.elog | jq .message) <("$kymo" cat --format json named.ctf | jq .message)
}
for to in ctf1 ctf2; do
  check "… by way of $to" as_ctf "$to"
done

# ---- names ----

# An event without a name, one whose name is no text, two of one format that is none.
python3 - <<'P'
import struct
strings = bytearray(b'T\0')
def add(name):
    at = len(strings); strings.extend(name + b'\0'); return at
number, unknown = add(b'%d'), add(b'%q')
definitions = [(7, add(b''), number), (8, add(b'caf\xe9\x1b'), number), (9, add(b'one'), unknown), (10, add(b'two'), unknown)]
strings.extend(bytes(-len(strings) % 4))
table = b'T'.ljust(64, b'\0')
events = b''.join(struct.pack('>QIII', 10 * i, 0, 7 + i % 4, i) for i in range(8))
sections = [(1, bytes(strings)), *((3, table + struct.pack('>I', 2) + b''.join(struct.pack('>III', *one) for one in definitions[i:i + 2])) for i in (0, 2)),
            (4, table + struct.pack('>I', 0)), (5, table + struct.pack('>II', 8, 1000000000) + events)]
with open('names.cpel', 'wb') as file:
    file.write(struct.pack('>BBHI', 1, 0, len(sections), 0) + b''.join(struct.pack('>II', kind, len(part)) + part for kind, part in sections))
P
# names COMMAND…: the names of the four, one a line
names() { diff <(printf '%s\n' 'event7' 'caf\xe9\x1b' one two) -; }
check 'kymo cat shows names that are none' eval '"$kymo" cat -q names.cpel | sed -n "1,4s/.* #0 \([^ ]*\) .*/\1/p" | names'
check 'kymo info calls them alike' eval '"$kymo" info -q names.cpel | sed -n "s/^           2 //p" | names'
check 'kymo stat too' eval '"$kymo" stat counts -q --sort name names.cpel | sed -n "s/ *2  *[0-9.]*$//p" | sort >counted; diff counted <(printf "%s\n" "caf\\xe9\\x1b" event7 one two)'
# The format is wrong, wherever it is used: it is reported once, at its place.
once() {
  "$kymo" cat names.cpel 2>&1 >/dev/null | diff - <(echo 'kymo cat: names.cpel: byte 22: format "%q", column 2: a conversion that is not known')
}
check 'a wrong format of two events is reported once' once
