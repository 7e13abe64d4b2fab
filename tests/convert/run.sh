#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
# heavy
#
# kymo convert and kymo merge: what is written reads as what was read, here and in the installed babeltrace2: events,
# losses, parts of traces by names and times, all streams as one, and whatever is converted again. KYMO_ROUNDS=N: random traces (14).
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
data=${KYMO_SHARED:-/nonexistent}/data
here=$KYMO_SOURCE/tests/convert
hold() { python3 "$here/check.py" "$kymo" "$TMPDIR" "$@"; }
[ -n "$sanitizer" ] && export CONVERT_ALONE=1 # it is slow: a part of all, and without babeltrace2
cd "$TMPDIR" || exit 1

# ---- traces of others ----

shared_traces() { # FOLDER
  find "$data/ctf/$1" -type d -name trace | sort | while IFS= read -r trace; do echo "${trace#"$data/ctf/"}=$trace"; done
}

if [ -d "$data" ]; then
  folders='lttng-discarded lttng-session-rotation lttng-two-channels-timer lttng-uid-kinds'
  [ -n "$sanitizer" ] || folders+=' babeltrace'
  mapfile -t traces < <(for folder in $folders; do shared_traces $folder; done)
  hold traces,parts,merge "${traces[@]}"
  if [ -z "$sanitizer" ]; then
    mapfile -t traces < <(for folder in actf field yactfr; do shared_traces $folder; done)
    hold traces "${traces[@]}"
  fi
  mapfile -t traces < <(for file in "$data"/cpel/*.cpel; do echo "$(basename "$file")=$file"; done)
  hold traces,merge "${traces[@]}"
else
  skip 'traces of others' 'no shared data'
fi

# ---- random traces ----

count=14
[ -z "$sanitizer" ] || count=6 # each takes seconds
count=${KYMO_ROUNDS:-$count}
python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 $count
mapfile -t traces < <(for seed in $(seq 1 $count); do echo "random $seed=random/$seed"; done)
hold traces,parts,merge "${traces[@]:0:$(((count + 1) / 2))}"
hold traces,merge "${traces[@]:$(((count + 1) / 2))}"

# ---- what kymo records ----

must_build worker
"$kymo" record -q -o recorded -- "$bin/worker" -t 4 -n 2000 -m -c counters 2>said ||
  not_ok 'records' "$(cat said)"
may_lose "$kymo" record -q -o lost --buffer 16k -- "$bin/worker" -t 2 -n 15000 -m -c counters 2>said ||
  not_ok 'records with losses' "$(cat said)"
hold traces,parts,merge 'what kymo recorded=recorded'
hold traces,merge 'with losses=lost'

# Rings that a process left when it was killed.
converts_rings() {
  env KYMO_ENABLE='*' KYMO_SAVE=never KYMO_OUT="$TMPDIR/never" KYMO_RINGS="$TMPDIR/rings" "$bin/worker" -t 3 -n 0 -m -k 3000 -e kill -c counters
  set -- rings/*
  may_lose "$kymo" convert -q -o from-rings "$1" && [ "$(events from-rings | wc -l)" -gt 3000 ] && cmp <(events "$1") <(events from-rings)
}
events() { "$kymo" cat -q -f json "$@" | grep '"event":'; }
check 'the rings of a killed process' converts_rings 2>/dev/null

# Nothing is left out, so the streams are the same bytes.
same_streams() {
  may_lose "$kymo" convert recorded -o same || return
  for stream in recorded/stream_*; do cmp "$stream" "same/${stream#*/}" || return; done
}
check 'streams of which all is kept are copied byte for byte' same_streams

# So are clock snapshots and the load map; those of a trace in two places are put together.
carries() {
  rm -rf same
  may_lose "$kymo" convert -o same recorded && cmp recorded/.kymo/clocks same/.kymo/clocks && cmp recorded/.kymo/modules same/.kymo/modules &&
    may_lose "$kymo" convert -o beginning --end +0.001s recorded && cmp recorded/.kymo/clocks beginning/.kymo/clocks && mkdir parts &&
    cp -r recorded parts/1 && cp -r beginning parts/2 && rm -rf same && may_lose "$kymo" convert -o same parts/1 parts/2 &&
    [ "$(wc -l <same/.kymo/clocks)" = $((2 * $(wc -l <recorded/.kymo/clocks) - 4)) ] && [ "$(grep -c kymo-clocks same/.kymo/clocks)" = 1 ] &&
    "$kymo" info same >/dev/null
}
check 'the files of the recorder beside the trace are converted too' carries

