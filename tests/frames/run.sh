#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Framed logs: what programs write through libkymo-trace, and what SystemTap leaves, read by kymo and by a second reader that knows
# the tables of docs/bprintf.md alone (reader.py); whole, lost, cut and damaged (cases.py); going back (moves.c); while they are written.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
here=$KYMO_SOURCE/tests/frames
programs=$here
must_build turns
programs=$KYMO_SOURCE/tests/streams
must_build program
export PYTHONDONTWRITEBYTECODE=1
mkdir "$TMPDIR/written" && cd "$TMPDIR/written" || exit 1

# in DIRECTORY COMMAND…
in_() { mkdir "$1" && (cd "$1" && "${@:2}" >counts); }
in_ turns "$bin/turns" log 4 1500 && in_ signals "$bin/program" signals log framed small && in_ cpus "$bin/program" threads log framed cpu small &&
  in_ sizes "$bin/program" sizes log framed small && in_ rotated "$bin/program" threads log framed small rotate &&
  in_ memory "$bin/program" threads log framed small memory || { not_ok 'streams are written' 'they are not'; exit 1; }
python3 "$here/cases.py" "$TMPDIR/written" || not_ok cases "exit code $?"

mkdir "$TMPDIR/live"
python3 "$here/live.py" "$TMPDIR/live" "$bin/turns" || not_ok live "exit code $?"

# ---- going back ----

programs=$here
moves() {
  ${KYMO_CC:-gcc} -O2 -Wall -Wextra -Werror $sanitizer -I"$KYMO_SOURCE/include" "$here/moves.c" -o "$bin/moves" -L"$KYMO_BUILD" -lkymo \
    -Wl,-rpath,"$KYMO_BUILD" || return 1
  for files in turns signals rotated sizes; do "$bin/moves" 7 "$TMPDIR/written/$files"/log_* || { echo "$files"; return 1; }; done
  (cd "$TMPDIR/written/case-first" && "$bin/moves" 10 log_*) || return 1
  (cd "$TMPDIR/written/case-merge" && "$bin/moves" 8 less && "$bin/moves" 9 far)
}
check 'to any event, and back from it' moves
