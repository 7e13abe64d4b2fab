#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Kinds of tracepoints beside KYMO(): those that take the time of the event before them (or none at all), declared ones,
# those that begin and end spans, those that are built in pieces, those that are switched by changing their code, and those that are
# probes for other tracers.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
build_checker # which is with the recorder's programs
programs=$KYMO_SOURCE/tests/recorder-points

must_build same

# ---- KYMO_SAME ----

# times TRACE: of each event its thread, name and time in cycles
times() {
  babeltrace2 --clock-cycles "$1" | sed -E 's/^\[([0-9]+)\].* same:([a-z_]+): \{[^}]*tid = ([0-9]+),.*/\3 \2 \1/'
}
pairs_are_of_one_instant() {
  local trace
  fresh
  traced "$@" "$bin/same" pairs 6000 || return 1
  trace=$(the_trace) || return 1
  "$bin/check_trace" -g "$trace" && same_as_babeltrace2 "$trace" && times "$trace" >all || return 1
  # sorted by thread alone: a thread's events stay in their order
  sort -s -k1,1n all | awk '
    $2 == "leader" { if (seen && thread == $1 && $3 < time) wrong = 1; time = $3; thread = $1; seen = 1; leaders++; next }
    { followers++ }
    seen && thread == $1 && $3 != time { print "not of one instant: " $0; wrong = 1 }
    END { exit wrong || !(leaders > 100 && followers > leaders) }'
}
check 'KYMO_SAME takes the time of the event before, in packets of any size' pairs_are_of_one_instant KYMO_BUFFER=16M
check 'KYMO_SAME in a ring that is overwritten' pairs_are_of_one_instant KYMO_BUFFER=16k
check 'KYMO_SAME by CLOCK_MONOTONIC' pairs_are_of_one_instant KYMO_CLOCK=monotonic KYMO_BUFFER=16M
full_rings() {
  local trace
  fresh
  traced KYMO_MODE=discard KYMO_BUFFER=16k "$bin/same" pairs 6000 || return 1
  trace=$(the_trace) && "$bin/check_trace" "$trace" >sums && ! grep -q '^lost 0$' sums && same_as_babeltrace2 "$trace"
}
check 'KYMO_SAME in a full ring is lost and counted' full_rings
first_event() {
  fresh
  traced "$bin/same" first && times "$(the_trace)" >all || return 1
  [ "$(cut -d' ' -f2 all | tr '\n' ' ')" = 'first second ' ] && [ "$(cut -d' ' -f3 all | sort -u | wc -l)" = 1 ] || { cat all; return 1; }
  [ "$(cut -d' ' -f3 all | head -1)" -gt 1000 ]
}
check "a thread's first event reads the clock even so" first_event
in_a_handler() {
  fresh
  traced "$bin/same" handler && times "$(the_trace)" >all || return 1
  time_of() { sed -n "s/^[0-9]* $1 //p" all; }
  [ "$(wc -l <all)" = 6 ] || { cat all; return 1; }
  # the first of the ring for handlers reads the clock; the others take what is theirs
  [ "$(time_of handler)" -ge "$(time_of before)" ] && [ "$(time_of handler_later)" -ge "$(time_of handler)" ] &&
    [ "$(time_of handler_same)" = "$(time_of handler_later)" ] && [ "$(time_of after)" = "$(time_of interrupted)" ] &&
    [ "$(time_of interrupted)" -le "$(time_of handler)" ]
}
[ -n "$sanitizer" ] || check 'KYMO_SAME in a handler, and in what it has interrupted' in_a_handler

# ---- no clock ----

without_clock() {
  local trace
  fresh
  traced KYMO_CLOCK=none KYMO_BUFFER=16k KYMO_MODE="$1" "$bin/same" pairs 3000 && trace=$(the_trace) && same_as_babeltrace2 "$trace" || return 1
  ! grep -q 'clock {\|timestamp' "$trace/metadata" && [ ! -e "$trace/.kymo/clocks" ] || return 1
  "$kymo" cat --format json "$trace" | jq -e 'has("time") | not' >/dev/null || return 1
  # each thread's events are in their order
  "$kymo" cat --format json "$trace" | jq -r '[.tid, .fields.i] | @tsv' | awk '$2 + 0 < last[$1] { exit 1 } { last[$1] = $2 + 0 } END { exit NR < 100 }'
}
check 'KYMO_CLOCK=none: events without time, thread by thread in order' without_clock overwrite
check 'KYMO_CLOCK=none in a full ring' without_clock discard
wrong_clock() {
  fresh
  traced KYMO_CLOCK=sundial "$bin/same" first 2>said && expect 'kymo: expected the clock counter, monotonic or none, found sundial' cat said
}
check 'KYMO_CLOCK refuses other names' wrong_clock

