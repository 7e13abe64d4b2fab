#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The tabs of the page of kymo view, in Chromium as a reader uses them; the suite numbers compares what they show.
#
#   live.mjs      the numbers of a program that records meanwhile are those of kymo stat and kymo cat when it has ended
#   tabs.mjs      what they do; every tab by keyboard, and with axe in light and dark
#   pictures.mjs  makes the pictures of docs/viewing.md; with KYMO_REWRITE=1 they are written there
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"
here=$KYMO_SOURCE/tests/tabs

needs_web_packages 'the tabs'
needs_browser 'the tabs'

python3 "$KYMO_SOURCE/tests/serve/data.py" || { not_ok 'data is made' 'it is not'; exit 1; }
python3 "$here/demo.py" || { not_ok 'the traces of the pictures are made' 'they are not'; exit 1; }
build() { ${KYMO_CC:-cc} $sanitizer -I"$KYMO_SOURCE/include" "$1" -o "$2" -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread; }
record() {
  build "$here/program.c" program && build "$KYMO_SOURCE/tests/serve/live.c" live &&
    "$KYMO" record -q -o recorded -- ./program && "$KYMO" record -q -o other -- ./program
}
record >words 2>&1 || { cat words; not_ok 'a trace is recorded' 'it is not'; exit 1; }
if [ -n "${KYMO_REWRITE:-}" ]; then
  mkdir -p "$KYMO_SOURCE/docs/pictures"
  KYMO_SHOTS=$KYMO_SOURCE/docs/pictures node "$here/pictures.mjs"
  exit 0
fi
run_parts "$here" live tabs pictures
