#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo convert --to perfetto, chrome, folded: what these files contain is what kymo cat prints, paired by an independent
# program. Perfetto's packets are decoded by protoc.
#
#   check.py        reads the outputs, and compares
#   perfetto.proto  the messages, written from Perfetto's documentation of the fields
set -u
. "$KYMO_SOURCE/tests/lib.sh"
here=$KYMO_SOURCE/tests/slices
cd "$TMPDIR" || exit 1
export KYMO=$KYMO_BUILD/kymo KYMO_RINGS=$TMPDIR PYTHONDONTWRITEBYTECODE=1
export LSAN_OPTIONS=detect_leaks=1

check 'a program is built' "${KYMO_CC:-cc}" $sanitizer -I"$KYMO_SOURCE/include" "$here/program.c" -o program -L"$KYMO_BUILD" \
  -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread
check 'it is recorded' "$KYMO" record -q -o spans -- ./program

# A small ring that is not drained loses what comes last.
KYMO_ENABLE='*' KYMO_MODE=discard KYMO_BUFFER=256K KYMO_OUT=lossy-out KYMO_SAVE=exit ./program 60000 >/dev/null 2>&1
for trace in lossy-out/*; do [ -d "$trace" ] && mv "$trace" lossy; done

for format in perfetto chrome folded; do
  check "$format is written" "$KYMO" convert -q --to $format -o "spans.$format" spans
  [ -d lossy ] && "$KYMO" convert -q --to $format -o "lossy.$format" lossy >said 2>&1
  check "$format: the standard output" bash -c "'$KYMO' convert -q --to $format -o - spans | cmp - spans.$format"
  check "$format: a file that is there is not overwritten" says_first 3 \
    "kymo convert: spans.$format: cannot write: File exists" "$KYMO" convert --to $format -o spans.$format spans
  check "$format: no file stays when it cannot be written" bash -c "! '$KYMO' convert --to $format -o none/x spans && [ ! -e none ]"
  check_fails "$format: a full disk is an error" bash -c "'$KYMO' convert --to $format -o - spans >/dev/full"
done
python3 "$here/check.py" chrome spans
python3 "$here/check.py" folded spans
if [ -d lossy ]; then python3 "$here/check.py" losses lossy; else not_ok 'losses' 'nothing was recorded'; fi
if command -v protoc >/dev/null; then
  python3 "$here/check.py" perfetto spans "$here/perfetto.proto"
else
  skip 'perfetto by protoc' 'protoc is not installed'
fi
