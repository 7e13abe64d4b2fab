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

words=$(cat /proc/self/fd/4) output=$(cat /proc/self/fd/3)
if [ -n "${EXPECTED_STATUS:-}" ]; then
  [ "$1" = "$EXPECTED_STATUS" ] || bad "exit status $1"
  [ "$output" = "$EXPECTED_OUTPUT" ] || bad "the program prints $output"
else
  case $(($1 >> 8)) in 0 | 1 | 3 | 126 | "${RECORDED_STATUS:-0}") ;; *) bad "exit status $1" ;; esac # 126: the program cannot be run
  [ -z "$output" ] || [ "$output" = "$EXPECTED_OUTPUT" ] || bad "the program prints $output"
  [ -n "$words" ] || [ "$1" = 0 ] || [ "$1" = $((${RECORDED_STATUS:-0} << 8)) ] || bad "it fails without words"
fi

# count PATH...: `events` and `lost` of what can be read there
events=0 lost=0
count() {
  local said status=0
  said=$("$kymo" cat -f babeltrace2 "$@" 2>&1 >count.lines) || status=$?
  [ $status -le 1 ] || bad "$(printf '%s' "$said" | tail -1) ($*)"
  events=$(wc -l <count.lines)
  lost=$(cat out/.kymo/not-kept out/*/.kymo/not-kept out/*/*/.kymo/not-kept 2>/dev/null | cat - <(printf '%s\n' "$said") |
    awk '/Tracer discarded [0-9]+ event/ || /^overwritten/ { n += /^o/ ? $2 : $4 } END { print n + 0 }')
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
  grep -q 'runs untraced' <<<"$words" && exit 1
  [ "$1" = $((${RECORDED_STATUS:-0} << 8)) ] || exit 1
  [ -n "${RECORDED_STATUS:-}" ] || words=
fi
# beside the events: names of addresses, snapshots of the clocks
for trace in "${traces[@]%/metadata}"; do
  [ -n "$words" ] || grep -qs "/$PROGRAM\$" "$trace/.kymo/modules" || bad "no load map in $trace"
  [ -n "$words" ] || [ "$(cat "$trace/.kymo/clocks" 2>/dev/null | grep -c "^at ")" -ge 2 ] || bad "no clock snapshots in $trace"
done
[ "$events" = "$EVENTS" ] && exit 0
[ "${events:-0}" -lt "$EVENTS" ] || [ -n "$words" ] || bad "$events events of $EVENTS"
[ $((events + lost)) = "$EVENTS" ] && [ -n "${EXPECTED_STATUS:-}${LOSSES:-}" ] && exit "${LOSSES:-1}"
[ -n "$words" ] || bad "$events events of $EVENTS, $lost are counted as lost"
mapfile -t rings < <(grep -oE 'the rings stay in .*' <<<"$words") # of each process
[ ${#rings[@]} = 0 ] || count "${rings[@]#the rings stay in }"
exit 1
