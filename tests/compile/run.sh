#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# What compilers say to users of the public headers. pass-*.c compile without a warning; fail-*.c do not
# compile, and the first error must match the regex in their line "expect: …" in at most 12 lines of output, notes included. A line
# "longer: gcc clang" names compilers that need more, whose message may come later; the next line says why. A line "also: …" has a regex that
# the output must match anywhere: the cure, where the first error is the compiler's. Each as C11 and C++17, with gcc and clang, unless
# a line "languages: c" or "compilers: gcc g++" says otherwise; formats, which are checked by what the compiler folds, without optimisation too.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

flags="-Wall -Wextra -pedantic -Wshadow -Werror -fPIC -I$KYMO_SOURCE/include"
lines_max=12

# compile FILE COMPILER OPTIMISATION
compile() {
  local language=c standard=c11
  case $2 in *++) language=c++ standard=c++17 ;; esac
  "$2" -std=$standard -x $language $flags "$3" -c "$1" -o "$TMPDIR/out.o" 2>&1
}

# refused_with REGEX ALSO IS_LONGER FILE COMPILER OPTIMISATION
refused_with() {
  local expected=$1 also=$2 is_longer=$3 output
  shift 3
  if output=$(compile "$@"); then
    echo 'it compiles'
    return 1
  fi
  if ! grep -qE -- "$also" <<<"$output"; then
    printf 'expected also: %s\n%s\n' "$also" "$output"
    return 1
  fi
  if [ "$is_longer" = yes ]; then
    grep -qE -- "$expected" <<<"$output" && return 0
  else
    grep -m 1 error <<<"$output" | grep -qE -- "$expected" && [ "$(wc -l <<<"$output")" -le $lines_max ] && return 0
  fi
  printf 'expected: %s\n%s\n' "$expected" "$output"
  return 1
}

for file in "$KYMO_SOURCE"/tests/compile/{pass,fail}-*.c; do
  name=$(basename "$file" .c)
  languages=$(sed -nE 's/.*languages: (.*[^ ]) *\*\/.*/\1/p' "$file")
  for compiler in gcc g++ clang clang++; do
    case $compiler in *++) language=c++ ;; *) language=c ;; esac
    case " ${languages:-c c++} " in *" $language "*) ;; *) continue ;; esac
    only=$(sed -nE 's/.*compilers: (.*[^ ]) *\*\/.*/\1/p' "$file")
    case " ${only:-$compiler} " in *" $compiler "*) ;; *) continue ;; esac
    if ! command -v $compiler >/dev/null; then
      skip "$name with $compiler" 'not installed'
      continue
    fi
    case " $(sed -nE 's/.*longer: (.*[^ ]) *\*\/.*/\1/p' "$file") " in *" $compiler "*) longer=yes ;; *) longer=no ;; esac
    case $name in
      pass-*) check "$name with $compiler" compile "$file" $compiler -O2 ;;
      fail-*)
        expected=$(sed -nE 's/.*expect: (.*[^ ]) *\*\/.*/\1/p' "$file")
        also=$(sed -nE 's/.*also: (.*[^ ]) *\*\/.*/\1/p' "$file")
        check "$name with $compiler" refused_with "$expected" "$also" $longer "$file" $compiler -O2
        case $name in
          fail-bprintf-*) check "$name with $compiler, not optimised" refused_with "$expected" "$also" $longer "$file" $compiler -O0 ;;
        esac
        ;;
    esac
  done
done
