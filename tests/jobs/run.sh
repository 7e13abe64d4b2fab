#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address thread
#
# kymo cat --jobs, kymo stat --jobs and kymo convert --jobs: the same bytes on both streams and in all files, and the same exit status, whatever the number of jobs; and
# which traces are read by several jobs, which by one.
# KYMO_SEEDS="FIRST LAST" chooses the seeds of the random traces.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
here=$KYMO_SOURCE/tests/jobs
kymo=$KYMO_BUILD/kymo
# sanitizers are slow, and watch memory and threads, whose use is the same for any number of jobs and another seed
if [ -n "$sanitizer" ]; then seeds='1 1' cat_jobs=3 convert_jobs=3; else seeds='1 2' cat_jobs='2 3 7' convert_jobs='2 5'; fi
read -r first last <<<"${KYMO_SEEDS:-$seeds}"
RANDOM=$first
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR"

make_trace() { # FOLDER HABIT …: with 3 streams of 60 packets
  python3 "$here/make.py" "$1" "${seed:-1}" "${streams:-3}" "${packets:-60}" "${@:2}"
}

# same_by "JOBS …" COMMAND OPTION…: as one job
same_by() {
  local numbers=$1 command=$2 jobs wanted status
  shift 2
  "$kymo" $command --jobs 1 "$@" >one 2>one-said </dev/null && wanted=0 || wanted=$?
  for jobs in $numbers; do
    "$kymo" $command --jobs "$jobs" "$@" >several 2>several-said </dev/null && status=0 || status=$?
    cmp one several && cmp one-said several-said && [ $status = $wanted ] && [ $status != 2 ] ||
      { echo "$jobs jobs: kymo $command $*: exit status $status, not $wanted"; return 1; }
  done
}
same() { same_by "$cat_jobs" cat "$@"; }
formats=(text json csv babeltrace2 text:clock-date babeltrace2:clock-cycles details generic)

habits=('' loss backward same days bad single sparse early brief 'loss backward' 'same backward' 'days loss' 'backward bad' 'single loss same')
random_traces() {
  local seed streams packets habit format
  for ((seed = first; seed <= last; seed++)); do
    for habit in "${habits[@]}"; do
      streams=$((1 + seed % 5)) packets=$((20 + 37 * seed % 90))
      rm -rf random
      make_trace random $habit || return 1
      for format in text "${formats[$((RANDOM % ${#formats[@]}))]}"; do
        same random -f "$format" || { echo "seed $seed: $habit"; return 1; }
      done
      same_by 3 'stat counts' random || { echo "seed $seed: $habit"; return 1; }
    done
  done
}
check 'random traces: the bytes of several jobs are those of one' random_traces

# slices whose text is partly written while they are read
large_slices() {
  local habit streams=3 packets=8
  for habit in large 'large loss' 'large bad' 'large backward'; do
    rm -rf big
    make_trace big $habit || return 1
    same_by 2 cat big && same_by 3 cat big -f json && same_by 2 cat big -f babeltrace2 --filter 'value > 300' || { echo "$habit"; return 1; }
  done
}
check 'slices with much text' large_slices
full_output() { # the blocks of the output at most
  (trap '' XFSZ; ulimit -f "$1"; same_by '2 3' cat full -f json) && grep -q 'File too large' one-said && [ -s one ]
}
full_outputs() {
  local streams=3 packets=8
  make_trace full large && full_output 1000 && full_output 7001 && full_output 11000
}
check 'a full disk: the bytes of several jobs are those of one' full_outputs

make_trace trace loss
make_trace sparse sparse
options() {
  same trace --event test:text && same trace --event 'test:*' --filter 'value > 900' && same sparse --filter 'value = 7' &&
    same sparse --event test:text && same trace --filter 'value IN (5..6) OR text LIKE "a*"' &&
    same trace --filter 'value IS CHANGED' && same trace --filter 'value > 5 FIRST 30' && same trace --fields all --names all
}
check 'events and filters' options
windows() {
  local begin
  for begin in 0.00001 0.00004 0.00007; do
    same trace --begin 1700000000$(echo $begin | cut -c2-) || return 1
    same trace --begin 1700000000$(echo $begin | cut -c2-) --end 1700000000.0001 || return 1
    same -f babeltrace2 trace --begin 1700000000$(echo $begin | cut -c2-) --end 1700000000.0001 || return 1
  done
  same trace --stream-intersection
}
check 'ranges of times' windows
several_traces() { same trace sparse && same -f babeltrace2 trace sparse --clock-offset 5 && same trace trace; }
check 'several traces' several_traces
quiet() { same --quiet trace; }
check 'without messages' quiet

