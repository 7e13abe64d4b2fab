#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Other readers accept the TSDL that we write: of all golden files but those that say "not for
# other readers", and of schemas that CTF 1.8 cannot say as they are. They show the events of a
# trace with all types that programs record, and so do we (golden files in expected/;
# KYMO_REWRITE=1 rewrites them).
set -u
. "$KYMO_SOURCE/tests/lib.sh"

# accepts READER FOLDER: readers without a stream to read still compile the metadata
accepts() {
  local output status
  case $1 in
    babeltrace2) output=$(babeltrace2 --log-level=E -c source.ctf.fs --params "inputs=[\"$2\"]" -c sink.utils.dummy 2>&1) ;;
    babeltrace) output=$(babeltrace "$2" 2>&1) ;;
  esac
  status=$?
  printf '%s\n' "$output"
  [ "$status" -lt 126 ] && ! grep -qi error <<<"$output"
}

# try NAME COMMAND…: gives what the command writes to all readers
try() {
  local name=$1 folder reader
  shift
  folder=$(mktemp -d)
  if ! "$@" >"$folder/metadata"; then
    not_ok "writes $name" "exit code $?"
    return
  fi
  for reader in babeltrace2 babeltrace; do
    if command -v "$reader" >/dev/null; then
      check "$reader accepts $name as we write it" accepts "$reader" "$folder"
    else
      skip "$reader accepts $name as we write it" "there is no $reader"
    fi
  done
}

for file in "$KYMO_SOURCE"/tests/tsdl/pass-*.tsdl; do
  grep -q 'not for other readers' "$file" || try "$(basename "$file" .tsdl)" "$KYMO_BUILD/tests/test_tsdl" --write "$file"
done
try "kinds beyond CTF 1.8" "$KYMO_BUILD/tests/test_tsdl_write" --beyond-ctf
try "a tag of several dependents" "$KYMO_BUILD/tests/test_tsdl_write" --one-tag
for seed in {1..20}; do
  try "random types of few names ($seed)" "$KYMO_BUILD/tests/test_tsdl_write" --random "$seed"
done

# golden NAME COMMAND…: standard output is expected/NAME, the exit status is 0
golden() {
  local expected=$KYMO_SOURCE/tests/tsdl/expected/$1
  "${@:2}" >"$TMPDIR/actual" 2>"$TMPDIR/words" || { not_ok "$1" "exit code $?: $(head -1 "$TMPDIR/words")"; return; }
  [ -n "${KYMO_REWRITE:-}" ] && cp "$TMPDIR/actual" "$expected"
  check "$1 is as expected" diff -u "$expected" "$TMPDIR/actual"
}

export TZ=UTC
programs=$TMPDIR/programs
mkdir "$programs"
check "writes a trace of what programs record" "$KYMO_BUILD/tests/test_tsdl_write" --trace "$programs"
golden programs.tsdl cat "$programs/metadata"
golden programs.text "$KYMO_BUILD/kymo" cat "$programs"
golden programs.json "$KYMO_BUILD/kymo" cat -f json "$programs"
golden programs.babeltrace2 "$KYMO_BUILD/kymo" cat -f babeltrace2 "$programs"
for reader in babeltrace2 babeltrace; do
  if command -v "$reader" >/dev/null; then
    golden "programs.$reader" "$reader" "$programs"
  else
    skip "programs.$reader is as expected" "there is no $reader"
  fi
done
