#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Flags: one rule in all outputs and filters, for all values of a map.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
export KYMO="$KYMO_BUILD/kymo"
mkdir "$TMPDIR/flags"
check 'a flag is set if any bit of its ranges is, in all outputs and filters' python3 "$KYMO_SOURCE/tests/flags/flags.py" "$TMPDIR/flags"
