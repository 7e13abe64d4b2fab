#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
# heavy
#
# CPEL files that kymo writes, held against the tables of bytes and against what was read, by check.py: of CPEL files, of
# CTF traces of others, of random ones and of what kymo records.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
data=${KYMO_SHARED:-/nonexistent}/data
cpel() { python3 "$KYMO_SOURCE/tests/cpel/cpel.py" "$@"; }
hold() { python3 "$KYMO_SOURCE/tests/cpel-write/check.py" "$@"; }
convert() { may_lose "$kymo" convert -q "$@"; }
cd "$TMPDIR" || exit 1

# ---- copies ----

# What is copied is the same file; in the other order and back too.
copies() {
  rm -f copy.cpel other.cpel back.cpel
  local own=big other=little
  [ "$(head -c1 "$1" | xxd -p)" = 81 ] && own=little other=big
  convert -o copy.cpel "$1" && cmp copy.cpel "$1" && convert -o other.cpel --endian $other "$1" && ! cmp -s other.cpel "$1" &&
    convert -o back.cpel --endian $own other.cpel && cmp back.cpel "$1" && hold equal other.cpel "$1"
}
# By way of CTF all events stay; in nanoseconds, if the streams' clocks differ.
crosses() {
  rm -rf ctf crossed.cpel
  convert --to "$1" -o ctf "$2" && convert -o crossed.cpel ctf && hold sound crossed.cpel && hold equal crossed.cpel "$2"
}
# For VPP: one section of nanoseconds since the first event.
suits_vpp() {
  rm -f vpp.cpel
  convert -o vpp.cpel --for-vpp "$1" && hold vpp vpp.cpel && hold equal -r vpp.cpel "$1"
}
if [ -d "$data" ]; then
  formats=(ctf1 ctf2) # with sanitizers one of both in turn
  for file in "$data"/cpel/*.cpel; do
    name=$(basename "$file" .cpel)
    [ -z "$sanitizer" ] || formats=("$([ "${formats[0]}" = ctf1 ] && echo ctf2 || echo ctf1)")
    check "$name is copied" copies "$file"
    for format in "${formats[@]}"; do check "$name goes through $format" crosses $format "$file"; done
    case $name in 10-two-event-sections) ;; *) check "$name suits VPP" suits_vpp "$file" ;; esac
  done
else
  skip 'samples' 'no shared data'
fi

random_file() {
  cpel random "$1" random.cpel && copies random.cpel && crosses ctf1 random.cpel
}
for seed in $(seq 1 "$(rounds 24 4)"); do
  check "random file $seed" random_file "$seed"
done

# ---- traces that are not CPEL ----

if [ -d "$data" ]; then
  folders='lttng-discarded lttng-session-rotation lttng-two-channels-timer lttng-uid-kinds babeltrace'
  [ -n "$sanitizer" ] || folders+=' actf'
  mapfile -t traces < <(for folder in $folders; do find "$data/ctf/$folder" -type d -name trace | sort; done | awk "NR % $(rounds 1 3) == 0" | sed "s,^$data/ctf/\(.*\)$,\1=&,")
  hold traces "$kymo" "${traces[@]}"
else
  skip 'traces of others' 'no shared data'
fi
count=$(rounds 40 6)
python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 $count
mapfile -t traces < <(for seed in $(seq 1 $count); do echo "random $seed=random/$seed"; done)
hold traces "$kymo" "${traces[@]}"

must_build worker
may_lose "$kymo" record -q -o recorded -- "$bin/worker" -t 4 -n 5000 -m -c counters 2>said || not_ok 'records' "$(cat said)"
may_lose "$kymo" record -q -o lost --buffer 16k -- "$bin/worker" -t 2 -n 30000 -m -c counters 2>said ||
  not_ok 'records with losses' "$(cat said)"
hold traces "$kymo" 'what kymo recorded=recorded' 'with losses=lost'

# ---- tracks ----

# tracks TRACE OPTION…: the names of the tracks, by number
tracks() {
  rm -f tracks.cpel
  convert -o tracks.cpel "${@:2}" "$1" &&
    "$kymo" cat -q --format json tracks.cpel | grep -o '"track":{[^}]*}' | sort -u -t: -k3n | sed 's/.*label":"//; s/"}$//' | paste -sd,
}
# has_tracks WANTED TRACE OPTION…
has_tracks() {
  local found
  found=$(tracks "${@:2}")
  [ "$found" = "$1" ] || { echo "$found"; return 1; }
}
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" sample
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" elsewhere
sed -i 's/"box"/"shed"/; s/uuid = "0/uuid = "1/' elsewhere/metadata
check 'a track for each processor' has_tracks 'cpu 0,cpu 1' sample --track cpu
check 'a track for each value of a field' has_tracks 'thread 9,port 53,port 80,port 443,worker/4711,two words/4712' sample --track port
check 'a track for each label of a field' has_tracks 'thread 9,OPEN,HALF OPEN,state 9,worker/4711,two words/4712' sample --track state
check 'a track for each text of a field' has_tracks 'eth0' sample --track iface --event net:rx
check 'a processor of another host is another track' has_tracks 'box:cpu 0,shed:cpu 0,box:cpu 1,shed:cpu 1' sample --track cpu elsewhere
cpel damage none own.cpel
check 'without the thread, the track that it had as CPEL' has_tracks main own.cpel --track thread
check 'without the field, the track that it had as CPEL' has_tracks 'main,datum 7' own.cpel --track datum
worker_tracks() {
  convert -o threads.cpel --track thread recorded &&
    [ "$("$kymo" cat -q --format json threads.cpel | grep -o '"label":"[^"]*/[0-9]*"' | sort -u | wc -l)" = \
      "$("$kymo" cat -q recorded | grep -v '^#' | cut -d' ' -f3 | cut -d@ -f1 | sort -u | wc -l)" ]
}
check 'a track for each thread' worker_tracks

