#!/bin/bash
# SPDX-License-Identifier: MIT
# judge.sh STATUS: what a run of a traced program left in the current folder (sweep.c, FAULTS_CHECK). It has printed to descriptor 3 and
# said on 4. EVENTS events were emitted; LOSSES=0: some of them are lost without faults.
#
# If the faults are of the recorder in the program, EXPECTED_STATUS is what the program itself returns to its parent:
#   0   all events are there
#   1   fewer, and the program said so, or the trace has the number of those that are missing
#   2   else, or the program is not what it was without faults; words say why
# If they are of a command that records it (EXPECTED_STATUS is not set):
#   0   it returned 0, or the program's RECORDED_STATUS, and all events are there
#   1   it failed, and said why; or the program runs untraced, which it said
#   2   else, or the program did not run to its end; words say why
set -u
bad() { printf '%s\n' "$1"; exit 2; }

# Runs are judged by the thousand: one program is started here, kymo cat; the rest is done by the shell.

# read_all NAME: sets this variable to what comes in, without newlines at its end
read_all() {
  local text=
  IFS= read -rd '' text && text+='(NUL)'
  while [ "${text: -1}" = $'\n' ]; do text=${text%$'\n'}; done
  printf -v "$1" %s "$text"
}
read_all words </proc/self/fd/4
read_all output </proc/self/fd/3
if [ -n "${EXPECTED_STATUS:-}" ]; then
  [ "$1" = "$EXPECTED_STATUS" ] || bad "exit status $1"
  [ "$output" = "$EXPECTED_OUTPUT" ] || bad "the program prints $output"
else
  case $(($1 >> 8)) in 0 | 1 | 3 | 126 | "${RECORDED_STATUS:-0}") ;; *) bad "exit status $1" ;; esac # 126: the program cannot be run
  [ -z "$output" ] || [ "$output" = "$EXPECTED_OUTPUT" ] || bad "the program prints $output"
  [ -n "$words" ] || [ "$1" = 0 ] || [ "$1" = $((${RECORDED_STATUS:-0} << 8)) ] || bad "it fails without words"
fi

# add_lost LINE…: to `lost` what they say is lost
add_lost() {
  local line
  for line; do
    if [[ $line =~ Tracer\ discarded\ ([0-9]+)\ event || $line =~ ^overwritten\ +([0-9]+) ]]; then lost=$((lost + BASH_REMATCH[1])); fi
  done
}
# count PATH...: `events` and `lost` of what can be read there
events=0 lost=0
count() {
  local said status=0 lines file
  "$kymo" cat -f babeltrace2 "$@" >count.lines 2>count.said || status=$?
  read_all said <count.said
  [ $status -le 1 ] || bad "${said##*$'\n'} ($*)"
  mapfile -t lines <count.lines
  events=${#lines[@]} lost=0
  for file in out/.kymo/not-kept out/*/.kymo/not-kept out/*/*/.kymo/not-kept count.said; do
    [ ! -e "$file" ] || { mapfile -t lines <"$file" && add_lost "${lines[@]}"; }
  done
}
# lines_like GLOB FILE: how many lines of the file are like this; `found`
lines_like() {
  local line lines=()
  found=0
  [ ! -r "$2" ] || mapfile -t lines <"$2"
  for line in "${lines[@]}"; do [[ $line != $1 ]] || found=$((found + 1)); done
}

shopt -s nullglob
traces=() streams=()
for file in out/metadata out/*/metadata out/*/*/metadata; do [ -s "$file" ] && traces+=("$file"); done
for file in out/log*; do [ -s "$file" ] && streams+=("$file"); done
[ ! -s saved/metadata ] || count saved
events=0 lost=0
if [ ${#traces[@]} != 0 ]; then
  count "${traces[@]%/metadata}"
elif [ ${#streams[@]} != 0 ] && [ -n "${EVENT_BYTES:-}" ]; then
  size=$(cat "${streams[@]}" | wc -c) events=$((size / EVENT_BYTES))
elif [ ${#streams[@]} != 0 ]; then
  count "${streams[@]}"
fi
if [ -z "${EXPECTED_STATUS:-}" ]; then
  [[ $words != *'runs untraced'* ]] || exit 1
  [ "$1" = $((${RECORDED_STATUS:-0} << 8)) ] || exit 1
  [ -n "${RECORDED_STATUS:-}" ] || words=
fi
# beside the events: names of addresses, snapshots of the clocks
for trace in "${traces[@]%/metadata}"; do
  [ -z "$words" ] || break
  lines_like "*/$PROGRAM" "$trace/.kymo/modules"
  [ $found -ge 1 ] || bad "no load map in $trace"
  lines_like 'at *' "$trace/.kymo/clocks"
  [ $found -ge 2 ] || bad "no clock snapshots in $trace"
done
[ "$events" = "$EVENTS" ] && exit 0
[ "${events:-0}" -lt "$EVENTS" ] || [ -n "$words" ] || bad "$events events of $EVENTS"
[ $((events + lost)) = "$EVENTS" ] && [ -n "${EXPECTED_STATUS:-}${LOSSES:-}" ] && exit "${LOSSES:-1}"
[ -n "$words" ] || bad "$events events of $EVENTS, $lost are counted as lost"
mapfile -t rings < <(grep -oE 'the rings stay in .*' <<<"$words") # of each process
[ ${#rings[@]} = 0 ] || count "${rings[@]#the rings stay in }"
exit 1
