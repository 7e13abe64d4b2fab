#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Each public header compiles alone (and twice) as C11, C17, C++17 and C++20, with gcc and clang, without
# a warning: without the line that makes them system headers, of which compilers report nothing.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

warnings='-Wall -Wextra -pedantic -Wshadow -Wundef -Werror'
mkdir -p "$TMPDIR/include/kymo"
for header in "$KYMO_SOURCE"/include/kymo/*.h; do
  sed '/^#pragma GCC system_header/d' "$header" >"$TMPDIR/include/kymo/${header##*/}"
done
for header in "$KYMO_SOURCE"/include/kymo/*.h; do
  name=kymo/${header##*/}
  printf '#include <%s>\n#include <%s>\nint kymo_test_unit;\n' "$name" "$name" >"$TMPDIR/alone.c"
  for compiler in 'gcc c11' 'gcc c17' 'clang c11' 'g++ c++17' 'g++ c++20' 'clang++ c++17'; do
    set -- $compiler
    case $2 in c++*) language=c++ ;; *) language=c ;; esac
    if ! command -v "$1" >/dev/null; then
      skip "$name alone as $2 with $1" 'not installed'
      continue
    fi
    check "$name alone as $2 with $1" \
      "$1" -std="$2" -x "$language" $warnings -I"$TMPDIR/include" -fsyntax-only "$TMPDIR/alone.c"
  done
done
