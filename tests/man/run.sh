#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# All manual pages: mandoc finds no mistake in them, each name of a page leads to it, their synopses agree with the headers, their
# examples compile, and each public function, macro and header is in a page. tests/help compares the options of commands.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
pages=$KYMO_SOURCE/docs/man

# ---- mistakes ----

# References to pages outside depend on what the machine has installed; by_name below looks at our own.
lint() {
  mandoc -Tlint -W style "$1" 2>/dev/null | grep -v 'STYLE: referenced manual not found' >said
  [ ! -s said ] || { cat said; return 1; }
}
lint_notices() { # the test itself: a page with mistakes is not clean
  printf '.Dd November 21, 2026\n.Dt BAD 1\n.Os\n.Sh NAME\n.Nm bad\n.Nd page\n.Pp\n.Sh SEE ALSO\n.Xr b 1 ,\n.Xr a 1\n' >bad.1
  ! lint bad.1 >/dev/null
}
if command -v mandoc >/dev/null; then
  check 'mistakes of a page are noticed' lint_notices
  for page in "$pages"/*; do check "mandoc finds no mistake in ${page##*/}" lint "$page"; done
else
  skip 'mandoc finds no mistake in the pages' 'there is no mandoc'
fi
if command -v groff >/dev/null; then
  formats() { groff -mdoc -ww -Tutf8 "$1" 2>said >/dev/null && [ ! -s said ] || { cat said; return 1; }; }
  for page in "$pages"/*; do check "groff formats ${page##*/}" formats "$page"; done
fi

# ---- names ----

