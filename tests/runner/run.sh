#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# tests/run itself: what fails once and passes alone fails the run, unless tests/unsteady lists it for now.
set -u
python3 "$KYMO_SOURCE/tests/runner/check.py" "$KYMO_SOURCE" "$TMPDIR"
