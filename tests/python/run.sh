#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# The package kymo for Python: its promises, its events beside `kymo cat --format json`, its tables of Arrow, traces that are closed in all
# ways while they are read, its stubs, its installation.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
here=$KYMO_SOURCE/tests/python kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8 PYTHONPATH=$KYMO_BUILD/bindings/python
unset KYMO_DESCRIPTIONS LD_LIBRARY_PATH
cd "$TMPDIR" || exit 1
if [ ! -e "$KYMO_BUILD/bindings/python/kymo/_kymo.abi3.so" ]; then
  skip 'the package for Python' 'built without the headers of Python 3.10'
  exit 0
fi

# Of the address rung, the sanitizer must be in the program first. The interpreter keeps memory until it ends, which is no leak; objects are
# allocated one by one, so that the sanitizer sees each.
sanitized=()
[ -z "$sanitizer" ] || sanitized=(env LD_PRELOAD="$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" PYTHONMALLOC=malloc)
# python WORDS…: the Python of PATH, which is not always Debian's
python() { "${sanitized[@]}" python3 -X faulthandler "$@"; }
is_new() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }
is_new python3 || { skip 'the package for Python' 'python3 is older than 3.10'; exit 0; }

python3 "$KYMO_SOURCE/tests/query/make_trace.py" one 1 && python3 "$KYMO_SOURCE/tests/query/make_trace.py" two 2 1000 &&
  python3 "$KYMO_SOURCE/tests/query/make_trace.py" back 3 1000 --back && python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace &&
  python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 20 && python3 "$here/odd_trace.py" odd &&
  "$kymo" convert -q --to cpel -o log.cpel one || exit 1
