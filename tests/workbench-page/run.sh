#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The page of kymo explain --html in Chromium, as a person uses it: by mouse, by keyboard, with axe in light and dark. The suite
# workbench checks its text.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"

needs_web_packages 'the workbench'
needs_browser 'the workbench'
python3 "$KYMO_SOURCE/tests/workbench/data.py" || { not_ok 'data is made' 'it is not'; exit 1; }
run_parts "$KYMO_SOURCE/tests/workbench-page" page
