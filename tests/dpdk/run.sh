#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Traces that DPDK records here and now, of a program that records every kind of field in several threads: kymo prints
# them as the installed babeltrace2 does, byte for byte.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/differential/compare.sh"
here=$KYMO_SOURCE/tests/dpdk program=$TMPDIR/program
command -v babeltrace2 >/dev/null || { skip 'what DPDK records' 'babeltrace2 is not installed'; exit 0; }
flags=$(pkg-config --cflags libdpdk 2>/dev/null) || { skip 'what DPDK records' 'libdpdk-dev is not installed'; exit 0; }
export TZ=CET-1CEST
RANDOM=1

# recorded NAME EVENTS PATTERN THREADS TURNS OPTIONS…: both print the trace alike, and there are as many events of the pattern
recorded() {
  local name=$1 events=$2 pattern=$3 threads=$4 turns=$5 trace found
  shift 5
  trace=$TMPDIR/$(echo "$name" | tr ' ' -)
  timeout 60 "$program" "$threads" "$turns" --no-huge --no-pci --no-telemetry --no-shconf --log-level=4 -l 0 -m 64 \
    "$@" --trace-dir="$trace" >"$TMPDIR/words" 2>&1 || { not_ok "$name" "DPDK: $(head -1 "$TMPDIR/words")"; return; }
  compare "$name" "$trace" || { not_ok "$name" 'babeltrace2 refuses it'; return; }
  found=$(grep -c "$pattern" "$TMPDIR/ours")
  compare_options "$name" "$trace" && compare_details "$name" "$trace" || not_ok "$name" 'babeltrace2 refuses options'
  if [ "$found" -ge "$events" ]; then ok "$name: has events"; else not_ok "$name: has events" "$found of $events"; fi
}

gcc -O2 -D_GNU_SOURCE -DALLOW_EXPERIMENTAL_API -I"$here" "$here/points.c" "$here/program.c" -o "$program" $flags -lrte_eal \
  -pthread || { not_ok 'the traced program' 'does not build'; exit 0; }
recorded 'every kind of field in three threads' 3000 ' kinds\.' 3 200 '--trace=kinds.*'
recorded 'events of DPDK itself' 5 ' lib\.eal\.' 1 5 '--trace=.*'
recorded 'a full buffer that discards' 1000 ' kinds\.' 2 5000 '--trace=kinds.*' --trace-mode=discard --trace-bufsz=64K
recorded 'a buffer that overwrites' 1 ' kinds\.' 2 5000 '--trace=kinds.*' --trace-mode=overwrite --trace-bufsz=64K