# names_of PAGE: what its NAME section calls it
names_of() { sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' "$1"; }
if meson install -C "$KYMO_BUILD" --no-rebuild --quiet --tags man --destdir "$TMPDIR/stage" >said 2>&1; then
  man=$(dirname "$(find stage -name man1 -type d | head -1)")
  by_name() { # each name of the page, and its own file, is installed and is that page
    local page=$1 section=${1##*.} name missing=0
    cmp "$page" "$man/man$section/${page##*/}" || return 1
    for name in $(names_of "$page"); do
      cmp "$page" "$man/man$section/$name.$section" || missing=1
    done
    return $missing
  }
  for page in "$pages"/*; do check "${page##*/} is installed under each of its names" by_name "$page"; done
  references() { # pages of ours that others refer to
    local name section missing=0
    while read -r name section; do
      [ -e "$man/man$section/$name.$section" ] || { echo "there is no $name($section)"; missing=1; }
    done < <(sed -n 's/^\.Xr \([Kk][Yy][Mm][Oo][^ ]*\) \([0-9]\).*/\1 \2/p' "$pages"/* | sort -u)
    return $missing
  }
  check 'pages refer to pages that are installed' references
else
  check 'meson install --tags man' cat said
fi

# ---- synopses and examples ----

# A synopsis as C: a function is declared once more, which compiles only if the header has the same declaration; a macro exists.
synopsis() {
  sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$1" | awk '
    /^\.In / { print "#include <" $2 ">" }
    /^\.Ft / { type = substr($0, 5); gsub(/"/, "", type) }
    /^\.Vt / { text = substr($0, 5); gsub(/"/, "", text); if (text ~ /^(struct|enum)/) { sub(/ ;$/, "", text); print "extern " text " kymo_seen_" NR ";" } }
    /^\.Fn / {
      name = $2; rest = substr($0, length(".Fn " name) + 2); n = 0; delete args
      while (match(rest, /"[^"]*"|[^ ]+/)) { a = substr(rest, RSTART, RLENGTH); gsub(/"/, "", a); args[++n] = a; rest = substr(rest, RSTART + RLENGTH) }
      list = n ? "" : "void"
      for (i = 1; i <= n; i++) list = list (i > 1 ? ", " : "") args[i]
      print "#ifndef " name
      if (type == "") print "#error there is no macro " name; else print type " " name "(" list ");"
      print "#endif"
      type = ""
    }'
}
compiles() { gcc -std=gnu11 -Wall -Wextra -Werror -Wno-redundant-decls -I"$KYMO_SOURCE/include" "$@"; }
synopsis_agrees() { synopsis "$1" >synopsis.c && grep -q '^#include' synopsis.c && compiles -fsyntax-only synopsis.c || { cat synopsis.c; return 1; }; }
other_synopsis() { # the test itself: an argument that is missing
  printf '.Sh SYNOPSIS\n.In kymo/error.h\n.Ft const char *\n.Fn kymo_error_text "const struct kymo_error *error" "char *out"\n.Sh DESCRIPTION\n' >other.3
  ! synopsis_agrees other.3 >/dev/null 2>&1
}
check 'a synopsis that differs from the header is noticed' other_synopsis
# Each literal block that begins with an #include is a program (or, without main, a part of one).
examples() {
  awk -v stem="$2" '/^\.Bd -literal/ { block = 1; next } /^\.Ed/ { block = 0; if (file) close(file); file = ""; next }
    block == 1 { if ($0 ~ /^#include/) { file = stem (++n) ".c"; block = 2 } else block = 3 }
    block == 2 { gsub(/\\\\|\\e/, "\\"); gsub(/\\&/, ""); print > file }' "$1"
}
examples_compile() {
  local file found=
  for file in "$1"[0-9]*.c; do
    [ -f "$file" ] || continue
    found=yes
    compiles -c -o example.o "$file" || return 1
    if grep -q '^int main' "$file"; then
      gcc -o "${file%.c}" example.o -L"$KYMO_BUILD" -lkymo -lkymo-trace -Wl,-rpath,"$KYMO_BUILD" || return 1
    else # a plug-in
      compiles -shared -fPIC -o "${file%.c}" "$file" || return 1
    fi
  done
  [ "$found" ]
}
# What a page shows of its first program, description or filter: the commands, and what they print.
export TZ=UTC LC_ALL=C.UTF-8
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace || exit 1
plays() {
  local page=$1 name=$2
  rm -rf play && mkdir play && cp -r mytrace play && cd play || return 1
  [ ! -f "../${name}1" ] || { cp "../${name}1" program && cp program program.so; }
  # a description or a filter of the page, in a file of its own name
  awk '/^\.Ed/ { file = "" } /^TRACE / { file = $2 ".tdl" } /^FILTER [a-z]*;/ { file = $2; sub(/;/, ".fdl", file) } file { print > file }' "$page"
  sed -n 's/^\$ //p' "$page" | sed 's/\\e/\\/g' |
    PATH=$KYMO_BUILD:$PATH KYMO_RINGS=$TMPDIR/rings KYMO_CONTROL=0 sh >found 2>said # what is incomplete ends with 1
  sed -n '/^\$/,/^\.Ed/p' "$page" | sed '/^\$/d; /^\.Ed/d; s/\\e/\\/g' | diff - found || { cat said; return 1; }
}
for page in "$pages"/*.3; do
  name=$(basename "$page" .3)
  check "the synopsis of $name(3) has the declarations of the headers" synopsis_agrees "$page"
  examples "$page" "$name"
  check "the examples of $name(3) compile" examples_compile "$name"
  ! grep -q '^\$ ' "$page" || check "the program of $name(3) prints what the page shows" plays "$page" "$name"
done
for page in "$pages"/*.[57]; do
  name=$(basename "$page")
  ! grep -q '^\$ ' "$page" || check "the example of $name prints what the page shows" plays "$page" "${name%.*}"
done

# ---- what the headers offer ----

# stands NAME…: each is a word of some page of section 3
stands() {
  local name missing=0
  for name; do grep -qE -- "(^|[^A-Za-z0-9_])$name([^A-Za-z0-9_]|\$)" "$pages"/*.3 || { echo "no page has $name"; missing=1; }; done
  return $missing
}
mapfile -t functions < <(sed -n 's/^ *\(kymo_[a-z0-9_]*[a-z0-9]\);$/\1/p' "$KYMO_SOURCE/src/kymo.map" "$KYMO_SOURCE/src/record/kymo-trace.map")
check 'the libraries have functions' [ "${#functions[@]}" -gt 150 ]
check 'each public function is in a page' stands "${functions[@]}"
# the preprocessor's own helpers end in _ or in a number
mapfile -t macros < <(sed -nE 's/^#define (KYMO_[A-Z0-9_]*[A-Z]|kymo_[a-z_]*[a-z])\(.*/\1/p' "$KYMO_SOURCE"/include/kymo/*.h | sort -u)
check 'each public macro is in a page' stands "${macros[@]}"
covered() { # a page has it, or it is part of a header that one has
  local header missing=0
  for header in "$KYMO_SOURCE"/include/kymo/*.h; do
    header=kymo/${header##*/}
    grep -qF "<$header>" "$KYMO_SOURCE"/include/kymo/*.h || stands "$header" || missing=1
  done
  return $missing
}
check 'each public header is in a page' covered
