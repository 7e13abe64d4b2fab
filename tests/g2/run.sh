#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Rows of g2's checklist that need a file of their own, in Chromium as a person uses the page (tests/viewer/run.sh says what is needed).
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"

needs_web_packages 'the checklist of g2'
needs_browser 'the checklist of g2'
run_parts "$KYMO_SOURCE/tests/g2" rows