# ---- KYMO_EVENT ----

# build_declared [COMPILER FLAGS…]: program of two source files, library in C++
build_declared() {
  fresh
  [ $# != 0 ] || set -- gcc
  build declared-library.so declared.c g++ -x c++ -std=c++11 -DLIBRARY -fPIC -shared || return 1
  "$@" -c -O2 -Wall -Wextra -pedantic -Werror $sanitizer -DSECOND -I"$KYMO_SOURCE/include" "$programs/declared.c" -o second.o &&
    build declared declared.c "$@" second.o -Wl,--no-as-needed "$bin/declared-library.so"
}
declared_events() {
  local trace
  build_declared "$@" || return 1
  traced "$bin/declared" && trace=$(the_trace) && payloads "$trace" >got && diff - got <<'EOF' || return 1
shared:event: { who = "program", number = 0x1 }
shared:event: { who = "second", number = 0x2 }
shared:event: { who = "program", number = 0x1 }
shared:event: { who = "second", number = 0x2 }
shared:event: { who = "again", number = 0x1 }
shared:event: { who = "library", number = 0x3 }
shared:event: { who = "library", number = 0x4 }
shared:nothing: { }
shared:event: { who = "another class", number = 0x6 }
EOF
  # one class wherever it is called from, and one of another level
  [ "$(grep -c 'name = "shared:event"' "$trace/metadata")" = 2 ] && [ "$(grep -c 'loglevel = 5;' "$trace/metadata")" = 1 ] || return 1
  "$kymo" list "$trace" >listed && grep -qE '^shared:event  notice  .*declared\.h:8  "told by "who":\\x09all"$' listed || { cat listed; return 1; }
  same_as_babeltrace2 "$trace"
}
check 'a declared event is one class in all files and libraries' declared_events
check 'declared events, not optimised' declared_events gcc -O0
[ -n "$sanitizer" ] || check_by 'declared events, clang' declared_events clang -Wno-unknown-warning-option
declared_events_are_listed() {
  build_declared || return 1
  "$kymo" list "$bin/declared" >listed || return 1
  grep -qE '^shared:event  notice  .*declared.h:[0-9]+  "told by' listed && ! grep -q never_called listed &&
    ! grep -q shared:fast listed || { cat listed; return 1; }
  "$kymo" list --brief "$bin/declared-library.so" >listed && sort -u listed | diff - <(printf 'shared:event\nshared:nothing\n')
}
check 'kymo list shows level and description of declared events, in program and library' declared_events_are_listed
described_in_ctf2() {
  build_declared || return 1
  "$kymo" record -q --ctf 2 -o out -- "$bin/declared" && rm -r out/.kymo && "$kymo" list out >listed || return 1
  grep -qE '^shared:event  notice  .*  "told by' listed || { cat listed; return 1; }
}
check 'CTF 2 has level and description' described_in_ctf2

code_of() { objdump -d --no-show-raw-insn "$1" | sed -n '/^[0-9a-f]* </,$p'; }
fast_path() {
  local compiler=$1
  fresh
  for way in '' WITHOUT KYMO_FP; do
    "$compiler" -O2 -I"$KYMO_SOURCE/include" ${way:+-D$way} -c "$programs/fast.c" -o "fast$way.o" || return 1
  done
  cmp <(code_of fast.o) <(code_of fastWITHOUT.o) && ! cmp -s <(code_of fast.o) <(code_of fastKYMO_FP.o) || return 1
  ! objdump -h fast.o | grep -q kymo_sites && objdump -h fastKYMO_FP.o | grep -q kymo_sites && ! grep -q turn, fast.o
}
for compiler in gcc clang; do check_by "KYMO_EVENT_FP is absent unless built with KYMO_FP, $compiler" fast_path $compiler; done
fast_path_on() {
  fresh
  build_declared gcc -DKYMO_FP && traced "$bin/declared" && payloads "$(the_trace)" | grep -qx 'shared:fast: { number = 5 }'
}
check 'KYMO_EVENT_FP is there with KYMO_FP' fast_path_on

# ---- spans ----

spans() {
  local trace
  fresh
  build spans spans.c "$@" || return 1
  traced "$bin/spans" && trace=$(the_trace) && payloads "$trace" >got || return 1
  sed -n 's,.*//= ,,p' "$programs/spans.c" | diff - got && same_as_babeltrace2 "$trace" || return 1
  "$kymo" list "$trace" | sed 's/  [^ ]*spans.c:[0-9]*//; /^ /d' | sort >listed
  diff - listed <<'EOF'
spans:by_hand_begin  begins spans:by_hand
spans:by_hand_end  ends spans:by_hand
spans:inner_begin  begins spans:inner
spans:inner_end  ends spans:inner
spans:outer_begin  info  begins spans:outer  "all of it"
spans:outer_end  info  ends spans:outer  "all of it"
EOF
}
check 'spans end when their scope is left, C' spans
check 'spans, not optimised' spans gcc -O0
check 'spans, C++' spans g++ -x c++ -std=c++11
if [ -z "$sanitizer" ]; then
  check_by 'spans, clang' spans clang -Wno-unknown-warning-option
  check_by 'spans, C++, clang' spans clang++ -Wno-unknown-warning-option -x c++ -std=c++20
fi
thrown() {
  fresh
  build thrown thrown.cc g++ && traced "$bin/thrown" && payloads "$(the_trace)" | diff - <(printf 'thrown:%s: { }\n' outer_begin inner_begin inner_end outer_end)
}
check 'a C++ exception ends spans on its way' thrown
half_enabled() { # an end alone, and a beginning alone
  fresh
  build spans && traced KYMO_ENABLE='spans:inner_end' "$bin/spans" && expect spans:inner_end event_names "$(the_trace)" || return 1
  fresh
  traced KYMO_ENABLE='spans:*_begin' "$bin/spans" && expect 'spans:by_hand_begin spans:inner_begin spans:outer_begin' event_names "$(the_trace)"
}
check 'beginnings and ends of spans can be switched on alone' half_enabled
spans_in_ctf2() {
  fresh
  build spans && "$kymo" record -q --ctf 2 -o out -- "$bin/spans" && rm -r out/.kymo && "$kymo" list out >listed &&
    grep -q '^spans:inner_begin .*begins spans:inner$' listed && grep -q '"kymo.span": *"end"' out/metadata
}
check 'CTF 2 says which events begin and end spans' spans_in_ctf2

# ---- KYMO_BUILD ----

pieces() {
  fresh
  build pieces pieces.c "$@" || return 1
  expect 10110 traced KYMO_ENABLE='*,!pieces:misordered' "$bin/pieces" && payloads "$(the_trace)" >got && sed -n 's,.*//= ,,p' "$programs/pieces.c" | diff - got &&
    same_as_babeltrace2 "$(the_trace)"
}
check 'events built in pieces' pieces
check 'events built in pieces, C++, not optimised' pieces g++ -x c++ -std=c++11 -O0
check 'events built in pieces, patched' pieces gcc -DKYMO_PATCH
[ -n "$sanitizer" ] || check_by 'events built in pieces, clang' pieces clang -Wno-unknown-warning-option
wrong_pieces() {
  fresh
  build pieces && traced "$bin/pieces" wrong >got 2>said || return 1
  expect 10 cat got && expect 10 sum_of lost "$(the_trace)" && expect 0 sum_of events "$(the_trace)" &&
    expect 'kymo: not recorded, since a field of KYMO_LATER comes before one with a value: pieces:misordered' cat said
}
check 'events whose pieces do not fit are given up and counted' wrong_pieces
check 'an event that is off takes no piece' expect 000 "$bin/pieces" off
pieces_are_listed() {
  fresh
  "$kymo" list "$bin/pieces" | sed -n '/^pieces:empty/,/^pieces:none/p' | grep -v ' _' >listed
  grep -v '^p' listed | diff - <(printf '  a          string utf8\n  b          […] int i32\n  c          bytes[…]\n  d          int i32\n')
}
check 'kymo list shows fields that are put later' pieces_are_listed

# ---- KYMO_PATCH ----

can_patch=
case $(uname -m) in x86_64 | aarch64) can_patch=1 ;; esac

