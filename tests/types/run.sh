#!/bin/bash
# SPDX-License-Identifier: MIT
# heavy
#
# kymo types: the listings it writes of objects and programs of every installed compiler, its messages about types
# that it cannot find or list, and that no damaged file can harm it.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
here=$KYMO_SOURCE/tests/types
cd "$TMPDIR" || exit 1
cp "$here"/*.[ch] "$here"/*.cc . || exit 1
export DEBUGINFOD_URLS=

if "$kymo" types "$kymo" --struct anything 2>&1 | grep -q 'without libdw'; then
  skip 'kymo types' 'built without libdw'
  exit 0
fi

# golden NAME COMMAND…: what it prints, on both streams, is expected/NAME; the exit status is 0 or $status
golden() {
  local name=$1 wanted=${status:-0} ended
  shift
  "$@" >actual 2>&1 && ended=0 || ended=$?
  [ "${KYMO_REWRITE:-}" = 1 ] && cp actual "$here/expected/$name"
  if [ $ended != "$wanted" ]; then
    not_ok "$name" "exit status $ended, not $wanted: $(head -3 actual)"
  elif diff -u "$here/expected/$name" actual >difference; then
    ok "$name"
  else
    sed 's/^/    /' difference | head -30
    not_ok "$name" 'differs from the golden file'
  fi
}

# says NAME STATUS LINES COMMAND…: it prints only these lines, on the standard error stream
says() {
  local name=$1 wanted=$2 lines=$3 ended
  shift 3
  "$@" >printed 2>said && ended=0 || ended=$?
  if [ $ended != "$wanted" ]; then
    not_ok "$name" "exit status $ended, not $wanted: $(head -1 said)"
  elif [ "$(cat said)" != "$lines" ]; then
    not_ok "$name" "says \"$(cat said)\""
  elif [ -s printed ]; then
    not_ok "$name" 'prints something'
  else
    ok "$name"
  fi
}

compile() {
  "$@" -Wno-pedantic 2>compiler || { cat compiler; return 1; }
}
must_compile() {
  compile "$@" && return
  not_ok "$*" 'does not compile'
  exit 1
}

# ---- objects of all compilers ----

shapes() { "$kymo" types "${1:-shapes.o}" --struct 'struct shape' 'enum *' 'union value'; }
must_compile gcc -g -c shapes.c
golden shapes shapes
same_shapes() { shapes "${1:-shapes.o}" | diff -u "$here/expected/shapes" -; }

of_compiler() {
  compile "$@" -c shapes.c -o shapes.o && same_shapes
}
compilers='gcc clang s390x-linux-gnu-gcc powerpc-linux-gnu-gcc arm-linux-gnueabihf-gcc aarch64-linux-gnu-gcc i686-linux-gnu-gcc'
for compiler in $compilers; do
  if ! command -v $compiler >/dev/null; then
    skip "objects of $compiler" 'not installed'
    continue
  fi
  for form in -gdwarf-4 -gdwarf-5 '-gdwarf-2 -gstrict-dwarf' '-g -O2 -gz'; do
    check "an object of $compiler $form has the same listings" of_compiler $compiler $form
  done
done
split() {
  rm -f ./*.dwo
  compile gcc $1 -gsplit-dwarf -c shapes.c && [ -f shapes.dwo ] && same_shapes
}
check 'split debug information of DWARF 4' split -gdwarf-4
check 'split debug information of DWARF 5' split -gdwarf-5
rm -f shapes.dwo
says 'split debug information whose file is gone' 3 'kymo types: shapes.o: struct shape is not listed: the debug information has no such type; not found: shapes.dwo' \
  "$kymo" types shapes.o --struct 'struct shape'

# ---- programs ----

echo 'int main(void) { return 0; }' >main.c
program() {
  compile gcc -Wl,--build-id=0x0123456789abcdef -o prog "$@" main.c
}
types_of_program() { program "$@" shapes.c && shapes prog | sed 's/ of prog (build id 0123456789abcdef)/ of shapes.o (no build id)/; s/_PROG$/_SHAPES_O/' | diff -u "$here/expected/shapes" -; }
check 'a program, which its build id names' types_of_program -g
check 'types in units of their own, DWARF 4' types_of_program -gdwarf-4 -fdebug-types-section
check 'types in units of their own, DWARF 5' types_of_program -gdwarf-5 -fdebug-types-section
check 'link-time optimisation' types_of_program -g -flto -O1
stripped() {
  program -g shapes.c && objcopy --only-keep-debug prog prog.dbg && strip prog
}
stripped
says 'a stripped program' 3 'kymo types: prog: expected debug information, found none (No DWARF information found); compile with -g and do not strip' \
  "$kymo" types prog --struct 'struct shape'
linked() {
  objcopy --add-gnu-debuglink=prog.dbg prog && "$kymo" types prog --struct 'struct point' | grep -qx 'KYMO_STRUCT_TYPE(struct point, x, y)'
}
check 'debug information in the file that a link names' linked

# ---- which types ----

must_compile gcc -g -c shapes.c
golden typedefs "$kymo" types shapes.o --struct place_t 'struct shape'
golden globs "$kymo" types shapes.o --struct '*t_t' 'enum p*'
golden one-tag "$kymo" types --struct point shapes.o
says 'an unknown type, with near names' 3 'kymo types: shapes.o: struct shap is not listed: the debug information has no such type; near it: "struct shape"
kymo types: shapes.o: placet is not listed: the debug information has no such type; near it: "place_t"
kymo types: shapes.o: zzzzzzzzzzz is not listed: the debug information has no such type' \
  "$kymo" types shapes.o --struct 'struct shap' placet zzzzzzzzzzz 'struct point'
says 'a glob that only what cannot be listed matches' 3 'kymo types: shapes.o: nothing that matches can be listed' "$kymo" types shapes.o --struct 'union o*' 'struct lat*'
says 'a glob that has no end' 3 'kymo types: "struct p[oi": character 9: a bracket that is not closed' "$kymo" types shapes.o --struct 'struct p[oi'
says 'a number' 3 'kymo types: shapes.o: owner_t is not listed: it is no struct, union or enumeration' "$kymo" types shapes.o --struct owner_t
says 'a type that is only declared' 3 'kymo types: shapes.o: struct later is not listed: it is declared, but defined nowhere in this file' \
  "$kymo" types shapes.o --struct 'struct later'
status=1 golden some-cannot "$kymo" types shapes.o --struct 'struct point' 'union odd'

must_compile gcc -g shapes.c two.c main.c -o two
golden two-units bash -c "'$kymo' types two --struct 'struct point' 'struct later' 'struct list' | sed 's/build id [0-9a-f]*/build id/'"
golden second-unit bash -c "'$kymo' types two --unit two.c --struct 'struct point' | sed 's/build id [0-9a-f]*/build id/'"
says 'a unit that is not there' 3 'kymo types: two: struct point is not listed: the debug information has no such type in a unit "three.c"; near it: "struct point"' \
  "$kymo" types two --unit three.c --struct 'struct point'