# Each event has its stream's name; several processes are one trace.
merges_processes() {
  may_lose "$kymo" merge -o both recorded lost || return
  [ "$(find both -type f -not -name '.*' -not -path '*/.kymo/*' | sort | xargs)" = 'both/metadata both/stream_0' ] || return
  diff <(events recorded lost | sed 's/"trace":[0-9]*,//' | sort) \
    <(events both | sed -E 's/"context":\{"source":\{"value":[0-9]+,"label":"(recorded|lost)\/stream_[0-9]+"\},?/"context":{/; s/,"context":\{\}//' | sort) | head -4 | grep . && return 1
  cmp <(events recorded lost | grep -o '"ts":[0-9]*') <(events both | grep -o '"ts":[0-9]*')
}
check 'traces of several processes become one stream' merges_processes

converts_several() {
  local one='s/"trace":[0-9]*,//'
  may_lose "$kymo" convert -o several recorded lost && cmp <(events recorded lost | sed "$one") <(events several | sed "$one") &&
    [ -f several/recorded/metadata ] && [ -f several/lost/metadata ]
}
check 'several traces go to a directory each' converts_several

# shifts OPTION…: the clock's offset becomes part of the trace
shifts() {
  rm -rf shifted
  may_lose "$kymo" convert -o shifted "$@" recorded && cmp <(events "$@" recorded) <(events shifted)
}
check 'an offset of the clock is kept' shifts --clock-offset 3600
check 'a negative offset of the clock is kept' shifts --clock-offset=-3

# Event headers have 27 bits of the time; the kept events are further apart.
python3 "$here/narrow_trace.py" narrow
python3 "$here/narrow_trace.py" blind without-begin
divides() {
  "$kymo" convert --event rare -o divided narrow && cmp <(events --event rare narrow) <(events divided) &&
    [ "$("$kymo" info divided | grep -o '[0-9]* packets' | head -1)" = '24 packets' ] && ! "$kymo" cat -f json divided | grep lost &&
    "$kymo" convert -o divided-again divided && cmp divided/stream divided-again/stream
}
check 'packets are divided where headers cannot represent the time' divides
hold parts,merge,traces 'narrow times=narrow'
hold merge,traces 'times without begin=blind'

# Events of one time come in the order of their streams' ids.
python3 "$here/twin_trace.py" twins
hold merge 'events of one time=twins'

# ---- what cannot be ----

mkdir -p full && touch full/file
check 'a directory that is not empty' says_first 3 'kymo convert: full: the directory is not empty' "$kymo" convert recorded -o full
check 'a directory that is a file' says_first 3 'kymo convert: full/file: cannot write: Not a directory' \
  "$kymo" convert recorded -o full/file
check 'no place to write to' says_first 2 'kymo convert: where to? (--output)' "$kymo" convert recorded
check 'no such format' says_first 2 'kymo merge: there is no format "csv2" (did you mean "ctf2"?)' "$kymo" merge recorded -o new --to csv2
check 'a format that is printed' says_first 2 'kymo convert: the format "text" is printed: kymo cat --format text' \
  "$kymo" convert recorded -o new --to text
check 'no such trace' says_first 3 'kymo convert: missing: cannot open: No such file or directory' "$kymo" convert missing -o new
check 'an event whose time is unknown' says_first 3 \
  'kymo convert: blind/stream: byte 60: the event'"'"'s time is unknown without the events before it, which are left out' \
  "$kymo" convert blind --event rare -o untold
check 'nothing is written if nothing is read' test ! -e new

# A length that is in whichever option of a variant is present.
has_no_words() {
  local u8='{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian","alignment":8}'
  local option="{\"type\":\"structure\",\"member-classes\":[{\"name\":\"len\",\"field-class\":$u8}]}"
  local variant="{\"type\":\"variant\",\"selector-field-location\":{\"path\":[\"tag\"]},\"options\":[{\"selector-field-ranges\":[[0,0]],\"field-class\":$option},{\"selector-field-ranges\":[[1,1]],\"field-class\":$option}]}"
  local text='{"type":"dynamic-length-string","length-field-location":{"path":["outer","len"]}}'
  mkdir strange && {
    printf '\x1e{"type":"preamble","version":2}\x1e{"type":"trace-class"}\x1e{"type":"data-stream-class","id":0}'
    printf '\x1e{"type":"event-record-class","name":"e","payload-field-class":{"type":"structure","member-classes":['
    printf '{"name":"tag","field-class":%s},{"name":"outer","field-class":%s},{"name":"text","field-class":%s}]}}' "$u8" "$variant" "$text"
  } >strange/metadata
  printf '\1\2ab' >strange/stream
  says_first 3 'kymo convert: strange: CTF 1.8 has no words for this (--to ctf2 has): there is no member "_len": integer { size = 8; align = 8; signed = false; encoding = UTF8; } _text[_outer._len];' \
    "$kymo" convert strange -o new && [ ! -e new ] && "$kymo" convert strange -o told --to ctf2 && [ "$(events told | wc -l)" = 1 ]
}
check 'types that CTF 1.8 lacks' has_no_words

