#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
# heavy
#
# Filters: what each construct of FDL selects of one trace (pass-NAME.fdl, pass-NAME.expect), what is refused, word for
# word (fail-*); filters as files; random filters against an evaluator of the test's own; filters on CTF traces against
# what grep finds in babeltrace2's lines. KYMO_REWRITE=1 rewrites expectations.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
export TZ=UTC
here=$KYMO_SOURCE/tests/fdl kymo=$KYMO_BUILD/kymo
cd "$TMPDIR" || exit 1
python3 "$here/trace.py" trace

# golden NAME STATUS: out and words are as in the file; the exit status is STATUS
golden() {
  "$kymo" cat --filter-file "$here/$1.fdl" trace >out 2>words
  local status=$?
  { sed 's/^.*fdl:\([0-9]*:[0-9]*: \)/\1/' words; cat out; } >actual
  [ -n "${KYMO_REWRITE:-}" ] && cp actual "$here/$1.expect"
  check "$1 is as expected" diff -u "$here/$1.expect" actual
  check "$1 ends with $2" [ "$status" = "$2" ]
}
for file in "$here"/pass-*.fdl; do golden "$(basename "$file" .fdl)" 0; done
for file in "$here"/fail-*.fdl; do golden "$(basename "$file" .fdl)" 2; done

# A filter of a command line; the address rung shows what is read of it before it is set.
unknown_name() {
  "$kymo" cat --filter 'zzz > 3' trace >out 2>words
  [ $? = 2 ] && [ ! -s out ] && diff -u - words <<'END'
kymo cat: --filter:1:1: error: E31 no event has a field "zzz"
  zzz > 3
  ^
END
}
check 'a name that no event has is refused, with one message' unknown_name

# Seconds of 1970 are a distance whose sign was forgotten.
forgotten_sign() {
  "$kymo" cat --begin 10s trace >out 2>words && grep -q . out && "$kymo" cat --end 10ms trace >>words 2>&1 && "$kymo" cat --begin +1ns --end -1ns trace >/dev/null 2>>words
  diff -u - words <<'END'
kymo cat: --begin 10s is a time of January 1970; +10s counts from the begin of the trace, -10s from its end
kymo cat: --end 10ms is a time of January 1970; +10ms counts from the begin of the trace, -10ms from its end
END
}
check 'a time of 1970 is remarked' forgotten_sign

# The description decides whether a number of 32 bits is an address.
address_order() { # TYPE: W23 is said of it
  printf 'TRACE t;\n  BYTES LITTLE;\n  RECORD r EVENT IS n: UNSIGNED 8; skipped: BYTES n; address: %s; END;\n  LAYOUT REPEAT r;\nEND TRACE.\n' "$1" >order.tdl
  printf '\1x\x7f\0\0\1' >order.bin
  "$kymo" cat --key order.tdl --filter 'address IN ("127.0.0.1", "10.0.0.9")' order.bin >out 2>words
}
little_addresses() {
  address_order 'UNSIGNED 32' && [ ! -s out ] && diff -u - words <<'END' || return 1
kymo cat: --filter:1:13: warning: W23 "address" is stored LITTLE, so its last byte is compared with 127; declare it BIG if it is in the order of the network
  address IN ("127.0.0.1", "10.0.0.9")
              ^
kymo cat: --filter:1:26: warning: W23 "address" is stored LITTLE, so its last byte is compared with 10; declare it BIG if it is in the order of the network
  address IN ("127.0.0.1", "10.0.0.9")
                           ^
END
  address_order 'UNSIGNED 32 BIG' && [ -s out ] && [ ! -s words ] && address_order 'BYTES 4 SHOW ADDRESS' && [ -s out ] && [ ! -s words ]
}
check 'an address beside a little-endian number of a description is remarked' little_addresses

# ---- processes ----

