#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One rule for times: the same nanosecond in every output, filter, index and query, and in babeltrace2. Clocks of many
# frequencies, and those of random traces.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
export TZ=UTC LC_ALL=C.UTF-8 KYMO="$KYMO_BUILD/kymo"
python3 "$KYMO_SOURCE/tests/differential/small_traces.py" "$TMPDIR/small"
python3 "$KYMO_SOURCE/tests/differential/random_trace.py" "$TMPDIR/random" 1 6
# moments in filters are those of clocks that count from 1970
sed -i 's/clock {/clock { absolute = true;/' "$TMPDIR"/*/*/metadata
command -v babeltrace2 >"$TMPDIR/which" || skip 'times as in babeltrace2' 'babeltrace2 is not installed'
for trace in "$TMPDIR"/small/frequency-* "$TMPDIR"/random/*; do
  check "times of ${trace#"$TMPDIR"/}" python3 "$KYMO_SOURCE/tests/times/times.py" "$trace" "$TMPDIR/work"
done
