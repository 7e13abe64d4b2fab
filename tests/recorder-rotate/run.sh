#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo record --rotate: parts that can be read alone and as one, within their limits, with nothing lost between them.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'kymo record --rotate' 'the command kymo is not built'
  exit 77
fi
build_checker
for program in worker points forks; do must_build $program; done
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS

# recorded OPTIONS… -- COMMAND…
recorded() { may_lose "$kymo" record -o out "$@" 2>said || { echo "exit code $?"; cat said; return 1; }; }
size_of() { find "$1" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }'; }
within() {
  local limit=$1 part size
  for part in out/part-*; do
    size=$(size_of "$part")
    [ "$size" -le "$limit" ] || { echo "$part holds $size bytes"; return 1; }
  done
}
# where parts were removed: what was said is what the program has counted
balanced_as_said() {
  local recorded said_sum
  recorded=$("$bin/check_trace" -p -r -c counters out/part-* | sed -n 's/^recorded //p') || return 1
  said_sum=$(sed -nE 's/.*: ([0-9]+) events, ([0-9]+) lost.*/\1 + \2/p' said)
  [ "$recorded" = "$((said_sum))" ] || { echo "recorded $recorded"; cat said; return 1; }
}
# written + lost + overwritten = emitted, by the packets' counters, by what was said, and by the program's own count
balanced() {
  local events lost removed
  "$bin/check_trace" -p -c counters out/part-* >sums || return 1
  events=$(sed -n 's/^events //p' sums) lost=$(sed -n 's/^lost //p' sums) removed=$(sed -n 's/^overwritten //p' sums)
  grep -qE ": $((events + removed)) events, $lost lost" said || { cat sums said; return 1; }
}
# babeltrace2 reads all parts as one trace, and kymo prints the same
read_as_one() {
  babeltrace2 out >bt2 2>bt2.err || { head -3 bt2.err; return 1; }
  if grep -q 'discarded [0-9]* packet' bt2.err; then grep 'discarded [0-9]* packet' bt2.err | head -3; return 1; fi
  "$kymo" cat -q -f babeltrace2 out >text && cmp bt2 text
}