# one_nop OBJDUMP COMPILER FLAGS…: off, a call site is one nop; arguments are evaluated elsewhere
one_nop() {
  local objdump=$1
  shift
  fresh
  "$@" -DKYMO_PATCH -Wall -Wextra -pedantic -Werror -I"$KYMO_SOURCE/include" -c "$programs/nop.c" -o nop.o || return 1
  # up to the first return, without the saving of registers
  path_of() {
    "$objdump" -d --no-show-raw-insn nop.o | sed -n "/^[0-9a-f]* <$1>:/,/[[:space:]]ret/{s/.*:[[:space:]]*//;p}" |
      grep -vE '^(push|pop|sub .*,%?[re]?sp|add .*,%?[re]?sp|stp|ldp|str|ldr|endbr64|paciasp|bti|.*>:$|$)'
  }
  path_of traced >path
  [ "$(grep -cE '(^|[[:space:]])nop' path)" = 1 ] && ! grep -E '^(j|call|cmp|test|b |bl|cb|tb)' path || { cat path; return 1; }
  ! path_of plain | grep -E '(^|[[:space:]])nop'
}
nop_on() { # NAME OBJDUMP COMPILER FLAGS…
  local name=$1
  shift
  if ! command -v "$2" >/dev/null; then skip "$name" "$2 is not installed"
  else check "$name" one_nop "$@"; fi
}
for flags in '-O2' '-O3 -fPIC'; do
  [ "$(uname -m)" = x86_64 ] || continue
  nop_on "off, a patched tracepoint is one nop, gcc $flags" objdump gcc $flags
  nop_on "off, a patched tracepoint is one nop, clang $flags" objdump clang $flags