# sample NAME ENVIRONMENT [TEXT REPLACEMENT]: a trace of its own with these entries of its environment
sample() {
  PYTHONPATH=$KYMO_SOURCE/tests/cli python3 - "$@" <<'END'
import sys, uuid
import sample_trace as sample
own = uuid.uuid4()
changes = [('01234567-89ab-cdef-0123-456789abcdef', str(own)), ('tracer_name = "sample";', sys.argv[2]), tuple(sys.argv[3:])]
for change in filter(None, changes):
    assert change[0] in sample.METADATA
    sample.METADATA = sample.METADATA.replace(*change)
sample.UUID = own.bytes
sample.main()
END
}
# selects COUNT FILTER TRACE…
selects() {
  local count=$1 filter=$2
  shift 2
  "$kymo" cat -q --names none --filter "$filter" "$@" >out 2>words
  [ "$(grep -vc '^#' out)" = "$count" ] && [ ! -s words ] || { echo "$filter: expected $count events"; cat out words; return 1; }
}
processes() {
  sample server 'vpid = 4700; procname = "server";' && sample client 'vpid = 4800; procname = "client";' || return 1
  selects 14 'pid > 0' server client && selects 7 'pid = 4700' server client && selects 7 'process = "client"' server client &&
    selects 7 'process LIKE "cl*" AND pid <> 4700' server client && selects 0 'process = "client"' server && selects 5 'pid = 4800 AND tid > 9' server client
}
check 'events of one process are selected by its number and its name' processes
contexts() { # as tracers of whole machines have them, in each event; the environment knows the process better than its thread
  sample machine '' _vtid _vpid && selects 4 'pid = 4711' machine && selects 4 'process = "worker"' machine || return 1
  sample both 'procname = "server";' && selects 7 'process = "server"' both && selects 4 'thread = "worker"' both
}
check 'contexts of processes' contexts
text_of_vpid() { # no number, so the process is unknown
  sample odd 'vpid = "many";' || return 1
  "$kymo" cat -q --filter 'pid = 1' odd 2>&1 | grep -F 'E31 no event has a field "pid"; the traces do not contain their processes; tid and thread are the thread' || return 1
  sample known 'vpid = 4700; procname = "server";'
  "$kymo" cat -q --filter 'vpid = 1' known 2>&1 | grep -F 'E31 no event has a field "vpid"; pid is the process' &&
    "$kymo" cat -q --filter 'program = "x"' known 2>&1 | grep -F 'E31 no event has a field "program"; process is the name of the process'
}
check 'names of other tools for processes' text_of_vpid

# ---- habits of other languages ----

# Each filter of habits.txt is refused with the right form of it, which is accepted; "-" where none is known.
habits() {
  local filter right
  while IFS= read -r filter; do
    right=$("$kymo" cat --filter "$filter" trace 2>&1 >out | sed -n '1s/.*; write: //p')
    printf '%s\n    %s\n' "$filter" "${right:--}"
    [ -z "$right" ] || "$kymo" cat --filter "$right" trace >out 2>words || [ $? = 1 ] || sed 's/^/    REFUSED: /' words
  done <"$here/habits.txt" >habits
  [ -n "${KYMO_REWRITE:-}" ] && cp habits "$here/habits.expect"
  ! grep REFUSED habits && diff -u "$here/habits.expect" habits
}
check 'habits of C and SQL are answered with what is accepted' habits

# ---- lists that are absent ----

python3 "$here/optional.py" optional
counts() { [ "$("$kymo" cat --filter "$1" optional | sed 's/.*list = //' | tr '\n' ' ')" = "$2 " ]; }
check 'no elements are counted in an absent list' counts 'COUNT OF list = 0' '[]'
check 'the count of an absent list is absent' counts 'COUNT OF list < 5' '[] [7, 8]'
check 'lists that are present have elements' counts 'list IS PRESENT' '[7, 8]'

# ---- filters as files ----

same_from_file() {
  "$kymo" compile --key trace -o one.filter "$1" 2>&1 && "$kymo" compile --key trace/metadata -o other.filter "$1" 2>&1 &&
    cmp one.filter other.filter && "$kymo" cat --filter-file "$1" trace >text 2>&1 && "$kymo" cat --filter-file one.filter trace >binary 2>&1 &&
    diff <(grep -v warning: text | grep -v '^ ') <(grep -v '^ ' binary)
}
for file in "$here"/pass-*.fdl; do
  check "$(basename "$file" .fdl) selects the same from a binary file" same_from_file "$file"
