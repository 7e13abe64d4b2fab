#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address s390x powerpc arm aarch64 i386
#
# Events that are defined in their streams: a program stores them, and the command, which knows nothing else, prints them. Every file is
# readable alone; versions are kept beside each other; conflicts are reported with their place. On other machines the same program
# runs there, and its files are read here.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
here=$KYMO_SOURCE/tests/define
programs=$here
export KYMO_RINGS=$TMPDIR/rings KYMO_RUN=$TMPDIR/run

# lines TEXT…: one line each
lines() { printf '%s\n' "$@"; }
# prints WANTED ARGUMENTS…: kymo cat prints these lines, and nothing is wrong
prints() {
  local wanted=$1
  shift
  "$kymo" cat "$@" >said 2>&1 || { cat said; return 1; }
  diff <(printf '%s\n' "$wanted") said
}

# ---- on other machines ----

case $KYMO_BUILD in
*/rungs/address | */rungs/plain) ;;
*/rungs/*)
  kymo=${KYMO_BUILD%/rungs/*}/kymo
  machine=${KYMO_BUILD##*/}
  [ -x "$kymo" ] || { skip "$machine" "no kymo in ${kymo%/kymo}"; exit; }
  cd "$TMPDIR" || exit 1
  atomics=()
  [ "$machine" != powerpc ] || atomics=(-latomic)
  there() {
    [ -x program ] || "$KYMO_CC" -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -fno-pic -I"$KYMO_SOURCE/include" "$here/program.c" -static -no-pie -o program \
      "$KYMO_BUILD/libkymo-trace.a" -pthread "${atomics[@]}" || return 1
    $KYMO_STARTER ./program "$1" "$1"
  }
  kinds_there() { there kinds && prints "$(cat "$here/kinds.txt")" kinds_thread0; }
  check "$machine: every kind of field is read here" kinds_there
  versions_there() { there versions && "$kymo" cat versions_thread0 | tail -1 | grep -qx 'events_processed: 4'; }
  check "$machine: versions" versions_there
  late_there() { there late && [ "$("$kymo" cat late_thread0 | tail -1)" = 'events_processed: 5' ]; }
  check "$machine: definitions after events" late_there
  exit
  ;;
esac

# with checks of every store that the compiler makes of a format, this takes minutes
spare='-fno-sanitize=undefined -fno-var-tracking-assignments'
must_build program program.c gcc $spare
stream() { fresh && "$bin/program" "$1" "$1"; }
(mkdir "$TMPDIR/samples" && cd "$TMPDIR/samples" && "$bin/program" versions versions && "$bin/program" mixed mixed)

# ---- what is printed ----

calls() {
  stream calls
  local status=$?
  [ $status = 77 ] && return 77
  prints "$(cat "$here/calls.txt")" calls_cpu*
}
if taskset -c 0,1 true 2>/dev/null && [ "$(nproc)" -gt 1 ]; then
  check 'a tracer of two CPUs, by its descriptions alone' calls
else
  skip 'a tracer of two CPUs, by its descriptions alone' 'there is one CPU'
fi
times() { # the first field of that kind is the event's time
  stream calls
  [ $? != 77 ] || return 77
  prints "$(tail -5 "$here/calls.txt" | head -4; echo 'events_processed: 4')" --begin 1142896383.876199 calls_cpu* || return 1
  prints "$(head -2 "$here/calls.txt"; echo 'events_processed: 2')" --end 1142896381.5 calls_cpu* || return 1
  "$kymo" cat --format json calls_cpu* | jq -c 'select(.event) | .ts' | head -3 >said
  diff - said <<'END' || return 1
1142896381115226000
1142896381115233000
1142896381875678000
END
}
check 'their times' times
kinds() { stream kinds && prints "$(cat "$here/kinds.txt")" kinds_thread0; }
check 'every kind of field' kinds
unoptimised() {
  build slow program.c gcc -O0 $spare && fresh && "$bin/slow" kinds kinds && prints "$(cat "$here/kinds.txt")" kinds_thread0
}
check '… and by a program without optimisation' unoptimised

