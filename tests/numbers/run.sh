#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
# heavy
#
# The numbers in the tabs of kymo view are those of kymo stat and kymo cat, with and without a filter, of a recorded trace, one of
# LTTng's layout, a CPEL file and a capture of packets.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"

needs_web_packages 'the numbers of the tabs'
needs_browser 'the numbers of the tabs'

python3 "$KYMO_SOURCE/tests/serve/data.py" || { not_ok 'data is made' 'it is not'; exit 1; }
record() {
  ${KYMO_CC:-cc} $sanitizer -I"$KYMO_SOURCE/include" "$KYMO_SOURCE/tests/tabs/program.c" -o program -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread &&
    "$KYMO" record -q -o recorded -- ./program
}
record >words 2>&1 || { cat words; not_ok 'a trace is recorded' 'it is not'; exit 1; }
run_parts "$KYMO_SOURCE/tests/numbers" numbers