# ---- parts, and several ----

events() { "$kymo" cat -q --no-delta --clock-seconds "$@" | grep -v '^#' | sed 's/\] [^ ]*/]/; s/ text = .*//; s/ ".*//; s/ | .*//; s/ [a-z]* = .*//'; }
takes_parts() {
  rm -f part.cpel
  convert -o part.cpel "$@" && hold sound part.cpel && cmp <(events "$@") <(events part.cpel)
}
check 'some events of a trace' takes_parts --event net:rx sample
check 'the end of a trace' takes_parts --begin=-10s sample
check 'two traces' takes_parts recorded lost
check 'merged traces' eval 'may_lose "$kymo" merge -q -o merged.cpel recorded lost && convert -o both.cpel recorded lost && cmp merged.cpel both.cpel'
cpel random 3 filtered.cpel
takes_parts_of_copies() {
  local name
  name=$("$kymo" cat -q --format json filtered.cpel | head -1 | grep -o '"event":"[^"]*"' | cut -d'"' -f4)
  rm -f part.cpel
  convert -o part.cpel --event "$name" filtered.cpel && cmp <("$kymo" cat -q --event "$name" filtered.cpel) <("$kymo" cat -q part.cpel)
}
check 'some events of a CPEL file' takes_parts_of_copies
check 'to the standard output' eval 'convert --to cpel -o - sample >stdout.cpel && convert -o file.cpel sample && cmp stdout.cpel file.cpel'

# ---- sizes ----

