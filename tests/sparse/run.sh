#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Files with holes: to a range of gigabytes nothing was ever written. Each reader passes it in the time and memory that the written
# bytes need, names it, and goes on after it; and each command, whatever it makes of the file, needs no more.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
here=$KYMO_SOURCE/tests/sparse kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8 KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions KYMO_SHARED
cd "$TMPDIR" || exit 1
python3 "$here/sparse.py" "$kymo" "$KYMO_SOURCE"
