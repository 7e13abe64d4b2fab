#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# docs/gallery.html is what make.py makes of the descriptions, and each description has a sample that fits. KYMO_REWRITE=1 makes it anew.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
export TZ=UTC PYTHONDONTWRITEBYTECODE=1 KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions
python3 "$KYMO_SOURCE/tests/gallery/make.py" "$KYMO_BUILD/kymo" "$KYMO_SOURCE" fresh.html >said 2>&1 || { cat said; not_ok 'the gallery is made' 'it is not'; exit 1; }
if [ -n "${KYMO_REWRITE:-}" ]; then
  cp fresh.html "$KYMO_SOURCE/docs/gallery.html"
fi
check 'docs/gallery.html is a fresh one' diff -u "$KYMO_SOURCE/docs/gallery.html" fresh.html
all() { diff <(cd "$KYMO_SOURCE/descriptions" && printf '%s\n' *.tdl) <(sed -n 's/.*<code>descriptions\/\([a-z0-9]*\.tdl\)<\/code>.*/\1/p' fresh.html); }
check 'every description is in it' all
pictures() { [ "$(grep -c '<div class="kymo-record">' fresh.html)" = "$(ls "$KYMO_SOURCE"/descriptions/*.tdl | wc -l)" ]; }
check 'each has a picture' pictures
