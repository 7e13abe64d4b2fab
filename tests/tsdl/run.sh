#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Other readers accept the TSDL that we write: of all golden files but those that say "not for
# other readers", and of schemas that CTF 1.8 cannot say as they are.
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
try "kinds beyond CTF 1.8" "$KYMO_BUILD/tests/test_schema" --beyond-ctf
try "a tag of several dependents" "$KYMO_BUILD/tests/test_schema" --one-tag
