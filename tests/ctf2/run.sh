#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# All CTF 2 traces of the shared data: what babeltrace2 2.1 reads is printed as it prints it; what it refuses is
# refused, after the events that it printed. `expectations` says where others are right. Then each is
# described as JSON, and read by that.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
data=${KYMO_SHARED:-/nonexistent}/data/ctf
here=$KYMO_SOURCE/tests/ctf2
export TZ=UTC LC_ALL=C.UTF-8

# What must come of a case: as in the file `expectations`, or "same" for the text of babeltrace2.
expected() {
  local own
  own=$(grep -v '^#' "$here/expectations" | grep -F -m1 "$1"$'\t' | cut -f2)
  if [ -n "$own" ]; then
    echo "$own"
  elif grep -q '^status ok' "$2/verdict"; then
    echo same
  elif grep -q '^events 0' "$2/verdict"; then
    echo fault
  else
    echo "damaged $(sed -n 's/^events //p' "$2/verdict")"
  fi
}

# The text that babeltrace2 printed.
theirs() {
  if [ -f "$1/expect.text.gz" ]; then zcat "$1/expect.text.gz"; else cat "$1/expect.text"; fi
}

# judge CASE WANTED STATUS: $TMPDIR/ours is what came
judge() {
  local events
  events=$(wc -l <"$TMPDIR/ours")
  case $2 in
    same)
      theirs "$1" >"$TMPDIR/theirs"
      [ "$3" = 0 ] || return 1
      cmp -s "$TMPDIR/theirs" "$TMPDIR/ours" ||
        python3 "$KYMO_SOURCE/tests/differential/compare.py" "$TMPDIR/theirs" "$TMPDIR/ours"
      ;;
    refused) [ "$3" = 3 ] ;;
    fault) [ "$3" = 1 ] || [ "$3" = 3 ] ;;
    damaged*) [ "$3" = 1 ] && [ "$events" -ge "${2#damaged }" ] ;;
    *) [ "$3" = 0 ] && [ "$events" = "$2" ] ;;
  esac
}

# The same trace with the metadata that we write of it.
reads_as_described() {
  local status
  "$kymo" cat -q -f babeltrace2 "$1/trace" >"$TMPDIR/first" 2>/dev/null
  status=$?
  rm -rf "$TMPDIR/again" && cp -rL "$1/trace" "$TMPDIR/again" && chmod -R u+w "$TMPDIR/again" || return 1
  "$kymo" describe --as ctf2 "$1/trace" >"$TMPDIR/metadata" || return 1
  cp "$TMPDIR/metadata" "$TMPDIR/again/metadata"
  "$kymo" cat -q -f babeltrace2 "$TMPDIR/again" >"$TMPDIR/second" 2>/dev/null
  [ $? = $status ] && cmp "$TMPDIR/first" "$TMPDIR/second"
}

[ -d "$data" ] || { skip 'traces of CTF 2' 'KYMO_SHARED is not there'; exit 0; }
while IFS= read -r trace; do
  case=$(dirname "$trace") name=${trace#"$data"/} name=${name%/trace}
  metadata=$(find "$trace" -name metadata -print -quit)
  LC_ALL=C grep -qaP '\x1e' "$metadata" || continue
  wanted=$(expected "$name" "$case")
  timeout 60 "$kymo" cat -f babeltrace2:2.1 "$trace" >"$TMPDIR/ours" 2>"$TMPDIR/words"
  status=$?
  if why=$(judge "$case" "$wanted" $status); then
    ok "$name: $wanted"
  else
    grep -v ^WARNING: "$TMPDIR/words" | head -1 | sed 's/^/    /'
    not_ok "$name: $wanted" "exit code $status, $(wc -l <"$TMPDIR/ours") events; $why"
  fi
  [ "$metadata" = "$trace/metadata" ] && [ $status -lt 3 ] &&
    check "$name reads the same by what we describe" reads_as_described "$case"
done < <(find "$data" -type d -name trace | sort)
