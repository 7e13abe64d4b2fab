#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The words of documents, manual pages and messages: none that we avoid (CONTRIBUTING.md, Words). Every path in the
# documents leads somewhere, and the sources have every name.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
words=$KYMO_SOURCE/tests/words/words.py

notices() { # the test itself: one fault of each kind
  mkdir -p bad/docs bad/src
  printf '# A\nIt stands behind the `whoever` that it tells of.\nSee `src/no.c` and `kymo_no`.\n\n    behind\n```\nbehind\n```\n' >bad/docs/a.md
  printf '/* behind "it" */\nf("a " /* behind */ "b behind", "\\"", \047"\047); /* behind */\n' >bad/src/a.c
  diff <(python3 "$words" bad docs/a.md src) - <<'W'
    docs/a.md:2: "stands": is
    docs/a.md:2: "behind": after
    docs/a.md:2: "tells": reports, returns, prints, says
    docs/a.md:3: there is no src/no.c
    docs/a.md:3: nothing is called kymo_no
not ok docs/a.md: 5 words, paths or names
    src/a.c:2: "behind": after
not ok src: 1 words, paths or names
W
}
check 'faults of a document are noticed' notices
cd "$KYMO_SOURCE" || exit 1
left_out='CHANGELOG.md' # it lists words and names of the past
documents=()
for document in *.md docs/*.md examples/*/*.md bindings/*/*.md docs/man/*; do
  [[ " $left_out " = *" $document "* ]] || documents+=("$document")
done
python3 "$words" . "${documents[@]}" include src