# Strings and events that do not fit in memory, and sections that are full: the same events, each once.
splits() {
  rm -f split.cpel whole.cpel
  convert -o whole.cpel recorded && convert --to cpel:section=5000 -o split.cpel recorded && hold sound split.cpel &&
    [ "$("$kymo" info split.cpel | grep -c 'section .*: events')" -gt 20 ] && hold equal whole.cpel split.cpel
}
check 'sections that are full' splits
python3 - <<'END'
import os, struct
os.mkdir('large')
open('large/metadata', 'w').write("""/* CTF 1.8 */
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
trace { major = 1; minor = 8; byte_order = be; };
clock { name = c; freq = 1000000000; offset_s = 1700000000; };
stream { event.header := struct { time timestamp; }; };
event { name = "100%s"; fields := struct { integer { size = 32; align = 8; base = 16; } _id; string _text; }; };
""")
with open('large/stream', 'wb') as file:
    for i in range(60000):
        text = b'x' * 300000 if i == 7 else b'%d' % (i % 50) if i % 3 else b'%d' % i * 12
        file.write(struct.pack('>QI', i * 1000, i) + text + b'\0')
END
large_texts() {
  hold traces "$kymo" large=large | grep -qx 'ok large' &&
    convert -o large.cpel large && [ "$(head -c1 large.cpel | xxd -p)" = 01 ] && [ "$(stat -c %s large.cpel)" -lt 8000000 ]
}
check 'texts longer and more than fit in memory' large_texts

# ---- what cannot be ----

# refuses STATUS LINE COMMAND…: and nothing is written
refuses() { says_first "$@" && [ ! -e new.cpel ]; }
touch there.cpel
check 'a file that is there' refuses 3 'kymo convert: there.cpel: cannot write: File exists' "$kymo" convert -o there.cpel sample
check 'a file that is there stays' test ! -s there.cpel
check 'no such directory' refuses 3 'kymo convert: none/new.cpel: cannot write: No such file or directory' \
  "$kymo" convert -o none/new.cpel sample
check 'no such order' refuses 2 'kymo convert: --endian is big or little, not "middle"' \
  "$kymo" convert -o new.cpel --endian middle sample
check 'little-endian for VPP' refuses 2 "kymo convert: VPP's tools read big-endian files only" \
  "$kymo" convert -o new.cpel --for-vpp --endian little sample
check 'microseconds for VPP' refuses 2 "kymo convert: VPP's tools take clocks for ticks a second" \
  "$kymo" convert -o new.cpel --for-vpp --cpel-clock us sample
check 'no such field' refuses 2 'kymo convert: no event has a field "poort" to be its track' \
  "$kymo" convert -o new.cpel --track poort sample
check 'a track in CTF' refuses 2 'kymo convert: --track is for the format "cpel" (--to cpel)' \
  "$kymo" convert -o new --track cpu sample
check 'options of CTF' refuses 2 'kymo convert: the format "ctf2" has no options' "$kymo" convert -o new --to ctf2:fast sample
check 'no such option' refuses 2 'kymo convert: the format "cpel" has no option "endain" (did you mean "endian"?)' \
  "$kymo" convert -o new.cpel --to cpel:endain=big sample
check 'a section of no size' refuses 2 'kymo convert: the option "section" of the format "cpel" is 128 to 4294967292 bytes, not "9k"' \
  "$kymo" convert -o new.cpel --to cpel:section=9k sample
check 'a text longer than a section' refuses 3 'kymo convert: new.cpel: a text of 127 bytes in a section of at most 128' \
  "$kymo" convert -o new.cpel --to cpel:section=128 sample
check 'texts for which VPP has no space' refuses 3 "kymo convert: new.cpel: more texts than a section has space for, which VPP's tools cannot read" \
  "$kymo" convert -o new.cpel --to cpel:section=5000,for-vpp recorded

# With the size of files limited, no file is left.
disk_full() {
  (trap '' XFSZ; ulimit -f "$1"; exec "$kymo" convert -q large -o new.cpel) >said 2>&1
  [ $? = 3 ] && [ "$(cat said)" = 'kymo convert: new.cpel: cannot write: File too large' ] && [ ! -e new.cpel ] &&
    [ -z "$(find . -name '*.kymo.*')" ] || { cat said; ls; return 1; }
}
check 'a disk that is full while strings are gathered' disk_full 100
check 'a disk that is full while the file is written' disk_full 4000
