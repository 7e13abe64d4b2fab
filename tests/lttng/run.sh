#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Traces that LTTng-UST records here and now, of a program that records every kind of field: kymo prints them as the
# installed babeltrace2 does, byte for byte, and counts in them what babeltrace2 counts.
#
# The session daemon is our own. That of root lives in a place of the whole machine, so root runs it, and the programs,
# as user "nobody"; it dies with this suite, however that ends.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/differential/compare.sh"
here=$KYMO_SOURCE/tests/lttng
for tool in babeltrace2 lttng lttng-sessiond; do
  command -v "$tool" >/dev/null || { skip 'what LTTng-UST records' "$tool is not installed"; exit 0; }
done
flags=$(pkg-config --cflags --libs lttng-ust 2>/dev/null) || { skip 'what LTTng-UST records' 'liblttng-ust-dev is not installed'; exit 0; }
export TZ=CET-1CEST LTTNG_HOME=$TMPDIR/home LTTNG_UST_REGISTER_TIMEOUT=20000
traces=$TMPDIR/traces program=$TMPDIR/program
daemon=
RANDOM=1

as_user=(env "HOME=$LTTNG_HOME")
mkdir "$LTTNG_HOME" "$traces"
if [ "$(id -u)" = 0 ]; then
  as_user+=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  chown 65534:65534 "$LTTNG_HOME" "$traces"
  chmod 711 "$TMPDIR"
fi

# ---- the session daemon ----

# lttng COMMAND…: a failure is printed, and ends the suite: nothing after it would mean anything
lttng() {
  "${as_user[@]}" lttng -n "$@" >"$TMPDIR/lttng-words" 2>&1 && return
  sed 's/^/    /' "$TMPDIR/lttng-words"
  not_ok 'LTTng works' "lttng $*"
  exit 0
}

# await COMMAND…: until it succeeds; fails if that takes long
await() {
  local deadline=$((SECONDS + 20))
  until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $deadline ] && sleep 0.02 || return; done
}

start_daemon() {
  "${as_user[@]}" lttng-sessiond --no-kernel >"$TMPDIR/daemon-words" 2>&1 &
  daemon=$!
  trap end_daemon EXIT
  await "${as_user[@]}" lttng -n list && return
  sed 's/^/    /' "$TMPDIR/daemon-words"
  not_ok 'LTTng works' 'its session daemon does not answer'
  exit 0
}

# The processes $* and all that descend from them, without what has ended.
family() {
  local process
  for process; do
    case $(ps -o stat= -p "$process") in '' | Z*) continue ;; esac
    echo "$process"
    family $(pgrep -P "$process")
  done
}

have_ended() { [ -z "$(family "$@")" ]; }

# The daemon ends its consumers when it ends; what cannot is ended here.
end_daemon() {
  local processes
  processes=$(family "$daemon")
  kill "$daemon"
  await have_ended $processes
  kill -KILL $processes 2>/dev/null
  wait "$daemon" 2>/dev/null
}

# begin SESSION CREATE-OPTIONS…: a session that is not started; trace=… is where it goes
begin() {
  session=$1 trace=$traces/$1
  shift
  lttng create "$session" --output="$trace" "$@"
}

# channel NAME OPTIONS…: with all events of the program in it, and the contexts that user space has
channel() {
  lttng enable-channel -u -s "$session" "$@"
  lttng add-context -u -s "$session" -c "$1" -t vpid -t vtid -t procname
  lttng enable-event -u -s "$session" -c "$1" 'kinds:*'
}

start() { lttng start "$session"; }
end() { lttng stop "$session" && lttng destroy "$session"; }

# run THREADS TURNS…
run() { "${as_user[@]}" "$program" "$@" </dev/null || not_ok "$session: the traced program" "exit code $?"; }

# pausing THREADS TURNS…: the program in the background, its first turns recorded; `go_on` lets it do the next
pausing() {
  coproc TRACED { exec ${cpu:+taskset -c "$cpu"} "${as_user[@]}" "$program" "$@"; }
  traced=$TRACED_PID
  await_pause
}

await_pause() {
  local line
  read -r -t 30 line <&"${TRACED[0]}" || not_ok "$session: the traced program" 'does not pause'
}

go_on() { echo >&"${TRACED[1]}"; }
await_end() { wait "$traced" || not_ok "$session: the traced program" "exit code $?"; }

# ---- comparing ----

