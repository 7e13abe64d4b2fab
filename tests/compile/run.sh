#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# What compilers say to users of the public headers. pass-*.c compile without a warning; fail-*.c do not
# compile, and the message must match the regex in their line "expect: …". Each as C11 and C++17, with gcc
# and clang, unless a line "languages: c" says otherwise.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

flags="-Wall -Wextra -pedantic -Wshadow -Werror -O2 -fPIC -I$KYMO_SOURCE/include"

# compile FILE COMPILER
compile() {
  local language=c standard=c11
  case $2 in *++) language=c++ standard=c++17 ;; esac
  "$2" -std=$standard -x $language $flags -c "$1" -o "$TMPDIR/out.o" 2>&1
}

refused_with() {
  local expected=$1 output
  shift
  if output=$(compile "$@"); then
    echo 'it compiles'
    return 1
  fi
  grep -qE -- "$expected" <<<"$output" && return 0
  printf 'expected: %s\n%s\n' "$expected" "$output"
  return 1
}

for file in "$KYMO_SOURCE"/tests/compile/{pass,fail}-*.c; do
  name=$(basename "$file" .c)
  languages=$(sed -nE 's/.*languages: (.*[^ ]) *\*\/.*/\1/p' "$file")
  for compiler in gcc g++ clang clang++; do
    case $compiler in *++) language=c++ ;; *) language=c ;; esac
    case " ${languages:-c c++} " in *" $language "*) ;; *) continue ;; esac
    if ! command -v $compiler >/dev/null; then
      skip "$name with $compiler" 'not installed'
      continue
    fi
    case $name in
      pass-*) check "$name with $compiler" compile "$file" $compiler ;;
      fail-*)
        expected=$(sed -nE 's/.*expect: (.*[^ ]) *\*\/.*/\1/p' "$file")
        check "$name with $compiler" refused_with "$expected" "$file" $compiler
        ;;
    esac
  done
done
