#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Traps that recorders fall into. Their tests are named "pitfall N" and are in the suites where they fit best; here are the rest.
#
#   1  unit/test_record_writer.c        2 3 4 10 13 18 19 20  recorder       5 17  recorder-full (17 also recorder, control)
#   6 7 8 9 11 12 14  recorder-threads  15  unit/test_record_text.c         16  recorder-command      18 19  also compile
#
# Not all of them can happen in this design:
#   10  there is no block mode.
#   14  ids of more than 16 bits are not written: more kinds of events than that are refused with a warning (below).
#   15  there is no tracepoint that takes an earlier event's time.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

build_checker
for program in classes points; do must_build $program; done

too_many_kinds() {
  fresh
  traced "$bin/classes" >on 2>err || { echo "exit code $?"; cat err; return 1; }
  [ "$(cat on)" = 65536 ] && [ "$(wc -l <err)" = 1 ] && grep -q 65536 err || { cat on err; return 1; }
  expect 6 sum_of events "$(the_trace)"
}
check 'pitfall 14: more kinds of events than ids: one warning, the rest is recorded' too_many_kinds
one_clock() { # two processes of one machine report the same frequency
  fresh
  traced "$bin/points" && traced "$bin/points" || return 1
  [ "$(grep -h 'freq = ' out/*/metadata | sort -u | wc -l)" = 1 ]
}
check 'pitfall 15: two processes of one machine use one calibration' one_clock

exit 0
