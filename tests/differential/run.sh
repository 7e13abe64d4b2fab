#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo cat --format babeltrace2 against the installed babeltrace2, byte for byte: all CTF 1.8 traces of the
# shared data, small ones, and random ones; and against what version 2.1 printed, where the data holds it.
# KYMO_SEEDS="FIRST LAST" chooses the seeds of the random traces.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
data=${KYMO_SHARED:-/nonexistent}/data/ctf
here=$KYMO_SOURCE/tests/differential
read -r first last <<<"${KYMO_SEEDS:-1 100}"
export TZ=UTC LC_ALL=C.UTF-8

# compare NAME TRACE: events and warnings of both; 77 if babeltrace2 refuses the trace
compare() {
  local name=$1 trace=$2 status why
  timeout 60 babeltrace2 "$trace" >"$TMPDIR/theirs" 2>"$TMPDIR/their-words" || return 77
  "$kymo" cat -f babeltrace2 "$trace" >"$TMPDIR/ours" 2>"$TMPDIR/our-words"
  status=$?
  if [ $status != 0 ]; then
    not_ok "$name" "kymo ended with $status: $(grep -v ^WARNING: "$TMPDIR/our-words" | head -1)"
  elif ! cmp -s "$TMPDIR/theirs" "$TMPDIR/ours" && ! why=$(python3 "$here/compare.py" "$TMPDIR/theirs" "$TMPDIR/ours"); then
    not_ok "$name" "$why"
  elif ! why=$(diff <(grep ^WARNING: "$TMPDIR/their-words") <(grep ^WARNING: "$TMPDIR/our-words")); then
    printf '%s\n' "$why" | head -8 | sed 's/^/    /'
    not_ok "$name" 'the losses differ'
  else
    ok "$name"
  fi
  return 0
}

# 2.0.4 wants the signature in the first line; some cases of the data begin with an empty one.
without_empty_line() {
  rm -rf "$TMPDIR/trace" && cp -rL "$1" "$TMPDIR/trace" && chmod -R u+w "$TMPDIR/trace" &&
    sed -i '1{/^$/d}' "$TMPDIR/trace/metadata"
}

# Where we differ on purpose: NAME, a tab, why.
differs() {
  grep -v '^#' "$here/differences" | grep -F -m1 "$1"$'\t' | cut -f2
}

# Whether the first metadata in it is of CTF 2, which 2.0.4 does not read; tests/ctf2 has these.
is_ctf2() { [ "$(find "$1" -name metadata -exec head -c1 {} \; -quit)" = $'\x1e' ]; }

installed_version() {
  local trace name why refused=0
  while IFS= read -r trace; do
    name=${trace#"$data"/}
    is_ctf2 "$trace" && continue
    why=$(differs "$name")
    [ -n "$why" ] && skip "$name" "$why" && continue
    if [ -f "$trace/metadata" ] && [ -z "$(head -1 "$trace/metadata" | tr -d '\0')" ]; then
      without_empty_line "$trace"
      trace=$TMPDIR/trace
    fi
    compare "$name" "$trace" 2>/dev/null || refused=$((refused + 1))
  done < <(find "$data" -type d -name trace | sort)
  skip 'traces that the installed babeltrace2 refuses' "$refused of them"
}

# What 2.1 printed of the traces that it could read to the end.
version_2_1() {
  local verdict case name why
  while IFS= read -r verdict; do
    case=$(dirname "$verdict")
    name="${case#"$data"/} as 2.1 prints it"
    grep -q '^status ok' "$verdict" && [ -d "$case/trace" ] && ! is_ctf2 "$case/trace" || continue
    if [ -f "$case/expect.text.gz" ]; then
      zcat "$case/expect.text.gz"
    else
      cat "$case/expect.text"
    fi >"$TMPDIR/theirs" 2>/dev/null
    "$kymo" cat -f babeltrace2 "$case/trace" >"$TMPDIR/ours" 2>"$TMPDIR/our-words"
    if cmp -s "$TMPDIR/theirs" "$TMPDIR/ours" || why=$(python3 "$here/compare.py" "$TMPDIR/theirs" "$TMPDIR/ours" loose); then
      ok "$name"
    else
      grep -v ^WARNING: "$TMPDIR/our-words" | head -1 | sed 's/^/    /'
      not_ok "$name" "$why"
    fi
  done < <(find "$data" -name verdict | sort)
}

small_traces() {
  local trace
  python3 "$here/small_traces.py" "$TMPDIR/small"
  for trace in "$TMPDIR"/small/*; do
    compare "small trace $(basename "$trace")" "$trace" 2>/dev/null ||
      not_ok "small trace $(basename "$trace")" 'babeltrace2 refuses it'
  done
}

random_traces() {
  local seed
  python3 "$here/random_trace.py" "$TMPDIR/random" "$first" "$last"
  for ((seed = first; seed <= last; seed++)); do
    compare "random trace $seed" "$TMPDIR/random/$seed" 2>/dev/null || skip "random trace $seed" 'babeltrace2 refuses it'
  done
}

if [ -d "$data" ]; then
  version_2_1
else
  skip 'as 2.1 prints it' 'KYMO_SHARED is not there'
fi
if ! command -v babeltrace2 >/dev/null; then
  skip 'as the installed babeltrace2 prints it' 'it is not installed'
  exit 0
fi
[ -d "$data" ] && installed_version
small_traces
random_traces