# With the size of files limited, what was written stays a sound trace.
disk_full() {
  local bytes
  (trap '' XFSZ; ulimit -f 10; exec "$kymo" convert lost -o cut) >said 2>&1
  [ $? = 3 ] && [ "$(wc -l <said)" = 1 ] && grep -q '^kymo convert: cut/stream_[0-9]*: cannot write: File too large$' said || { cat said; return 1; }
  may_lose "$kymo" cat -f json cut >part 2>/dev/null || return
  bytes=$(cat cut/stream_* | wc -c)
  [ "$bytes" -gt 4000 ] && [ -s part ] && [ "$(wc -l <part)" -lt "$(events lost | wc -l)" ]
}
check 'what was written before the disk was full can be read' disk_full

damaged() {
  local status
  cp -r recorded damaged && truncate -s -300 damaged/stream_1
  "$kymo" convert damaged -o repaired 2>said
  status=$?
  [ $status = 1 ] && [ "$(wc -l <said)" = 1 ] && "$kymo" cat repaired >/dev/null && cmp <(events damaged) <(events repaired)
}
check 'of a damaged trace, the valid part is written' damaged

# A clock of several cycles a nanosecond: the order of events is that of nanoseconds, the cycles written never go back.
within_a_nanosecond() {
  mkdir fast && cat >fast/metadata <<'END'
/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 4000000000; };
stream { event.header := struct { integer { size = 64; align = 8; map = clock.c.value; } timestamp; }; };
event { name = "e"; fields := struct { integer { size = 8; align = 8; } n; }; };
END
  python3 -c '
import struct
for name, events in {"a": [(4003, 0), (4007, 1)], "b": [(4001, 2), (4004, 3)]}.items():
    open(f"fast/{name}", "wb").write(b"".join(struct.pack("<QB", *event) for event in events))'
  "$kymo" merge -o ordered fast &&
    [ "$("$kymo" cat -f text --clock-cycles --no-delta ordered | sed 's/ .* n = / /; s/ |.*//' | tr '\n' ' ')" = \
      '[4003] 0 [4003] 2 [4007] 1 [4007] 3 ' ]
}
check 'merged events within a nanosecond' within_a_nanosecond

# ---- manual pages ----

mkdir pages && cd pages || exit 1
for trace in mytrace othertrace; do python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" $trace; done
sed -i 's/uuid = "0/uuid = "1/' othertrace/metadata
# files of records, their description and plug-in, as docs/bprintf.md has them
python3 -c '
import struct, sys
for cpu in 0, 1:
    open(f"log_cpu{cpu}", "wb").write(b"".join(struct.pack("<HII", 15, 1000 + n, cpu) + b"hello" for n in range(9)))'
sed -n '/^## Merging/,/^## /{/^```tdl/,/^```/{/^```/!p}}' "$KYMO_SOURCE/docs/bprintf.md" >log.tdl
gcc -shared -fPIC $sanitizer -I"$KYMO_SOURCE/include" -o records.so "$KYMO_SOURCE/examples/records.c"
mkdir -p "$TMPDIR/path" && ln -sf "$kymo" "$TMPDIR/path/kymo"
example() { [ -n "$(PATH=$TMPDIR/path:$PATH bash -o pipefail -c "$1")" ]; }
for page in kymo-convert kymo-merge; do
  while IFS= read -r line; do
    for tool in babeltrace2 jq; do
      case $line in *" $tool "*) command -v $tool >/dev/null || { skip "$page(1): $line" "$tool is not installed"; continue 2; } ;; esac
    done
    check "$page(1): $line" example "$line"
  done < <(sed -n 's/^\$ //p' "$KYMO_SOURCE/docs/man/$page.1")
  command -v groff >/dev/null || continue
  clean_page() { [ -z "$(groff -mdoc -ww -Tutf8 "$KYMO_SOURCE/docs/man/$page.1" 2>&1 >/dev/null)" ]; }
  check "$page(1) has no mistakes" clean_page
done
for option in --by --records; do
  check "kymo-merge(1) describes $option" grep -q -- "Fl -${option#--}" "$KYMO_SOURCE/docs/man/kymo-merge.1"
done
for option in $("$kymo" convert --help | grep -o -- '--[a-z-]*' | sort -u | grep -vE '^--(help|usage|version)$'); do
  documented() { grep -q -- "Fl -${1#--}" "$KYMO_SOURCE"/docs/man/kymo-c{onver,a}t.1; }
  check "kymo-convert(1) or kymo-cat(1) describes $option" documented "$option"
done