by_size() {
  local part sum=0
  fresh
  recorded --rotate 200k --buffer 8M -- "$bin/worker" -t 3 -n 20000 -c counters || return 1
  within 204800 && balanced && read_as_one || return 1
  [ "$(ls out | wc -l)" -ge 12 ] && [ "$(ls out | head -1)" = part-000001 ] && grep -q ' 0 lost' said || { ls out; cat said; return 1; }
  for part in out/part-*; do # each alone
    babeltrace2 "$part" >one 2>bt2.err && [ ! -s bt2.err ] && [ -s one ] || { head -3 bt2.err; return 1; }
    sum=$((sum + $(wc -l <one)))
    [ -s "$part/.kymo/registry" ] && [ -s "$part/.kymo/clocks" ] || return 1
  done
  [ $sum = 60000 ]
}
check 'parts by size: within the limit, each a trace, together the trace, nothing lost' by_size
with_losses() {
  fresh
  recorded --rotate 64k --buffer 32k -- "$bin/worker" -t 4 -n 100000 -a 200 -c counters || return 1
  within 65536 && balanced && read_as_one
}
check 'losses are counted over all parts, in the middle of a storm of signals' with_losses
kept() {
  fresh
  recorded --rotate 100k --keep 3 --buffer 8M -- "$bin/worker" -t 3 -n 20000 -c counters || return 1
  [ "$(ls out | wc -l)" = 3 ] && grep -qE ' 60000 events, 0 lost, [0-9]+ parts \([0-9]+ removed\)' said || { ls out; cat said; return 1; }
  within 102400 && balanced_as_said && read_as_one
}
check '--keep: the newest parts stay, and what went with the others is counted' kept
by_time() {
  local begin=$SECONDS
  fresh
  recorded --rotate 1s -- "$bin/worker" -t 1 -n 2500 -w 1000 -c counters || return 1
  [ "$(ls out | wc -l)" -ge 2 ] && [ "$(ls out | wc -l)" -le $((SECONDS - begin + 2)) ] && balanced && read_as_one
}
check 'parts by time' by_time
processes() {
  fresh
  recorded --rotate 128k -- sh -c "for i in 1 2 3 4; do '$bin/worker' -t 2 -n 3000; done; '$bin/points'" >/dev/null || return 1
  within 131072 && [ "$("$kymo" cat -q out | grep -v '^#' | wc -l)" = $((4 * 6000 + 7)) ] && read_as_one
}
check 'parts of several processes' processes
idle() { # a part that holds nothing is not made
  local part
  fresh
  recorded --rotate 1s -- sh -c "'$bin/points'; sleep 2.2; '$bin/points'" >/dev/null || return 1
  for part in out/*; do [ "$("$kymo" cat -q "$part" | grep -cv '^#')" -gt 0 ] || { echo "$part is empty"; return 1; }; done
  [ "$("$kymo" cat -q out | grep -cv '^#')" = 14 ]
}
check 'no part is made without events' idle
ctf2() {
  fresh
  recorded --rotate 100k --ctf 2 --buffer 8M -- "$bin/worker" -t 2 -n 10000 || return 1
  [ "$(head -c 2 out/part-000002/metadata)" = "$(printf '\036[')" ] || head -c 1 out/part-000002/metadata | od -c | head -1
  [ "$("$kymo" cat -q out | grep -cv '^#')" = 20000 ]
}
check 'parts in CTF 2' ctf2
cut_between_packets() { # each part notes how long its files are, so a missing end is said, also of the first parts
  local part length
  fresh
  recorded --rotate 100k --buffer 8M -- sh -c "'$bin/worker' -t 2 -n 10000 & '$bin/worker' -t 1 -n 5000; wait" || return 1
  within 102400 && [ "$(ls out | wc -l)" -ge 4 ] || return 1
  for part in out/part-*; do
    for files in $(find $part -name 'stream_*' -printf '%h\n' | sort -u); do
      diff <(sort $files/.kymo/files) <(cd $files && stat -c '%n %s' stream_* | sort) || { echo $files; return 1; }
    done
  done
  may_lose "$kymo" cat -q out >/dev/null || return 1
  for part in out/part-000001 out/part-000002; do
    stream=$(find $part -name 'stream_*' | head -1) && cp $stream kept
    length=$(python3 "$KYMO_SOURCE/tests/whole/traces.py" last $stream) && [ "$length" -lt "$(stat -c %s kept)" ] && truncate -s $length $stream || return 1
    for trace in $part out; do
      "$kymo" cat $trace >events 2>words
      [ $? = 1 ] && grep -q "^kymo cat: .*$stream: byte $length: expected $(stat -c %s kept) bytes, which the recorder wrote; the file ends here$" words || { cat words; return 1; }
    done
    cp kept $stream
  done
}
check 'a file of a part that is cut between packets is named' cut_between_packets
killed() {
  local pid
  fresh
  "$kymo" record -o out --rotate 100k -- "$bin/worker" -t 4 -n 0 -m -c counters 2>said &
  pid=$!
  until_true test -d out/part-000003
  kill -KILL $(pgrep -P $pid)
  wait $pid
  [ $? = 137 ] && "$bin/check_trace" -p -q -k -c counters out/part-* && within 102400
}
check 'a killed command: its parts are whole' killed
soak() { # the short form of tests/soak
  fresh
  "$KYMO_SOURCE/tests/soak" --seconds 5 --build "$KYMO_BUILD" --directory "$PWD/soak"
}
check 'five seconds at full speed: sizes bounded, every loss counted' soak

check 'a size that is too small is refused' record_refuses '--rotate is a size from 64k (100M) or a time (90s, 30m, 1h, 1d), not "63k"' --rotate 63k
check 'a size without a unit is refused' record_refuses '--rotate is a size from 64k (100M) or a time (90s, 30m, 1h, 1d), not "100000"' --rotate 100000
check 'no parts to keep are refused' record_refuses '--keep is a number of parts from 1, not "0"' --rotate 1M --keep 0
check '--keep alone is refused' record_refuses '--keep needs --rotate' --keep 3
check '--rotate of rings that are overwritten is refused' record_refuses '--rotate needs --mode discard: overwritten rings are collected only at the end' --rotate 1M --mode overwrite

exit 0
