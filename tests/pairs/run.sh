#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Pairs of traces in every format: as many events, losses and packets in each. A third of all pairs of babeltrace2's, LTTng's and our own
# traces, each of these with itself, and each other trace of the shared data with some of these. KYMO_ROUNDS=N, whatever it is: all pairs.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
data=$(realpath -m "${KYMO_SHARED:-/nonexistent}/data/ctf")

make_list() {
  python3 "$KYMO_SOURCE/tests/differential/small_traces.py" "$TMPDIR/small" &&
    python3 "$KYMO_SOURCE/tests/differential/random_trace.py" "$TMPDIR/random" 1 8 || return 1
  {
    find "$data"/babeltrace "$data"/lttng* -type d -name trace 2>/dev/null | sort
    find "$TMPDIR/small" "$TMPDIR/random" -mindepth 1 -maxdepth 1 -type d | sort
    echo
    find "$data"/{actf,field,yactfr} -type d -name trace 2>/dev/null | sort
  } >"$TMPDIR/list"
}

export TZ=UTC LC_ALL=C.UTF-8
mkdir "$TMPDIR/written"
check 'list of traces' make_list
check 'program' "$KYMO_CC" -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$KYMO_SOURCE/include" "$KYMO_SOURCE/tests/pairs/pairs.c" \
  -o "$TMPDIR/pairs" -L"$KYMO_BUILD" -lkymo -Wl,-rpath,"$KYMO_BUILD"
thirds=${KYMO_ROUNDS:+3}
thirds=${thirds:-1}
pairs() {
  "$TMPDIR/pairs" "$TMPDIR/written" $((thirds < 3 ? 7 * thirds : 20)) "$thirds" <"$TMPDIR/list" >"$TMPDIR/found"
  local status=$?
  tail -20 "$TMPDIR/found"
  return $status
}
check 'all formats show as many events, losses and packets' pairs
check 'there were many pairs' [ "$(tail -1 "$TMPDIR/found" | cut -d' ' -f1)" -gt 100 ]