done
nop_on 'off, a patched tracepoint is one nop, aarch64' aarch64-linux-gnu-objdump aarch64-linux-gnu-gcc -O2

patched_points() {
  fresh
  build patched patched.c "$@" -DKYMO_PATCH && traced "$bin/patched" points && payloads "$(the_trace)" >got && diff - got <<'EOF'
patched:loop: { i = 0 }
patched:loop: { i = 1 }
patched:inlined: { n = 1 }
patched:inlined: { n = 2 }
patched:declared: { n = 3 }
patched:declared: { n = 4 }
patched:span_begin: { }
patched:same: { text = "five" }
patched:span_end: { }
EOF
}
for flags in -O2 -O0 -O3 '-O2 -fno-pic -no-pie' '-O2 -flto'; do
  check "patched tracepoints, gcc $flags" patched_points gcc $flags
done
check 'patched tracepoints, C++' patched_points g++ -x c++ -std=c++11
check 'patched tracepoints, C++, not optimised' patched_points g++ -x c++ -std=c++11 -O0
if [ -z "$sanitizer" ]; then
  for flags in -O0 -O2; do check_by "patched tracepoints, clang $flags" patched_points clang -Wno-unknown-warning-option $flags; done
  check_by 'patched tracepoints, C++, clang' patched_points clang++ -Wno-unknown-warning-option -x c++ -std=c++20
fi
patched_one_by_one() {
  fresh
  traced KYMO_ENABLE='patched:inlined,patched:same' "$bin/patched" points && expect 'patched:inlined patched:same' event_names "$(the_trace)"
}
check 'patched tracepoints are switched one by one' patched_one_by_one
patched_late() { # by a library that is loaded, and unloaded
  fresh
  build plugin.so patched-plugin.c gcc -DKYMO_PATCH -fPIC -shared && build patched-late patched-late.c || return 1
  traced "$bin/patched-late" "$bin/plugin.so" && expect 'patched:plugged' event_names "$(the_trace)" &&
    [ "$(payloads "$(the_trace)" | wc -l)" = 6 ]
}
check 'patched tracepoints of a library that is loaded and unloaded' patched_late

