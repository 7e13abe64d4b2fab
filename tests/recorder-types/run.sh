#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Every type that the macros offer, recorded and read back by kymo and by babeltrace2; and what may happen to a trace
# meanwhile: rings overwritten, libraries loaded late, forks, violent deaths, versions of one struct.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
programs=$KYMO_SOURCE/tests/recorder-types
expected=$programs/types.json

# events_of WHO TRACE…: event and fields of one thread, a line each
events_of() {
  local who=$1
  shift
  "$kymo" cat --format json "$@" | jq -c --argjson who "$who" 'select(.fields.who == $who) | {event, fields}'
}
# both threads did what is expected
as_expected() {
  local who
  for who in 1 2; do
    events_of "$who" "$@" >"$who.json" || return 1
    diff <(jq -c --argjson who "$who" '.fields.who = $who' "$expected") "$who.json" >difference || { head -c 2000 difference; return 1; }
  done
}

must_build types

every_type() {
  local trace
  fresh
  build types-here types.c "$@" || return 1
  traced "$bin/types-here" || return 1
  trace=$(the_trace) || return 1
  [ -z "${KYMO_REWRITE:-}" ] || events_of 1 "$trace" >"$expected"
  as_expected "$trace" && same_as_babeltrace2 "$trace"
}
check 'every type, from C' every_type gcc -std=c11 -x c
check 'every type, from C++' every_type g++ -std=c++17 -x c++
check 'every type, from C++11, not optimised' every_type g++ -std=c++11 -O0 -x c++
if [ -z "$sanitizer" ]; then
  check_by 'every type, from C, clang' every_type clang -Wno-unknown-warning-option -x c
  check_by 'every type, from C++, clang' every_type clang++ -Wno-unknown-warning-option -std=c++17 -x c++
fi

without_registry() { # a reader that knows only CTF
  local trace
  fresh
  traced "$bin/types" || return 1
  trace=$(the_trace) && events_of 1 "$trace" >whole && rm -r "$trace/.kymo" && events_of 1 "$trace" >plain || return 1
  [ "$(jq -c '.event, .fields.round' whole)" = "$(jq -c '.event, .fields.round' plain)" ] && same_as_babeltrace2 "$trace"
}
check 'a trace whose registry was taken away is read by its metadata' without_registry

edited_metadata() {
  local trace
  fresh
  traced "$bin/types" || return 1
  trace=$(the_trace) && sed -i 's/"types:line"/"types:EDIT"/' "$trace/metadata" || return 1
  [ "$("$kymo" cat --format json "$trace" | grep -c types:EDIT)" = 8 ]
}
check 'a registry beside edited metadata is not trusted' edited_metadata

overwritten() { # what is left is the end of what was recorded
  local who whole
  fresh
  traced KYMO_BUFFER=64M KYMO_MODE=discard "$bin/types" 2000 && whole=$(the_trace) && mv "$whole" whole || return 1
  traced KYMO_BUFFER=16k KYMO_MODE=overwrite "$bin/types" 2000 && traced=$(the_trace) || return 1
  for who in 1 2; do
    events_of $who whole >whole.json && events_of $who "$traced" >left.json || return 1
    [ "$(wc -l <whole.json)" = 10000 ] && [ "$(wc -l <left.json)" -lt 1000 ] && [ -s left.json ] || return 1
    tail -n "$(wc -l <left.json)" whole.json | cmp - left.json || return 1
  done
  same_as_babeltrace2 "$traced"
}
check 'overwriting leaves the newest events of every type whole' overwritten

killed() {
  fresh
  ! traced "$bin/types" 4 kill && as_expected rings/types-*
}
check 'kill -9: the rings have every event, with its types' killed
killed_under_record() {
  fresh
  "$kymo" record -q -o out -- "$bin/types" 4 kill
  [ $? = 137 ] && [ -e out/.kymo/registry ] && as_expected out && same_as_babeltrace2 out
}
check 'kill -9 under kymo record: the trace has every event, with its types' killed_under_record

torn_description() { # killed while the description was being written: what was not finished is left out
  local pool
  fresh
  ! traced "$bin/types" 4 kill && pool=$(echo rings/types-*) || return 1
  printf '\nevent {\n  name = "torn' >>"$pool/metadata"
  printf '\4\0\0\0\100\0' >>"$pool/.kymo/registry"
  [ "$("$kymo" cat --format json "$pool" | jq -c .fields.round | wc -l)" = 40 ]
}
check 'a description whose end is torn is read up to there' torn_description

