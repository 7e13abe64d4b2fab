#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# The begin of the lines that kymo cat prints: times that go on, jump, go back, pass midnight and follow losses; and
# the thread, when its number ends within a byte.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
python3 "$KYMO_SOURCE/tests/lines/lines.py" . || exit 1

# prints NAME: the lines that are expected, and others for losses alone
prints() {
  "$kymo" cat -q "$1" 2>words | grep -v '^# .*lost ' | diff "$1.lines" - && ! [ -s words ] || { cat words; return 1; }
}
# has_losses COUNT NAME
has_losses() { [ "$("$kymo" cat -q "$2" 2>/dev/null | grep -c '^# lost 7 events between ')" = "$1" ]; }

check lines_begin_with_times_of_all_steps prints times
check losses_are_between_these_lines has_losses 5 times
check lines_name_threads_whose_number_ends_within_a_byte prints writers