# The sum of losses of events or packets in babeltrace2's warnings. Counters of 64 bits run over when they go back.
warned_of() {
  { echo 0; sed -nE "s/^WARNING: Tracer discarded ([0-9]+) $1s? .*/\\1/p" "$TMPDIR/their-words"; } | paste -sd+ |
    sed 's/.*/(&) % 2^64/' | bc
}

# Events, streams, packets and losses: what kymo info counts, and babeltrace2's counter and warnings
counts_agree() {
  local theirs ours
  theirs=$(babeltrace2 "$@" -c sink.utils.counter 2>/dev/null | awk '
    /Event messages/ { events = $1 } /Stream beginning/ { streams = $1 } /Packet beginning/ { packets = $1 }
    END { print events, streams, packets }')
  theirs="$theirs $(warned_of event) $(warned_of packet)"
  ours=$("$kymo" info --json "$@" | jq -r '[.traces[].streams[]] as $streams | [.events, ($streams | length)] +
    ([("packets", "lost_events", "lost_packets") as $what | $streams | map(.[$what]) | add]) | join(" ")')
  [ "$theirs" = "$ours" ] && return
  echo "events, streams, packets, lost events, lost packets: theirs $theirs, ours $ours"
  return 1
}

# same NAME TRACE…: both print the same in all ways, and count the same
same() {
  local name=$1
  shift
  compare "$name" "$@" || { not_ok "$name" 'babeltrace2 refuses it'; return; }
  cat "$TMPDIR/their-words" "$TMPDIR/theirs" >"$TMPDIR/text"
  check "$name: counts" counts_agree "$@"
  compare_options "$name" "$@" && compare_details "$name" "$@" || not_ok "$name" 'babeltrace2 refuses options'
}

# has WHAT PATTERN OPERATOR COUNT: lines of babeltrace2's last output: that a session has what it is here for
has() {
  local found
  found=$(grep -ac -- "$2" "$TMPDIR/text")
  if [ "$found" "$3" "$4" ]; then ok "$session: $1"; else not_ok "$session: $1" "$found, expected $3 $4"; fi
}

# ---- sessions ----

per_user() {
  begin per-user
  channel events --subbuf-size=512K
  start
  run 2 200
  end
  same 'buffers of the user, every kind of field' "$trace"
  has 'all events' 'kinds:' -eq 4000
}

per_process() {
  local i
  begin per-process
  channel events --buffers-pid --subbuf-size=64K
  start
  for i in 1 2 3; do run "$i" 50 & done
  wait $(jobs -p | grep -v "$daemon")
  end
  same 'buffers of each of three processes' "$trace"
  has 'all events' 'kinds:' -eq 3000
  same 'two of three processes' $(find "$trace" -name metadata -printf '%h\n' | sort | head -2)
}

channels_and_contexts() {
  local context contexts=
  begin contexts
  channel few
  channel all
  for context in pthread_id ip vuid veuid vgid vegid vsuid vsgid cgroup_ns ipc_ns mnt_ns net_ns pid_ns user_ns uts_ns time_ns; do
    contexts="$contexts -t $context"
  done
  lttng add-context -u -s "$session" -c all $contexts
  lttng enable-event -u -s "$session" -c all -a
  start
  run 2 50
  run 1 50
  end
  same 'two channels, all contexts, the events of LTTng itself' "$trace"
  has 'events in both' 'kinds:' -eq 3000
  has 'events of LTTng' 'lttng_ust_statedump:' -ge 10
}

chosen_events() {
  begin chosen
  lttng enable-channel -u -s chosen filtered
  lttng enable-channel -u -s chosen loud
  lttng enable-event -u -s chosen -c filtered 'kinds:*' --filter 'turn >= 90 && text == "a*"'
  lttng enable-event -u -s chosen -c loud 'kinds:*' --loglevel=WARNING
  start
  run 1 100
  end
  same 'a filter and a log level' "$trace"
  has 'what passes' 'kinds:' -eq 104
}

snapshots() {
  local taken
  begin snapshots --snapshot
  channel events --subbuf-size=4K --num-subbuf=4
  start
  pausing 2 200 30 200
  lttng snapshot record -s snapshots
  go_on && await_pause
  lttng snapshot record -s snapshots
  go_on && await_end
  lttng snapshot record -s snapshots
  end
  for taken in "$trace"/*; do same "snapshot ${taken##*-}" "$taken"; done
  same 'snapshots that overlap, together' "$trace"
}

rotated_sessions() {
  local chunk
  begin rotated
  channel events --subbuf-size=4K --num-subbuf=128
  start
  pausing 2 50 50 50
  lttng rotate rotated
  go_on && await_pause
  lttng rotate rotated
  go_on && await_end
  end
  for chunk in "$trace"/archives/*; do same "chunk ${chunk##*-} of a rotated session" "$chunk"; done
  same 'a rotated session as a whole' "$trace"
  has 'all events' 'kinds:' -eq 3000
}

rotated_files() {
  begin files
  channel all --subbuf-size=4K --num-subbuf=64 --tracefile-size=16K
  channel last --subbuf-size=4K --num-subbuf=64 --tracefile-size=8K --tracefile-count=3
  start
  run 1 400
  end
  same 'trace files of a size, and a number of them' "$trace"
}

discarded() {
  begin discarded
  channel events --discard --subbuf-size=4K --num-subbuf=2
  start
  run 4 3000
  end
  same 'losses of a channel that discards' "$trace"
  has 'events are lost' '^WARNING: Tracer discarded' -ge 1
}

# The consumer is held while the program overwrites what it has not taken yet: packets are lost between two of a stream,
# that of one CPU: where the program's next turn is on another CPU, that one's stream begins with the loss.
overwritten() {
  local consumers cpu
  cpu=$(taskset -cp $BASHPID | sed -E 's/.*: ([0-9]+).*/\1/')
  begin overwritten
  channel events --overwrite --subbuf-size=4K --num-subbuf=2
  start
  pausing 4 300 3000
  await saved_more_than 0 || not_ok 'overwritten' 'saves nothing'
  consumers=$(comm -12 <(family "$daemon" | sort) <(pgrep -f lttng-consumerd | sort))
  kill -STOP $consumers
  go_on
  await_end
  kill -CONT $consumers
  end
  same 'losses of a channel that overwrites' "$trace"
  has 'packets are lost' '^WARNING: Tracer discarded [0-9]* packet' -ge 1
}

# Bytes that are in the session's stream files.
saved_more_than() { [ "$(saved_bytes)" -gt "$1" ]; }
saved_bytes() { { echo 0; find "$trace" -name 'events_?' -printf '%s\n'; } | paste -sd+ | bc; }

# The consumer's timer ends the packet of each pause.
timer() {
  local before
  begin timer
  channel events --switch-timer=2000
  start
  before=$(saved_bytes)
  pausing 1 5 5 5
  for turn in 1 2; do
    await saved_more_than "$before" || not_ok 'timer' 'saves nothing'
    before=$(saved_bytes)
    go_on
    [ $turn = 2 ] || await_pause
  done
  await_end
  end
  same 'packets of a switch timer' "$trace"
  has 'all events' 'kinds:' -eq 150
}

killed() {
  begin killed --shm-path="$traces/shm"
  channel events --subbuf-size=16K --num-subbuf=4
  start
  pausing 2 20 20
  kill -KILL "$traced"
  wait "$traced" 2>/dev/null
  "${as_user[@]}" lttng-crash --extract="$traces/crash" "$traces/shm" >"$TMPDIR/crash-words" 2>&1 ||
    not_ok 'lttng-crash' "$(head -1 "$TMPDIR/crash-words")"
  end
  same 'what lttng-crash finds of a killed process' "$traces/crash"
  has 'what was not saved yet' 'kinds:' -ge 10
  same 'what is saved of a killed process' "$trace"
  has 'all events' 'kinds:' -eq 400
}

gcc -O2 -D_GNU_SOURCE -I"$here" "$here/program.c" -o "$program" $flags -pthread || { not_ok 'the traced program' 'does not build'; exit 0; }
start_daemon
for session in per_user per_process channels_and_contexts chosen_events snapshots rotated_sessions rotated_files \
  discarded overwritten timer killed; do
  $session
done

# What kymo writes of them reads as they do.
sets=()
for trace in "$traces"/*; do [ "$(basename "$trace")" = shm ] || sets+=("LTTng's $(basename "$trace")=$trace"); done
python3 "$KYMO_SOURCE/tests/convert/check.py" "$kymo" "$TMPDIR" traces "${sets[@]}"
python3 "$KYMO_SOURCE/tests/convert/check.py" "$kymo" "$TMPDIR" merge "${sets[@]}"
