#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# What untrusted names hold reaches no terminal as something that it obeys: every command on a pseudo-terminal, over traces, files and
# processes with controls, C1 controls, bytes that are no text and overrides of direction in their names (terminal.py).
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
programs=$KYMO_SOURCE/tests/terminal
must_build hold
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8 TZ=UTC KYMO_RINGS=$TMPDIR/rings XDG_RUNTIME_DIR=$TMPDIR/run KYMO_DESCRIPTIONS=$TMPDIR/none
mkdir -p "$TMPDIR/rings" "$TMPDIR/run" "$TMPDIR/work"
cd "$TMPDIR/work" || exit 1
python3 "$programs/terminal.py" "$kymo" "$bin/hold" || not_ok terminal "exit code $?"
