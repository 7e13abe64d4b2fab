#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Rules about our sources that a compiler does not check: rules over their text, conversions in decoders of files,
# internal headers that stand alone.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

python3 "$KYMO_SOURCE/tests/style/rules.py" "$KYMO_SOURCE"

# Other versions of clang-format break lines at other places.
formatted() { find "$KYMO_SOURCE"/{include,src,bindings,tests,bench,examples,fuzz} \( -name '*.[ch]' -o -name '*.cc' \) -exec clang-format-14 --dry-run -Werror {} +; }
if command -v clang-format-14 >/dev/null; then
  check 'clang-format 14 changes no file' formatted
else
  skip 'clang-format 14 changes no file: no clang-format-14'
fi

flags="-std=gnu17 -D_GNU_SOURCE -DKYMO_VERSION=\"0\" -I$KYMO_SOURCE/include -I$KYMO_SOURCE/src -I$KYMO_BUILD/src -fsyntax-only -Wall -Wextra -Werror"
quiet_conversions() {
  local file status=0
  [ $# -gt 0 ] || { echo 'there are no files'; return 1; }
  for file; do
    gcc $flags -Wconversion -Wno-sign-conversion "$file" || status=1
  done
  return $status
}
for folder in plan source decode format trace filter; do
  mapfile -t files < <(find "$KYMO_SOURCE/src/$folder" -name '*.c' | sort)
  check "src/$folder narrows no number unsaid" quiet_conversions "${files[@]}"
done

# A header that a source includes before all else compiles alone, since that source does: the build has shown it.
shown_by_sources() {
  find "$KYMO_SOURCE/src" -name '*.c' -exec awk 'FNR == 1 { begun = 0 } !begun && /^#/ { begun = 1; if (/^#include "/) print $2 }' {} + | tr -d '"'
}
headers_stand_alone() {
  local header status=0
  shown_by_sources | sort -u >"$TMPDIR/shown"
  [ -s "$TMPDIR/shown" ] || { echo 'no source includes a header first'; return 1; }
  for header in $(cd "$KYMO_SOURCE/src" && find . -name '*.h' | sed 's,^\./,,' | sort | comm -23 - "$TMPDIR/shown"); do
    printf '#include "%s"\nint kymo_test_unit;\n' "$header" >"$TMPDIR/alone.c"
    gcc $flags "$TMPDIR/alone.c" || status=1
  done
  return $status
}
check 'every internal header compiles alone' headers_stand_alone
