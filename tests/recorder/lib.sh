# SPDX-License-Identifier: MIT
# Sourced by the recorder's suites: building programs as the library was built, running them traced, checking traces.
. "$KYMO_SOURCE/tests/lib.sh"

programs=$KYMO_SOURCE/tests/recorder
kymo=$KYMO_BUILD/kymo
bin=$TMPDIR/bin
mkdir -p "$bin"
ulimit -c 0 # processes are killed here

# build NAME [SOURCE [COMPILER FLAGS…]]: $bin/NAME from SOURCE (default NAME.c), linked with the recorder
build() {
  local name=$1 source=${2:-$1.c} compiler=${3:-gcc}
  shift $(($# < 3 ? $# : 3))
  "$compiler" -O2 -g -Wall -Wextra -Wno-tsan -Werror -D_GNU_SOURCE -I"$KYMO_SOURCE/include" $sanitizer "$@" "$programs/$source" \
    -o "$bin/$name" -x none -L"$KYMO_BUILD" -lkymo-trace -Wl,-rpath,"$KYMO_BUILD" -pthread -ldl
}
# must_build …: as build, but the suite ends if it fails
must_build() {
  local output
  output=$(build "$@" 2>&1) && return
  printf '%s\n' "$output" | sed 's/^/    /'
  not_ok "$1 builds" 'it does not'
  exit 1
}
# the checker needs no library
build_checker() {
  local output
  if ! output=$(gcc -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE "$programs/check_trace.c" -o "$bin/check_trace" 2>&1); then
    printf '%s\n' "$output" | sed 's/^/    /'
    not_ok 'check_trace builds' 'it does not'
    exit 1
  fi
}

# fresh: an empty directory for one case, $case_dir, with "rings" and "out" to be made in it
fresh() {
  case_dir=$(mktemp -d "$TMPDIR/case-XXXXXX") && cd "$case_dir" || exit 1
}
# traced [NAME=VALUE…] PROGRAM…: runs it with all tracepoints on, traces going to ./out
traced() {
  env KYMO_ENABLE='*' KYMO_OUT="$case_dir/out" KYMO_RINGS="$case_dir/rings" "$@"
}
# has_counted N [THREAD]: the worker whose counters are in ./counters has recorded more than N events in that thread
has_counted() {
  [ -s counters ] && [ "$(od -An -v -t u8 -j $((8 * ${2:-0})) -N 8 counters)" -gt $1 ]
}
# the only trace under ./out
the_trace() {
  local traces=(out/*/)
  [ "${#traces[@]}" = 1 ] && [ -e "${traces[0]}metadata" ] && echo "${traces[0]%/}" && return
  echo "expected one trace under out, found: ${traces[*]}" >&2
  return 1
}

# counts TRACE NAME: that sum of check_trace
sum_of() {
  local key=$1
  shift
  "$bin/check_trace" "$@" | sed -n "s/^$key //p"
}

# said_of TRACE…: what kymo record printed into ./said agrees with what is there
said_of() {
  local events lost
  events=$(sum_of events "$@") && lost=$(sum_of lost "$@")
  grep -qE ": $events events, $lost lost" said || { echo "there are $events events, $lost lost"; cat said; return 1; }
}

# record_refuses MESSAGE OPTIONS…: kymo record does not run with these options, and makes nothing
record_refuses() {
  local message=$1
  shift
  fresh
  "$kymo" record -o out "$@" -- true 2>said
  [ $? = 2 ] && [ ! -e out ] && expect "kymo record: $message" head -1 said
}

# names and payloads of a trace's events, one a line, as babeltrace2 prints them
payloads() {
  babeltrace2 "$1" | sed -E 's/^\[[^]]*\] \([^)]*\) ([^ ]* )?([^ ]+): \{ [^}]*\}, /\2: /'
}
# the same with babeltrace 1.5
payloads_1() {
  babeltrace "$1" | sed -E 's/^\[[^]]*\] \([^)]*\) ([^ ]* )?([^ ]+): \{ [^}]*\}, /\2: /'
}
event_names() { payloads "$1" | sed 's/: { .*//' | sort -u | tr '\n' ' ' | sed 's/ $//'; }

# kymo cat prints a trace as babeltrace2 does, byte for byte
same_as_babeltrace2() {
  babeltrace2 "$@" >bt2.txt 2>bt2.err || return 1
  "$kymo" cat --format babeltrace2 "$@" >kymo.txt 2>kymo.err || return 1
  cmp bt2.txt kymo.txt || { diff bt2.txt kymo.txt | head -10; return 1; }
}

# expect WANT COMMAND…: what the command prints is WANT
expect() {
  local want=$1 got
  shift
  got=$("$@" 2>&1)
  [ "$got" = "$want" ] && return
  printf 'expected: %s\nfound: %s\n' "$want" "$got"
  return 1
}