if command -v g++ >/dev/null; then
  must_compile g++ -std=c++17 -g -c plain.cc
  golden plain-c++ "$kymo" types plain.o --struct all loose
fi

# ---- traces of listed types ----

must_compile gcc -g -c shapes.c
"$kymo" types shapes.o --struct 'struct shape' 'enum *' -o shape_listings.h || exit 1
with_kymo=(-Wall -Wextra -Werror -O2 -g -I"$KYMO_SOURCE/include")
trace_of() { # COMPILER
  rm -rf out
  "$1" "${with_kymo[@]}" $sanitizer traced.c -o traced -L"$KYMO_BUILD" -lkymo-trace -Wl,-rpath,"$KYMO_BUILD" || return 1
  KYMO_OUT=$TMPDIR/out KYMO_ENABLE='*' ./traced && "$kymo" cat out/* | sed -n 's,.* traced/[0-9]* ,,p'
}
golden trace trace_of gcc
if [ -z "$sanitizer" ] && command -v clang >/dev/null; then
  same_trace() { trace_of clang | diff "$here/expected/trace" -; }
  check "a program of clang's has the same trace" same_trace
fi
if command -v g++ >/dev/null; then
  in_c++() {
    "$kymo" types plain.o --struct all loose -o plain.h && printf '#include "plain.cc"\n#include "plain.h"\n' >listed.cc &&
      "$1" -std=c++17 "${with_kymo[@]}" -Wno-error -c listed.cc
  }
  check 'listings of C++ compile with g++' in_c++ g++
  if command -v clang++ >/dev/null; then check 'listings of C++ compile with clang++' in_c++ clang++; fi
fi

traced_types() { "$kymo" types "$1" --all-traced | sed "s/ of $1 ([^)]*)/ of traced/; s/KYMO_TYPES_.*/KYMO_TYPES_TRACED/"; }
golden all-traced traced_types traced
of_objects() {
  "$1" "${with_kymo[@]}" -fno-pic -c traced.c && traced_types traced.o | diff "$here/expected/all-traced" -
}
for compiler in $compilers; do
  command -v $compiler >/dev/null || continue
  check "--all-traced of an object of $compiler" of_objects $compiler
done
cat >wants.c <<'SOURCE'
#include "shapes.h"
#include <kymo/trace.h>
union choice { int i; };
KYMO_VARIANT_TYPE(union choice, (1, i))
void wants(union choice *choice, enum twice twice) {
  KYMO(w, ants, KYMO_VARIANT(v, union choice, 1, choice), twice);
}
SOURCE
must_compile gcc "${with_kymo[@]}" -c wants.c
says 'variants are left to the user' 3 'kymo types: wants.o: union choice is not listed: its tags must be listed by hand: KYMO_VARIANT_TYPE' \
  "$kymo" types wants.o --all-traced
says 'no tracepoint' 3 'kymo types: shapes.o: no tracepoint uses a type; add --struct NAME' "$kymo" types shapes.o --all-traced

# ---- the command line ----

says 'no program' 2 'kymo types: of which program?
Try `kymo types --help'"'"' or `kymo types --usage'"'"' for more information.' "$kymo" types
says 'no types' 2 'kymo types: which types? add --struct, or --all-traced
Try `kymo types --help'"'"' or `kymo types --usage'"'"' for more information.' "$kymo" types shapes.o
says 'no such file' 3 'kymo types: nowhere: cannot open: No such file or directory' "$kymo" types nowhere --struct x
says 'a file of another kind' 3 'kymo types: shapes.c: byte 0: expected an ELF program, library or object, found something else' \
  "$kymo" types shapes.c --struct x
to_file() {
  "$kymo" types shapes.o --struct 'enum row' -o deep-types.h && grep -q '^#ifndef KYMO_TYPES_DEEP_TYPES_H$' deep-types.h &&
    ! "$kymo" types shapes.o --struct unknown -o none.h && [ ! -e none.h ]
}
check '-o: a file that is there whole or not at all' to_file
says '-o: a file that cannot be' 3 'kymo types: no/where.h: No such file or directory' "$kymo" types shapes.o --struct point -o no/where.h
if [ -c /dev/full ]; then
  full() { "$kymo" types shapes.o --struct point >/dev/full; }
  says 'a full disk' 3 'kymo types: standard output: No space left on device' full
fi

# ---- the manual page ----

page=$KYMO_SOURCE/docs/man/kymo-types.1
must_compile gcc -g shapes.c main.c -o prog
ln -sf "$kymo" "$bin/kymo"
example() { PATH=$bin:$PATH bash -o pipefail -c "$1"; }
while IFS= read -r line; do
  check "kymo-types(1): $line" example "$line"
done < <(sed -n 's/^\$ //p' "$page" | sed 's/\\e/\\/g')
for option in $("$kymo" types --help | grep -o -- '--[a-z-]*' | sort -u | grep -vE '^--(help|usage|version|struct)$'); do
  documented() { grep -q -- "Fl -${1#--}" "$page"; }
  check "kymo-types(1) describes $option" documented "$option"
done
if command -v groff >/dev/null; then
  clean_page() { [ -z "$(groff -mdoc -ww -Tutf8 "$page" 2>&1 >/dev/null)" ]; }
  check 'kymo-types(1) has no mistakes' clean_page
fi

# ---- damaged files ----

# Each with one fault: cut, or bytes changed, mostly in the description of types. Sanitizers are slow: a quarter of the changes.
must_compile gcc "${with_kymo[@]}" -c traced.c
changes=$([ -n "$sanitizer" ] && echo 30 || echo 120)
python3 - $changes shapes.o two traced.o <<'PYTHON' || exit 1
import os, random, subprocess, sys
os.makedirs('damaged')
random.seed(7)
for name in sys.argv[2:]:
    whole = open(name, 'rb').read()
    sections = [line.split() for line in subprocess.run(['readelf', '-SW', name], capture_output=True, text=True,
                                                        check=True).stdout.replace('[ ', '[').splitlines()]
    debug = [(int(s[4], 16), int(s[5], 16)) for s in sections if len(s) > 6 and s[1].startswith(('.debug_info', '.debug_abbrev'))]
    for i in range(24):
        open(f'damaged/{name}-cut-{i}', 'wb').write(whole[:len(whole) * i // 24])
    for i in range(int(sys.argv[1])):
        data = bytearray(whole)
        for _ in range(random.choice((1, 2, 8))):
            start, size = random.choice(debug) if random.random() < 0.8 else (0, 64) if random.random() < 0.5 else (0, len(data))
            data[start + random.randrange(size)] = random.choice((0, 1, 0x7f, 0x80, 0xff, random.randrange(256)))
        open(f'damaged/{name}-changed-{i}', 'wb').write(data)
PYTHON
harmless() {
  local file ended bad=
  for file in damaged/"$1"-*; do
    (ulimit -t 20; [ -n "$sanitizer" ] || ulimit -v 1000000; exec "$kymo" "${@:2}" "$file") >/dev/null 2>said && ended=0 || ended=$?
    [ $ended -lt 4 ] && { [ $ended = 0 ] || [ -s said ]; } && continue
    echo "$file: ends with $ended"
    head -20 said
    bad=1
  done
  [ -z "$bad" ]
}
for name in shapes.o two traced.o; do
  check "$name damaged in $((24 + changes)) ways harms kymo types by no more than an error" harmless $name types --struct '*'
done
for name in traced.o; do
  check "$name damaged in $((24 + changes)) ways harms kymo types --all-traced by no more than an error" harmless $name types --all-traced
  check "$name damaged in $((24 + changes)) ways harms kymo list by no more than an error" harmless $name list
done