statistics() {
  local by form
  for by in event track value text vtid; do
    for form in text csv json; do same_by 4 'stat counts' trace --by $by -f $form || return 1; done
  done
  same_by 2 'stat counts' trace sparse && same_by 3 'stat counts' trace --filter 'value > 900' --by value --top 5 --prefix 9 &&
    same_by 3 'stat counts' trace --by value --memory 20K &&
    same_by 3 'stat distance' trace && same_by 3 'stat histogram value' trace && same_by 2 'stat counts' bad
}
make_trace bad bad
check 'statistics: the figures of several jobs are those of one' statistics

# same_files "JOBS …" OPTION…: convert writes what one job writes, and says the same
same_files() {
  local numbers=$1 jobs wanted status
  shift
  rm -rf one-out out
  "$kymo" convert --jobs 1 -o out "$@" >one 2>one-said </dev/null && wanted=0 || wanted=$?
  [ ! -e out ] || mv out one-out
  for jobs in $numbers; do
    rm -rf out
    "$kymo" convert --jobs "$jobs" -o out "$@" >several 2>several-said </dev/null && status=0 || status=$?
    cmp one several && cmp one-said several-said && [ $status = $wanted ] && [ $status != 2 ] && are_same_files ||
      { echo "$jobs jobs: kymo convert $*: exit status $status, not $wanted"; return 1; }
  done
}
are_same_files() {
  [ ! -e one-out ] && [ ! -e out ] || diff -r one-out out
}
converted() { same_files "$convert_jobs" "$@"; }
random_copies() {
  local seed streams packets habit from
  for ((seed = first; seed <= last; seed++)); do
    for habit in "${habits[@]}" large; do
      streams=$((2 + seed % 5)) packets=$((20 + 37 * seed % 90)) from=1700000000.0000$((1 + RANDOM % 8))
      [ "$habit" != large ] || packets=4
      rm -rf random
      make_trace random $habit || return 1
      converted random && converted random --to ctf2 --filter 'value > 300' && converted random --begin $from --event test:number &&
        converted random --end $from && converted random --to ctf2 --begin 1700000000.00001 --end $from ||
        { echo "seed $seed: $habit"; return 1; }
    done
  done
}
check 'convert: the files of several jobs are those of one' random_copies
several_copies() {
  converted trace sparse bad && converted trace trace --stream-intersection && converted trace sparse --clock-offset 5 --filter 'value = 7' &&
    converted trace --filter 'value IS CHANGED' && converted trace --filter 'value > 5 FIRST 30' && converted trace --quiet
}
check 'convert: several traces, and filters that jobs cannot run' several_copies
streams=6 packets=8 make_trace large large loss
full_while_writing() { # the blocks of a file at most
  (trap '' XFSZ; ulimit -f "$1"; same_files 3 large && same_files 2 large --filter 'value > 300') &&
    grep -q ': cannot write: ' one-said && [ -s out/metadata ] && is_whole out
}
# events may be lost, but nothing is corrupt
is_whole() { ! "$kymo" cat "$1" 2>&1 >/dev/null | grep -v ': the trace is incomplete: '; }
full_files() { full_while_writing 100 && full_while_writing 200; }
check 'convert: a full disk is reported, and leaves what it leaves with one job' full_files
there_already() {
  rm -rf out && mkdir out && : >out/stream_1 || return 1
  says 3 'kymo convert: out: the directory is not empty' "$kymo" convert --jobs 3 large -o out && [ -e out/stream_1 ]
}
check 'convert: a folder with files is refused' there_already