versions() {
  cd "$TMPDIR/samples" || return 1
  prints "$(lines '<0> read: fd: 3, ' '<0> read: fd: 70000, path: /tmp/x, ' \
    '<0> app:work: event 7:    sorting took 1.25 s' '<0> read: fd: 4, ' 'events_processed: 4')" versions_thread0
}
check 'two versions and two applications in one file, one with a template' versions
told() {
  cd "$TMPDIR/samples" || return 1
  [ "$("$kymo" info versions_thread0 | grep -o '[12] read .*\|1 app.*')" = "$(lines '2 read (definition 7, application 1, version 1)' \
    '1 read (definition 7, application 1, version 2)' '1 app:work (definition 7, application 65535, version 65535)')" ] &&
    [ "$("$kymo" info --json versions_thread0 | jq -c '.traces[].classes[] | select(.definition) | [.name, .definition.application, .definition.version]')" = \
      "$(lines '["read",1,1]' '["read",1,2]' '["app:work",65535,65535]')" ]
}
check '… which kymo info distinguishes' told
filtered() {
  cd "$TMPDIR/samples" || return 1
  prints "$(lines '<0> read: fd: 70000, path: /tmp/x, ' 'events_processed: 1')" --filter 'fd > 4' versions_thread0 &&
    prints "$(lines '<0> app:work: event 7:    sorting took 1.25 s' 'events_processed: 1')" --event app versions_thread0
}
check '… and filters decide by typed fields' filtered
others() {
  cd "$TMPDIR/samples" || return 1
  [ "$("$kymo" cat --format json versions_thread0 | jq -c .fields)" = "$(lines '{"fd":3}' '{"fd":70000,"path":"/tmp/x"}' '{"id":7,"what":"sorting","took":1.25}' '{"fd":4}')" ] &&
    [ "$("$kymo" cat --format csv versions_thread0 | sed 's/"\(event 7:[^"]*\)"/\1/' | cut -d, -f3,11-)" = "$(lines 'event,fd,path,id,what,took,context.sequence,context.thread' \
      read,3,,,,,0,0 'read,70000,/tmp/x,,,,1,0' 'app:work,,,7,sorting,1.25,2,0' read,4,,,,,3,0)" ] || return 1
  "$kymo" stat histogram fd versions_thread0 >said && grep -q 3 said || { cat said; return 1; }
}
check 'json, csv and statistics have the fields' others
written() {
  cd "$TMPDIR/samples" || return 1
  "$kymo" convert versions_thread0 -o ctf && prints "$(lines '<0> read: fd: 3, ' '<0> read: fd: 70000, path: /tmp/x, ' \
    '<0> app:work: event 7:    sorting took 1.25 s' '<0> read: fd: 4, ' 'events_processed: 4')" --format generic ctf
}
check 'a CTF trace of them prints the same' written
mixed() {
  cd "$TMPDIR/samples" || return 1
  prints "$(lines '<0> even: number: 0, text: abcdefghijklmnop, ' '<0> mixed:bytes: length: 2, bytes: <34 12>, ' \
    '<0> mixed:text: a text 5' 'events_processed: 3')" mixed_thread0
}
check 'beside events without a definition, and text' mixed
asked() {
  cd "$TMPDIR/samples" || return 1
  "$kymo" cat --format text mixed_thread0 | grep -q 'even number = 0, text' &&
    "$kymo" cat --no-delta mixed_thread0 | grep -q 'even number = 0, text'
}
check 'other lines if they are asked for' asked
refused() {
  cd "$TMPDIR/samples" || return 1
  ! "$kymo" cat --format generic:date mixed_thread0 2>said && grep -q 'generic' said
}
check 'generic has no options' refused

# ---- files ----

rotated() {
  stream rotate && [ "$(ls rotate_thread0* | wc -l)" -gt 4 ] || return 1
  local file sum=0 count
  for file in rotate_thread0*; do
    "$kymo" cat "$file" >said 2>&1 || { cat said; return 1; }
    count=$(sed -n 's/^events_processed: //p' said)
    [ "$(grep -c '^<0> \(even\|odd\): number: [0-9]*, text: abcdefghijklmnop, $' said)" = "$count" ] || { cat said; return 1; }
    [ "$(stat -c %s "$file")" -le 2048 ] || { ls -l; return 1; }
    sum=$((sum + count))
  done
  [ $sum = 300 ] && [ "$("$kymo" cat rotate_thread0* | tail -1)" = 'events_processed: 300' ]
}
check 'each file of a rotation is readable alone' rotated
memory() {
  stream memory && "$kymo" cat memory_thread0 >said 2>&1 || { cat said; return 1; }
  [ "$(tail -2 said | head -1)" = '<0> odd: number: 1999, text: abcdefghijklmnop, ' ] && [ "$(grep -c '^<0> even: number: ' said)" -gt 50 ]
}
check 'so is the saved memory' memory
late() {
  stream late && prints "$(for i in 0 1 2 3 4; do lines "<0> event$i: number: $i, "; done; echo 'events_processed: 5')" late_thread0
}
check 'definitions after events of others' late
threads() {
  stream threads && [ "$(ls | wc -l)" = 4 ] || { ls; return 1; }
  local file
  for file in threads_thread?; do # the numbers between are in the other files
    may_lose "$kymo" cat "$file" >said 2>/dev/null && [ "$(tail -1 said)" = 'events_processed: 5000' ] && [ "$(grep -c ': who: ' said)" = 5000 ] || { tail said; return 1; }
  done
  "$kymo" cat --format json threads_thread? | jq -r '"\(.event) \(.fields.who) \(.fields.number)"' |
    awk '$1 != "of" $2 || $3 != next_of[$2]++ { print; bad = 1 } END { exit bad || NR != 20000 }'
}
check 'threads that define and store at once' threads
child() {
  alone stream child && prints "$(lines '<0> of the child: text: here, ' 'events_processed: 1')" child.*_thread0 &&
    prints "$(lines '<0> even: number: 0, text: abcdefghijklmnop, ' '<0> odd: number: 1, text: abcdefghijklmnop, ' 'events_processed: 2')" child_thread0
}
check 'a forked child has definitions in files of its own' child
merged() {
  stream threads && "$kymo" cat threads_thread? >apart && "$kymo" merge threads_thread? -o one && "$kymo" cat one >together &&
    [ "$(sed 's/^<.>/<>/' apart | md5sum)" = "$(sed 's/^<.>/<>/' together | md5sum)" ] && [ "$(wc -l <together)" = 20001 ]
}
check 'a merge has them all, once' merged

followed() {
  fresh && { "$bin/program" followed followed & local writer=$! reader; }
  until_true test -s followed_thread0 || return 1
  "$kymo" cat --follow followed_thread0 >out 2>&1 &
  reader=$!
  until_true grep -q 'even: number: 0' out && touch go && until_true grep -q 'event4: number: 4' out
  kill -INT $reader
  wait $reader
  [ $? = 0 ] && wait $writer && diff <(lines '<0> even: number: 0, text: abcdefghijklmnop, '; for i in 0 1 2 3 4; do lines "<0> event$i: number: $i, "; done; echo 'events_processed: 6') out
}
check 'definitions that come while the stream is followed' followed

# ---- what is wrong with files ----

# damaged STATUS TEXT PLACE BYTE…: the sample with these bytes from there on (from the end if negative) is reported like this, after its valid events
damaged() {
  local text=$1 place=$2 wanted=$3
  shift 3
  fresh && "$bin/program" late sample && python3 - "$place" "$@" <<'END' || return 1
import sys
data = bytearray(open('sample_thread0', 'rb').read())
place = int(sys.argv[1])
place += len(data) if place < 0 else 0
for i, byte in enumerate(sys.argv[2:]):
    data[place + i] = int(byte, 16)
open('sample_thread0', 'wb').write(data)
END
  "$kymo" cat sample_thread0 >out 2>said
  [ $? = 1 ] && diff <(lines "$text") said && [ "$(tail -1 out)" = "events_processed: $wanted" ] || { cat out said; return 1; }
}
event=$((12 + 2 + 4)) record=$((12 + 16 + 6 + 6 + 6)) # bytes of the frames
first=$((64 + record)) size=$((64 + 5 * (record + event)))
check 'an event of no definition' damaged \
  "kymo cat: sample_thread0: byte $((size - 6)): expected an event of a definition in the file, found one of definition 77 (6 bytes skipped)" -6 4 4d
check 'an event that is too short' damaged \
  "kymo cat: sample_thread0: byte $((first + 14)): expected field number of event0, found 0 bytes (2 bytes skipped)
kymo cat: sample_thread0: byte $((first + 14)): expected a frame (f0 9f a9 ba), found 00 00 00 00; the next one begins 4 bytes later (4 bytes skipped)" \
  $((first + 8)) 4 02
check 'a definition of no known field' damaged \
  "kymo cat: sample_thread0: byte $((64 + 12 + 22)): expected a known kind of field, found 0x0004001f
kymo cat: sample_thread0: byte $((first + 12)): expected an event of a definition in the file, found one of definition 0 (6 bytes skipped)" \
  $((64 + 12 + 22)) 4 1f
check 'a definition that another one contradicts' damaged \
  "kymo cat: sample_thread0: byte $((64 + record + event + 12)): expected definition 0 as it was before, found another one
kymo cat: sample_thread0: byte $((64 + 2 * record + event + 12)): expected an event of a definition in the file, found one of definition 1 (6 bytes skipped)" \
  $((64 + record + event + 12)) 4 00
# any bytes there are reported or harmless
anything() {
  fresh && "$bin/program" versions sample && python3 - "$kymo" <<'END'
import random, subprocess, sys
data = open('sample_thread0', 'rb').read()
random.seed(5)
for turn in range(60):
    bad = bytearray(data)
    for _ in range(random.randint(1, 4)):
        bad[random.randrange(56, len(bad))] = random.choice([0, 1, 2, 0x7f, 0x80, 0xff, random.randrange(256)])
    if turn % 5 == 0:
        bad = bad[:random.randrange(64, len(bad))]
    open('bad', 'wb').write(bad)
    done = subprocess.run([sys.argv[1], 'cat', 'bad'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1) or b'Sanitizer' in done.stderr or (done.returncode == 1) != bool(done.stderr):
        sys.exit(f'turn {turn}: {done.returncode} {done.stderr.decode()}')
END
}
check 'changed bytes and cut files are reported or harmless' anything

# ---- C++ ----

cpp() {
  g++ -std=c++11 -O2 -Wall -Wextra -Werror $sanitizer $spare -I"$KYMO_SOURCE/include" "$here/program.cc" -o "$bin/cpp" -L"$KYMO_BUILD" -lkymo-trace \
    -Wl,-rpath,"$KYMO_BUILD" -pthread && fresh && "$bin/cpp" log && prints "$(lines '<0> tick: number: 1, text: one, ' '<0> tick: number: 2, text: two, ' 'events_processed: 2')" log_thread0
}
check 'the same from C++' cpp