switched_under_load() {
  local evaluated counted
  fresh
  build patched patched.c gcc -DKYMO_PATCH || return 1
  evaluated=$(env KYMO_ENABLE=nothing KYMO_OUT="$case_dir/out" KYMO_RINGS="$case_dir/rings" KYMO_BUFFER=64k "$bin/patched" switching "$1") || return 1
  "$bin/check_trace" -g "$(the_trace)" >sums || return 1
  counted=$(awk '/^(events|lost|overwritten) / { sum += $2 } END { print sum }' sums)
  [ "$evaluated" -gt 1000 ] && [ "$counted" = "$evaluated" ] || { echo "$evaluated evaluated"; cat sums; return 1; }
}
check 'four threads at full speed, switched 3000 times: every event is whole and counted' switched_under_load 1000
refused() { # of what needs code to be changed nothing is recorded, and it is said once
  fresh
  env KYMO_ENABLE=nothing KYMO_OUT="$case_dir/out" KYMO_RINGS="$case_dir/rings" "$bin/patched" refused >got 2>said
  [ $? != 77 ] || { echo 'ok: this kernel refuses nothing'; return 0; }
  expect -1 cat got && grep -qx 'kymo: cannot change the code of tracepoints built with KYMO_PATCH, which stay as they are: Permission denied' said &&
    [ "$(wc -l <said)" = 1 ] && expect patched:span_end event_names "$(the_trace)"
}
[ -z "$can_patch" ] || check 'where code may not be changed, tracepoints stay off and a line says so' refused

# ---- KYMO_SDT ----

# sizes of arguments: places are the compiler's own
notes_of() {
  readelf -n "$1" | awk '/Provider:/ { p = $2 } /Name:/ { n = $2 } /Arguments:/ { $1 = ""; gsub(/@[^ ]*( |$)/, " "); print p, n $0 }' | sed 's/ *$//' | sort -u
}
probes() {
  fresh
  build sdt sdt.c "$@" -DKYMO_SDT || return 1
  notes_of "$bin/sdt" >notes && diff - notes <<'EOF' || return 1
kymo app.name -4
probes all -4 8 -1 8 8 8 8 8 -4
probes declared 2 8
probes other -4
probes same 4
probes span_begin
probes thirteen
EOF
  expect 0 "$bin/sdt" && expect 3 traced "$bin/sdt" && [ "$(payloads "$(the_trace)" | wc -l)" = 8 ] || return 1
  # another tracer listens: arguments are evaluated, and nothing is recorded
  expect 1 "$bin/sdt" attach && rm -r out && expect 1 traced KYMO_ENABLE=none "$bin/sdt" attach && [ ! -e out ]
}
if [ "$(uname -m)" = x86_64 ]; then
  check 'probes for other tracers have notes, and are on for every listener' probes gcc
  check 'probes, not optimised' probes gcc -O0
  check 'probes, C++' probes g++ -x c++ -std=c++11 -fPIC
  if [ -z "$sanitizer" ]; then
    check_by 'probes, clang' probes clang -Wno-unknown-warning-option
    check_by 'probes, C++, clang, not optimised' probes clang++ -Wno-unknown-warning-option -x c++ -std=c++17 -O0
  fi
fi
semaphores_are_data() { # within the writable data of the file, where the kernel counts
  fresh
  readelf -n "$bin/sdt" | sed -n 's/.*Semaphore: //p' | sort -u >places
  [ -s places ] && ! grep -q '^0x0*$' places
}
[ "$(uname -m)" != x86_64 ] || check 'each probe has a semaphore' semaphores_are_data
# perf takes a semaphore to be moved in memory as .probes is, so that must be how .data is moved
moved() { readelf -SW "$bin/sdt" | sed -nE "s/^ *\\[ *[0-9]+\\] $1 +PROGBITS +([0-9a-f]+) ([0-9a-f]+) .*/echo \$((0x\\1 - 0x\\2))/p" | bash; }
perf_finds_semaphores() { [ -n "$(moved .probes)" ] && expect "$(moved .data)" moved .probes; }
[ "$(uname -m)" != x86_64 ] || check 'perf finds the semaphores' perf_finds_semaphores
exit 0
