#!/bin/bash
# SPDX-License-Identifier: MIT
#
# docs/guide.md: every command in it, in its order, prints what the guide shows. KYMO_REWRITE=1 rewrites the guide.
set -u
cd "$TMPDIR" || exit 1
export TZ=UTC LC_ALL=C.UTF-8
export XDG_DATA_HOME=$TMPDIR
mkdir bin work && ln -s "$KYMO_BUILD/kymo" bin/
# where a reader types it: descriptions/ and the build folder are there
ln -s "$KYMO_BUILD" work/build && ln -s "$KYMO_SOURCE/descriptions" work/descriptions
export PATH=$TMPDIR/bin:$PATH
cd work || exit 1
python3 "$KYMO_SOURCE/tests/guide/guide.py" "$KYMO_SOURCE/docs/guide.md" ${KYMO_REWRITE:+--rewrite}