# where jobs do the work, and where one does
counted() { # FORKS STREAMS OPTION…
  by_command cat "$@"
}
by_command() { # COMMAND FORKS STREAMS OPTION…
  local command=$1
  shift
  rm -f counts
  JOBS_COUNTS=$PWD/counts LD_PRELOAD=$PWD/count.so "$kymo" $command "${@:3}" >counted 2>&1 </dev/null
  expected=$(for ((i = 0; i < $2; i++)); do echo stream; done; for ((i = 0; i < $1; i++)); do echo fork; done)
  diff <(sort <<<"$expected" | grep .) <(sort counts 2>/dev/null) || { echo "kymo $command ${*:3}"; return 1; }
}
who_works() {
  make_trace plain && make_trace same same && make_trace early early && make_trace brief brief || return 1
  counted 3 2 --jobs 3 plain && counted 2 2 --jobs 2 sparse --filter 'value = 7' && counted 2 2 --jobs 2 same &&
    counted 2 2 --jobs 2 plain -f json && counted 2 2 --jobs 2 plain -f csv && counted 2 2 --jobs 2 plain -f babeltrace2 &&
    counted 2 2 --jobs 2 plain sparse && counted 2 4 --jobs 2 bad && counted 2 4 --jobs 2 early && counted 2 2 --jobs 2 brief &&
    by_command 'stat counts' 3 0 --jobs 3 plain && by_command 'stat counts' 3 0 --jobs 3 trace --by value
}
who_writes() {
  wrote 2 --jobs 2 plain && wrote 3 --jobs 5 plain && wrote 3 --jobs 3 plain --to ctf2 --filter 'value > 5' && wrote 2 --jobs 2 bad &&
    wrote 2 --jobs 2 plain trace --end 1700000000.00005 && wrote 2 --jobs 2 plain plain --stream-intersection
}
alone_writes() {
  wrote 0 plain && wrote 0 --jobs 1 plain && wrote 0 --jobs 2 plain --filter 'value IS CHANGED' &&
    wrote 0 --jobs 2 "$KYMO_SOURCE/examples/ping.pcap" --key "$KYMO_SOURCE/descriptions/pcap.tdl" && streams=1 make_trace only && wrote 0 --jobs 2 only
}
wrote() { # FORKS OPTION…
  rm -rf out
  by_command 'convert -o out' "$1" 0 "${@:2}" && [ -n "$(find out -name metadata -size +0)" ] || { echo "$*"; return 1; }
}
# all files have whole packets alone, and there are fewer events than in the trace
job_dies() {
  local after events all
  all=$("$kymo" cat large --filter 'value > 300' 2>/dev/null | wc -l)
  for after in 1 2 3 4; do
    rm -rf out
    says 3 'kymo convert: a job was ended by signal 9' env JOBS_KILL=$after LD_PRELOAD="$PWD/count.so" \
      "$kymo" convert --jobs 2 large -o out --filter 'value > 300' || return 1
    is_whole out || return 1
    events=$("$kymo" cat --quiet out | wc -l)
    [ "$events" -lt "$all" ] || { echo "$events of $all events after $after"; return 1; }
  done
  [ "$events" -gt 0 ]
}
printing_job_dies() {
  for after in 1 3; do
    says 3 'kymo cat: a job was ended by signal 9' env JOBS_KILL=$after LD_PRELOAD="$PWD/count.so" \
      sh -c 'exec "$0" cat --jobs 2 large >printed' "$kymo" || return 1
  done
}
alone_works() {
  counted 0 0 plain && counted 0 0 --jobs 1 plain && counted 0 0 --jobs 2 plain -f details && counted 0 0 --jobs 2 plain -f generic &&
    counted 0 0 --jobs 2 plain --filter 'value IS CHANGED' && counted 0 0 --jobs 2 plain --filter 'value > 5 FIRST 3' &&
    counted 0 0 --jobs 2 plain sparse --stream-intersection && by_command 'stat counts' 0 0 plain &&
    by_command 'stat distance' 0 0 --jobs 2 plain
}
if [ -n "$sanitizer" ] || ! cc -shared -fPIC -O1 "$here/count.c" -o count.so -ldl; then
  skip 'who does the work' 'the sanitizer wants to be the first library'
else
  check 'jobs read what can be cut, and one begins again after corrupt data' who_works
  check 'one reads what cannot be cut' alone_works
  check 'convert: jobs write the streams of CTF traces, and one begins again after corrupt data' who_writes
  check 'convert: one writes anything else' alone_writes
  check 'convert: a job that is killed leaves whole packets' job_dies
  check 'a job that is killed while it prints is reported' printing_job_dies
fi

says_range() { says 2 'kymo cat: --jobs is a number from 1 to 64, not "0"
Try `kymo cat --help'"'"' or `kymo cat --usage'"'"' for more information.' "$kymo" cat --jobs 0 plain; }
check 'a number of jobs' says_range
refused() {
  local format
  for format in cpel arrow sqlite; do
    "$kymo" convert --jobs 2 plain -o x --to $format >said 2>&1 && return 1
    [ ! -e x ] || return 1
  done
  says_first 2 'kymo convert: --jobs is for the formats "ctf1", "ctf2" and "clickhouse"' "$kymo" convert --jobs 2 plain -o x.cpel
}
check 'convert: formats that jobs do not write' refused
reader_ends() {
  "$kymo" cat --jobs 3 trace 2>said | head -2 | cmp - <("$kymo" cat --jobs 1 trace | head -2) && [ ! -s said ]
}
check 'the reader of the output may end' reader_ends
full_disk() {
  local wanted status
  [ -w /dev/full ] || return 0
  "$kymo" cat --jobs 1 trace >/dev/full 2>one-said && wanted=0 || wanted=$?
  "$kymo" cat --jobs 3 trace >/dev/full 2>several-said && status=0 || status=$?
  cmp one-said several-said && [ $status = $wanted ]
}
check 'a full disk is reported' full_disk

# those of more than one packet, mostly: a smaller one has nothing to cut
shared_traces() {
  local trace
  while IFS= read -r trace; do
    [ "$(du -sk "$trace" | cut -f1)" -le 30 ] ||
      { same_by 3 cat "$trace" && same_by 2 cat -f babeltrace2 "$trace" && same_files 3 "$trace"; } || return 1
  done < <(find "$KYMO_SHARED/data/ctf" -name metadata -printf '%h\n' | sort)
}
if [ -d "${KYMO_SHARED:-/nonexistent}" ]; then
  check 'the traces of the shared data' shared_traces
else
  skip 'the traces of the shared data' 'they are not there'
fi
