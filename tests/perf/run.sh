#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# perf.data: files of an independent writer (make.py) in both orders, of pipes, compressed; what perf itself prints of them and of what
# it records here; names of functions; files that are cut or changed.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/perf
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
make() { python3 "$here/make.py" file json "$@" >places; }

# ---- files of the writer ----

read_back() { make "$@" && python3 "$here/check.py" "$kymo" file json; }
for kind in 'all strange' 'big all strange' pipe 'pipe big all' zstd 'zstd big' 'pipe zstd' 'zstd2 all' 'many=4000' 'many=4000 zstd' 'many=4000 pipe big'; do
  # shellcheck disable=SC2086
  check "a file is read as it was written (${kind:-of this machine})" read_back $kind
done
if command -v perf >/dev/null; then has_perf=yes; else has_perf=; fi
as_perf() { make "$@" && python3 "$here/compare.py" "$kymo" file; }
for kind in 'many=2000' 'many=500 big' 'many=500 pipe' 'many=500 zstd'; do
  what="perf reads the same ($kind)"
  # shellcheck disable=SC2086
  if [ "$has_perf" ]; then check "$what" as_perf $kind; else skip "$what" 'perf is not installed'; fi
done

# a real file, with what perf printed of it
real=${KYMO_SHARED:-}/data/foreign/perf-data
samples() {
  "$kymo" cat -q --format json "$real/perf.data" | python3 -c '
import json, re, sys
def address(value):  # with the name of the function, if this machine has the kernel of the file
    return value["value"] if isinstance(value, dict) else value
got = [json.loads(line) for line in sys.stdin]
got = [(e["ts"] // 1000, e["thread"], e["context"]["pid"], e["tid"], address(e["fields"]["ip"])) for e in got if not e["event"].startswith("PERF_RECORD")]
wanted = []
for line in open(sys.argv[1]):
    comm, pid, tid, seconds, micro, ip = re.match(r"\s*(.*?)\s+(\d+)/(\d+)\s+(\d+)\.(\d+):\s+\d+\s+([0-9a-f]+)", line).groups()
    wanted.append((int(seconds) * 10**6 + int(micro), comm, int(pid), int(tid), int(ip, 16)))
sys.exit(got != sorted(wanted, key=lambda each: each[0]))' "$real/expected-samples.txt"
}
if [ -d "$real" ]; then check 'a real file has the samples that perf printed' samples; else skip 'a real file' 'no reference data'; fi

# ---- other commands ----

make many=3 all strange
golden() {
  local name=$1
  shift
  "$@" >actual 2>&1 || { not_ok "$name" "exit status $?"; return; }
  [ "${KYMO_REWRITE:-}" = 1 ] && cp actual "$here/expected/$name"
  if diff -u "$here/expected/$name" actual >difference; then ok "$name"; else
    sed 's/^/    /' difference | head -30
    not_ok "$name" 'differs from the golden file'
  fi
}
golden text "$kymo" cat file
golden info "$kymo" info file
golden list "$kymo" list file
golden counts "$kymo" stat counts --by mode file
make wall
golden wall "$kymo" cat --filter 'EVENT = "test:wake"' file
make many=4000 all
finds() { [ "$("$kymo" cat --filter "$1" file | grep -vc '^#')" = "$2" ] || { "$kymo" cat --filter "$1" file | head -20; false; }; }
check 'a filter takes names of a print fmt' finds 'state = "S" AND pid = 42' 1
check 'a filter takes the mode' finds 'mode = "kernel" AND period = 250000' 1
check 'a filter takes the thread' finds 'tid = 7' 1
check 'a filter takes fields of all samples' finds 'weight = 55 OR ANY values WITH (values.value = 6)' 1
times() { diff <("$kymo" cat file | tail -n +2000 | sed 's/+[^ ]* //') <("$kymo" cat --begin "$1" file | sed 's/+[^ ]* //'); }
check 'a window of time begins in the middle' times "$("$kymo" cat file | sed -n '2000s/^\[\([^]]*\)\].*/\1/p')"
moves() {
  ${KYMO_CC:-gcc} -O2 -Wall -Wextra -Werror $sanitizer -I"$KYMO_SOURCE/include" "$KYMO_SOURCE/tests/frames/moves.c" -o moves -L"$KYMO_BUILD" -lkymo \
    -Wl,-rpath,"$KYMO_BUILD" || return 1
  for kind in 'many=20000' 'many=3000 big' 'many=3000 zstd'; do
    # shellcheck disable=SC2086
    make $kind && ./moves 5 file || { echo "$kind"; return 1; }
  done
}
if [ -e "$KYMO_BUILD/libkymo.so" ]; then check 'to any event, and back from it' moves; else skip 'to any event, and back from it' 'no library'; fi
copies() { make many=50 && rm -rf copy && "$kymo" convert --to "$1" -o copy file && diff <("$kymo" cat file | tail -n +3) <("$kymo" cat copy | tail -n +3); }
check 'a copy as CTF 1.8 shows the same' copies ctf1
check 'a copy as CTF 2 shows the same' copies ctf2
follows_none() { make many=50 && says 0 '' "$kymo" cat -q --begin 9999 file; }
check 'a window without events is empty' follows_none

# ---- names of functions ----

cat >program.c <<'C'
__attribute__((noinline)) int first(int x) { __asm__ volatile(""); return x * 3; }
__attribute__((noinline)) int second(int x) { __asm__ volatile(""); return first(x) + 1; }
int main(int argc, char **argv) { (void)argv; return second(argc); }
C
# symbol FILE NAME: its address
symbol() { nm "$1" | awk -v name="$2" '$3 == name { print $1 }'; }
# named PIE-OR-NOT BUILD-ID [WORD]: samples in `second` are shown so, with a program whose addresses are not its offsets
named() {
  local offset length address
  ${KYMO_CC:-gcc} -O1 "$1" -Wl,--build-id=0x0123456789abcdef program.c -o program || return 1
  read -r offset address length < <(readelf -lW program | awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }')
  # START + 16 of make.py is in `second`
  offset=$((offset + 0x$(symbol program second) - address - 14))
  make "program=$PWD/program,$2,$offset,$((length))" "${3:-}"
  "$kymo" cat --filter 'ip = "second"' file >out && cat out
}
is_named() { named "$@" | grep -q 'ip = 0x555500000010 <second+0x2>, .*callchain = \[0x555500000010 <second+0x2>, '; }
is_unnamed() { named "$@" >/dev/null; [ ! -s out ] && "$kymo" cat file | grep -q 'ip = 0x555500000010'; }
if command -v readelf >/dev/null; then
  check 'functions of a program have names' is_named -pie 0123456789abcdef
  check 'also where its addresses are others than its offsets' is_named -no-pie 0123456789abcdef
  check 'a file with another build id is not believed' is_unnamed -pie 0123456789abcd00
  # queried NAME [WORD]: what symbol() says of the address
  queried() {
    named -pie 0123456789abcdef "${2:-}" >/dev/null
    [ "$("$kymo" query --format csv file "SELECT symbol($((0x555500000010))) AS name" | tail -1 | tr -d '"')" = "$1" ]
  }
  if "$kymo" query --help >/dev/null 2>&1; then
    check 'SQL knows the name' queried second+0x2 single
    check 'SQL does not guess where processes have different files at an address' queried ''
  fi
  grouped() { "$kymo" stat counts --by ip file | grep -q 'second+0x2'; }
  check 'statistics group by functions' grouped
fi

modules() { PYTHONPATH=$here python3 "$here/modules.py" "$kymo" file "$@"; }
check 'addresses in modules of the kernel have the names of the modules' modules
if [ "$has_perf" ]; then check 'which are those that perf prints' modules perf; else skip 'which are those that perf prints' 'perf is not installed'; fi

# ---- recordings of perf ----

if [ -z "$has_perf" ]; then
  skip 'recordings of perf' 'perf is not installed'
elif ! perf record -q -e cpu-clock -o probe true >/dev/null 2>&1; then
  skip 'recordings of perf' 'no right to perf_event_open'
else
  cat >busy.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) int inner(int x) { for (volatile int i = 0; i < 3000; i++) x += i; return x; }
__attribute__((noinline)) int outer(int x) { for (int i = 0; i < 100; i++) x += inner(x); return x + 1; }
int main(void) { int x = 0; for (int i = 0; i < 30; i++) x += outer(x); return x == 1; }
C
  ${KYMO_CC:-gcc} -O1 -fno-omit-frame-pointer busy.c -o busy
  workload="./busy; for i in 1 2 3; do ls / >/dev/null; done; ./busy & ./busy; wait"
  recorded() { perf record -q "$@" -o recorded -- sh -c "$workload" >/dev/null 2>said && python3 "$here/compare.py" "$kymo" recorded 20 || { cat said; false; }; }
  check 'a recording of perf' recorded -e cpu-clock
  check 'one with callchains' recorded -e cpu-clock -g
  check 'a compressed one' recorded -z -e cpu-clock -g
  check 'one by a monotonic clock' recorded -k CLOCK_MONOTONIC -e cpu-clock -c 100000
  of_thread() { perf record -q --per-thread -e cpu-clock -o recorded ./busy >/dev/null 2>said && [ "$("$kymo" cat recorded | grep -c ' cpu-clock ')" = "$(perf script -f -i recorded -F event 2>/dev/null | grep -c .)" ] || { cat said; false; }; }
  check 'one without times has as many samples' of_thread
  # perf makes callchains of the stacks
  stacks() {
    perf record -q -e cpu-clock --call-graph dwarf,256 -d --switch-events --phys-data -o recorded ./busy >/dev/null 2>said &&
      python3 "$here/compare.py" "$kymo" recorded 5 --no-chains && "$kymo" cat recorded | grep -q PERF_RECORD_SWITCH || { cat said; false; }
  }
  check 'one with registers, stacks, data addresses and switches' stacks
  piped() { perf record -q -e cpu-clock -g -o - -- sh -c "$workload" 2>said >recorded && python3 "$here/compare.py" "$kymo" recorded 20 --no-cpu || { cat said; false; }; }
  check 'one from a pipe' piped
  finds_inner() { perf record -q -e cpu-clock -g -o recorded -- ./busy 2>said; "$kymo" cat --filter 'ip = "inner"' recorded | grep -q '<inner+0x[0-9a-f]*>, 0x[0-9a-f]* <outer+0x[0-9a-f]*>, 0x[0-9a-f]* <main+0x'; }
  check 'the program that was sampled has names' finds_inner
  if perf record -q -e sched:sched_switch -o probe true >/dev/null 2>&1; then
    check 'one with tracepoints of all CPUs' recorded -a -e sched:sched_switch,sched:sched_waking,cpu-clock -g
    piped_events() { perf record -q -e sched:sched_switch,sched:sched_process_exec -o - -- sh -c "$workload" 2>said >recorded && python3 "$here/compare.py" "$kymo" recorded 3 --no-cpu || { cat said; false; }; }
    check 'one with tracepoints from a pipe' piped_events
  else
    skip 'recordings of tracepoints' 'no right to tracefs'
  fi
fi

# ---- damage ----

# each cut: no crash, one line for each place, and what is shown is of the whole
boundaries() {
  # shellcheck disable=SC2086
  make many=300 $1 || return 1
  "$kymo" cat --format csv file 2>/dev/null | sort -u >whole
  size=$(stat -c %s file)
  while read -r place name; do
    for at in "$place" $((place + 1)) $((place + 9)) $((place + 100)); do
      [ "$at" -gt 7 ] && [ "$at" -lt "$size" ] || continue
      head -c "$at" file >short
      "$kymo" cat --format csv short >out 2>errors
      status=$?
      # a pipe may end after any record
      if [ $status = 0 ] && [ "$at" = "$place" ] && [ "$1" = pipe ]; then continue; fi
      { [ $status = 1 ] || [ $status = 3 ]; } && [ -s errors ] && [ "$(wc -l <errors)" -le 4 ] && ! grep -qi 'sanitizer\|assert' errors ||
        { echo "$name at $at: $status"; cat errors; return 1; }
    done
  done <places
  # events before a cut in the data are shown
  records=$(sed -n 's/ records$//p' places)
  head -c $((records + (size - records) / 2)) file >short
  "$kymo" cat short >out 2>errors
  [ $? = 1 ] && [ "$(wc -l <out)" -gt 50 ] && grep -q 'short: byte [0-9]*: expected' errors || { cat errors; return 1; }
}
check 'files that are cut at any section' boundaries ''
check 'files of pipes that are cut' boundaries pipe
check 'compressed files that are cut' boundaries zstd
check 'files of the other order that are cut' boundaries big
flips() { make many=40 "$@" && python3 "$here/flip.py" "$kymo" file places "$(rounds 12 4)"; }
check 'a changed byte in any section' flips
check 'a changed byte in any section of a pipe' flips pipe
check 'a changed byte in any section that is compressed' flips zstd
check 'a changed byte in any section of the other order' flips big

# refused STATUS EXPECTED OFFSET BYTES: the one line about a file some of whose bytes are others
refused() {
  make && printf "$4" | dd of=file bs=1 seek="$3" conv=notrunc status=none
  "$kymo" cat file >out 2>said
  [ $? = "$1" ] && [ "$(cat said)" = "$2" ] || { cat said; return 1; }
}
make
size=$(stat -c %s file) table=$(sed -n 's/ table$//p' places) records=$(sed -n 's/ records$//p' places)
check 'a header of another size' refused 3 "kymo cat: file: byte 8: expected the size of the header, 104 or 16 of a pipe, found 99 in $size bytes" 8 'c\0'
check 'a recording that was not ended' refused 1 "kymo cat: file: byte 48: expected the size of the data, found 0: the recording was not ended
kymo cat: file: byte $table: expected a record of at least 8 bytes, found one of 0 ($((size - table)) bytes skipped)" 48 '\0\0\0\0'
check 'a record without a size' refused 1 "kymo cat: file: byte $records: expected a record of at least 8 bytes, found one of 0 ($((table - records)) bytes skipped)" \
  $((records + 6)) '\0\0'
# the second record ends with its id
check 'an id that no event has' refused 1 "kymo cat: file: byte $((records + 56)): expected the id of an event, found 99, which none has (128 bytes skipped)" \
  $((records + 56 + 120)) 'c'
lost() {
  make lost && "$kymo" cat file >out 2>said
  [ $? = 1 ] && [ "$(cat said)" = 'kymo cat: the trace is incomplete: 5 events are lost' ] && grep -q 'PERF_RECORD_LOST id = 11, lost = 5' out || { cat said; return 1; }
}
check 'losses are reported' lost