forked() {
  local trace traces
  fresh
  traced "$bin/types" 4 fork || return 1
  traces=(out/*/)
  [ "${#traces[@]}" = 2 ] || return 1
  for trace in "${traces[@]}"; do [ -e "$trace/.kymo/registry" ] && same_as_babeltrace2 "$trace" || return 1; done
  # the parent's first, and the child has nothing of it
  [ "$(babeltrace2 "${traces[0]}" | wc -l) $(babeltrace2 "${traces[1]}" | wc -l)" = '40 40' ] || return 1
  as_expected "${traces[0]}" && as_expected "${traces[1]}" && ! cmp -s "${traces[0]}/.kymo/registry" "${traces[1]}/.kymo/registry"
}
check 'a forked child has a trace and a registry of its own' forked

late_library() {
  fresh
  build late late.c gcc || return 1
  build plugin.so plugin.c gcc -fPIC -shared || return 1
  if [ "$1" = record ]; then "$kymo" record -q -o out/trace -- "$bin/late" "$bin/plugin.so" || return 1
  else traced "$bin/late" "$bin/plugin.so" || return 1; fi
  "$kymo" cat --format json "$(the_trace)" | jq -c '[.event, .fields]' >got
  diff - got <<'EOF' && same_as_babeltrace2 "$(the_trace)"
["late:before",{"entry":{"early":1}}]
["late:before",{"entry":{"title":"plugged","_numbers_length":3,"numbers":[7,8,9]}}]
["late:inside",{"it":{"title":"plugged","_numbers_length":3,"numbers":[7,8,9]}}]
["late:after",{"entry":{"early":1}}]
EOF
}
check 'a library loaded late brings types, one of a name that is taken' late_library traced
check 'the same under kymo record' late_library record

two_versions() {
  fresh
  build old version.c gcc -DVERSION=1 && build new version.c gcc -DVERSION=2 || return 1
  "$kymo" record -q -o out -- sh -c "'$bin/old'; '$bin/new'" || return 1
  "$kymo" cat --format json out/* | jq -c .fields >got
  diff - got <<'EOF'
{"user":{"id":1,"name":"root"}}
{"user":{"id":2,"age":0,"name":"root"}}
EOF
}
check 'two versions of a struct are read side by side' two_versions

as_ctf2() { # the registry describes the new metadata, and without it the metadata is the same
  fresh
  "$kymo" record -q --ctf 2 -o out -- "$bin/types" || return 1
  head -c 1 out/metadata | cmp - <(printf '\36') && as_expected out && rm -r out/.kymo && as_expected out
}
check 'kymo record --ctf 2 describes every type in JSON' as_ctf2
no_such_ctf() { expect "kymo record: --ctf is 1.8 or 2, not \"3\"" sh -c "'$kymo' record --ctf 3 true 2>&1 | head -1"; }
check 'kymo record --ctf refuses other versions' no_such_ctf

# ---- kymo list ----

expect_lines() { # FILE: it has the lines of the standard input
  local line
  while IFS= read -r line; do grep -qxF -- "$line" "$1" || { echo "missing: $line"; head -60 "$1"; return 1; }; done
}
program_is_listed() {
  fresh
  "$kymo" list "$bin/types" >listed || return 1
  expect_lines listed <<'EOF'
  it     struct plain
  line   line_t
  word   union word
  state   enum state
  access  enum access
  level   level_t
  mask    unsigned int u32 hex
  points           […] struct point
  any              union payload
  where            optional struct point
EOF
}
check 'kymo list PROGRAM names the types of fields' program_is_listed
trace_is_listed() {
  fresh
  traced "$bin/types" || return 1
  "$kymo" list "$(the_trace)" >listed || return 1
  expect_lines listed <<'EOF' && grep -q '^types:plain  .*types.c:[0-9]*$' listed
  it     struct plain
    byte      unsigned char u8 octal
    cells     [2] [3] int i32
    state     enum state i32 { IDLE = 0, BUSY = 5, BROKEN = -3 }
    access    enum access flags u32 { READ = 0, WRITE = 1, BOTH = 0...1, EXECUTE = 2, ODD = 4, ODD = 6 }
    level     level_t i32
    word      union word
      whole  unsigned int u32 hex
EOF
}
check 'kymo list TRACE shows types and where its tracepoints are' trace_is_listed