cp -r one damaged && printf '\377\377\377\377' | dd of=damaged/stream_1 bs=1 seek=400 conv=notrunc status=none
traces=(one two back mytrace odd damaged log.cpel random/*)

# ---- promises ----

python "$here/api.py" one mytrace damaged odd || not_ok 'api.py' 'it ended early'
# Python's own sqlite3 loads libkymo-sqlite; some builds of Python cannot.
if [ -z "$sanitizer" ] && ! python3 -c 'import sqlite3; sqlite3.connect("").enable_load_extension(True)' 2>/dev/null && is_new /usr/bin/python3; then
  /usr/bin/python3 "$here/api.py" one mytrace damaged odd | sed "s/^ok /ok Debian's Python: /; s/^not ok /not ok Debian's Python: /; s/^skip /skip Debian's Python: /"
fi

# ---- the same events ----

check 'events and values of traces' python "$here/same_events.py" "$kymo" "${traces[@]}"
check 'events of several traces' python "$here/same_events.py" "$kymo" --together one two mytrace
check 'events that a filter selects' python "$here/same_events.py" "$kymo" --filter 'port = 80 OR size > 32' one two
if [ -d "${KYMO_SHARED:-/nonexistent}/data" ]; then
  data=$KYMO_SHARED/data
  { find "$data/ctf" -name metadata -printf '%h\n' && find "$data/cpel" "$data/foreign" -type f ! -name '*.txt' ! -name '*.md' ! -name '*.h'; } | sort >list
  # a sanitizer takes its time: every tenth trace
  [ -z "$sanitizer" ] || { awk 'NR % 10 == 0' list >some && mv some list; }
  split -l 60 list part.
  for part in part.*; do check "events and values of the shared traces, $part" python "$here/same_events.py" "$kymo" --may-be-empty - <"$part"; done
else
  skip 'events and values of the shared traces' 'they are not there'
fi
# a comparison that cannot fail shows nothing
differs() { ! python "$here/same_events.py" "$here/other_kymo.py" one >said && grep -q "fields: {'port'" said && grep -q 'there is none' said || { tail -3 said; return 1; }; }
check 'events that differ are noticed' differs

# ---- lifetimes ----

cases=--cases # once
for seed in 1 2 3; do
  check "closed while it is read, seed $seed" python "$here/lifetime.py" --seed $seed --rounds "${KYMO_ROUNDS:-350}" $cases one mytrace
  cases=
done

# What the interpreter keeps until it ends has no function of ours in its call stack.
leaks() { env LD_PRELOAD="$(gcc -print-file-name=libasan.so)" ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=1" PYTHONMALLOC=malloc python3 "$here/leaks.py" "$@" one mytrace damaged >leaked 2>&1; grep -qx 'the end' leaked || { tail -5 leaked; return 2; }
  grep -E ' in kymo_|_kymo\.abi3|bindings/python' leaked; }
nothing_leaks() { leaks; [ $? = 1 ]; }
planted_leak() { leaks --leak | grep -F kymo_walk_new; }
if [ -n "$sanitizer" ]; then
  check 'no memory leaks' nothing_leaks
  check 'memory that leaks is noticed' planted_leak
fi

# ---- Arrow ----

check 'tables of Arrow' python "$here/arrow_check.py" "$kymo" "${traces[@]}"
check 'tables of Arrow, several traces' python "$here/arrow_check.py" "$kymo" --together one two mytrace
python3 "$here/arrow_check.py" --libraries one

# ---- stubs ----

if [ -n "$sanitizer" ]; then exit 0; fi
check 'the stubs have what the package has' python "$here/stubs.py"
if command -v mypy >/dev/null; then
  check 'mypy accepts a program and finds mistakes' env MYPYPATH="$PYTHONPATH" mypy --strict --cache-dir "$TMPDIR/mypy" "$here/typed.py"
else
  skip 'mypy accepts a program and finds mistakes' 'mypy is not installed'
fi

# ---- installation ----

installed() {
  meson install -C "$KYMO_BUILD" --no-rebuild --quiet --destdir "$TMPDIR/stage" >said 2>&1 || { cat said; return 1; }
  local folder
  folder=$(find stage -path '*/kymo/_kymo.abi3.so') && folder=$(realpath "${folder%/kymo/*}") && ls "$folder/kymo" &&
    [ "$(ls "$folder/kymo" | tr '\n' ' ')" = '__init__.py __init__.pyi _kymo.abi3.so _query.py _types.py py.typed ' ] &&
    PYTHONPATH=$folder python3 -c 'import kymo, sys; print(kymo._kymo.library); assert len(list(kymo.open("one"))) == 2000; sys.exit(not kymo._kymo.library.startswith(sys.argv[1]))' "$(realpath stage)"
}
check 'the installed package finds the installed library' installed
limited() { ! nm -D --undefined-only "$KYMO_BUILD/bindings/python/kymo/_kymo.abi3.so" | awk '$2 ~ /^_?Py/ { print $2 }' | grep -E '^_Py' | grep -vE '^_Py_(NoneStruct|TrueStruct|FalseStruct|Dealloc|IncRef|DecRef)$|^_PyObject_(GC_New|New)$|_SizeT$'; }
check 'it needs the limited API of Python alone' limited
# by_pip PYTHON
by_pip() {
  cp -r "$KYMO_SOURCE/bindings/python" source &&
    PKG_CONFIG_PATH=$KYMO_BUILD/meson-uninstalled "$1" -m pip install -q --no-index --no-build-isolation --no-deps --target "$TMPDIR/packages" ./source &&
    PYTHONPATH=$TMPDIR/packages "$1" -c 'import kymo; assert "packages" in kymo.__file__ and len(list(kymo.open("one"))) == 2000'
}
for python in python3 /usr/bin/python3 ''; do [ -n "$python" ] && "$python" -c 'import setuptools, wheel, pip' 2>/dev/null && is_new "$python" && break; done
if [ -n "$python" ]; then check 'pip installs it' by_pip "$python"
else skip 'pip installs it' 'no Python here has pip, setuptools and wheel'; fi
