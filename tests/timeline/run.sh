#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The timeline of kymo view, in Chromium as a person uses it (tests/viewer/run.sh says what is needed):
#
#   timeline.mjs  each function of g2 on one CPEL file, and axe in all colours
#   frames.mjs    no row is blank while the window moves
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"

needs_web_packages 'the timeline'
needs_browser 'the timeline'
run_parts "$KYMO_SOURCE/tests/timeline" timeline frames