done
"$kymo" compile --key trace -o x.filter "$here/pass-logic.fdl"
refuses() {
  local wanted=$1 said
  shift
  if said=$("$@" 2>&1); then return 1; fi
  [ "$said" = "$wanted" ] || { printf '%s\n' "$said"; return 1; }
}
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" sample
check 'with another description the message says to recompile' refuses \
  'kymo cat: x.filter: the filter was compiled for another description of events; recompile it' "$kymo" cat --filter-file x.filter sample
check 'a filter without a key is refused' refuses \
  'kymo compile: one.fdl: a filter is compiled for the traces it will read; add --key KEY, or --key TRACE' "$kymo" compile one.fdl
head -c 60 x.filter >cut.filter
check 'a filter that is cut is refused' refuses \
  'kymo cat: cut.filter: byte 52: R8 the filter is damaged: its check sum is another one' "$kymo" cat --filter-file cut.filter trace
{ head -c 8 x.filter; printf '\2'; tail -c +10 x.filter; } >later.filter
check 'a filter of another version is refused' refuses \
  'kymo cat: later.filter: byte 8: R8 expected a filter of version 1, found 2; recompile it' "$kymo" cat --filter-file later.filter trace
check 'two filters are refused' refuses 'kymo cat: one filter at a time; AND joins expressions
Try `kymo cat --help'"'"' or `kymo cat --usage'"'"' for more information.' "$kymo" cat --filter-file x.filter --filter 'port=1' trace
check 'a filter that must see the end is refused of what grows' refuses \
  'kymo cat: --filter: E59 this filter must see all events before it selects the first one (BEFORE, AFTER LAST, AROUND, END), and a trace that is followed has no end yet' \
  "$kymo" cat --follow --filter 'WITHIN 1 ms AROUND (port = 80)' trace

# ---- every command that reads ----

count() { "$kymo" "$@" 2>/dev/null | grep -c net:rx; }
only='EVENT = "net:rx" AND port = 80'
wanted=$("$kymo" cat trace | grep -c 'net:rx port = 80,')
[ "$wanted" -gt 0 ] || not_ok 'the trace has what is looked for' none
check 'kymo cat filters' [ "$(count cat --filter "$only" trace)" = "$wanted" ]
check 'kymo convert filters' eval '"$kymo" convert --filter "$only" -o converted trace && [ "$("$kymo" cat converted 2>/dev/null | wc -l)" = $((wanted + 1)) ]'
check 'kymo merge filters' eval '"$kymo" merge --filter "$only" -o merged trace && [ "$(count cat merged)" = "$wanted" ]'
check 'kymo stat filters' eval '[ "$("$kymo" stat counts --json --filter "$only" trace | grep -o "\"count\":[0-9]*" | head -1)" = "\"count\":$wanted" ]'
check 'kymo info filters' eval '"$kymo" info --json --filter "$only" trace | grep -q "\"events\":$wanted[,}]"'

# ---- random filters ----

for seed in 1 2 3 4; do
  python3 "$here/trace.py" random "$seed" 200
  check "random filters select the right events ($seed)" python3 "$here/random_filters.py" "$kymo" random "$seed" "$(rounds 150 20)"
done

# ---- babeltrace2 and grep ----

if ! command -v babeltrace2 >/dev/null; then
  skip 'filters select what grep finds in the lines of babeltrace2' 'there is no babeltrace2'
  exit
fi
as_grep() {
  local found wanted
  found=$("$kymo" cat -q --format babeltrace2 --filter "$1" sample | wc -l)
  wanted=$(babeltrace2 sample 2>/dev/null | grep -cE "$2")
  echo "$found events, grep finds $wanted"
  [ "$found" = "$wanted" ] && [ "$wanted" -gt 0 ]
}
while IFS='|' read -r filter pattern; do
  check "grep finds in the lines of babeltrace2: $filter" as_grep "$filter" "$pattern"
done <<'END'
EVENT = "net:rx"| net:rx: 
port = 443| port = 443,
port IN (50..100)| port = (53|80),
iface LIKE "eth*"| iface = "eth
count = 3 AND lengths = 65535| count = 3, lengths = \[ .* = 65535 
NOT EVENT = "bare"| (net:rx|all:kinds): 
group = "all"| all:kinds: 
cpu = 1|cpu_id = 1[, ]
min < 0| min = -
END
