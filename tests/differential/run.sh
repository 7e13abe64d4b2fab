#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo cat --format babeltrace2, and details, against the installed babeltrace2, byte for byte: all CTF 1.8 traces of the
# shared data, small ones, random ones, and parts of these between two times, with options by chance; and against
# what version 2.1 printed, where the data holds it.
# KYMO_SEEDS="FIRST LAST" chooses the seeds of the random traces.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/differential/compare.sh"
data=${KYMO_SHARED:-/nonexistent}/data/ctf
here=$KYMO_SOURCE/tests/differential
read -r first last <<<"${KYMO_SEEDS:-1 $(rounds 100 15)}"
last=${last:-100}
export TZ=UTC LC_ALL=C.UTF-8
RANDOM=$first

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

# With sanitizers, one of 4 traces: kymo reads all of them for the comparison with version 2.1, and babeltrace2 takes much of the time.
installed_version() {
  local trace name why refused=0 every
  every=$(rounds 1 4)
  while IFS= read -r trace; do
    name=${trace#"$data"/}
    is_ctf2 "$trace" && continue
    why=$(differs "$name")
    [ -n "$why" ] && skip "$name" "$why" && continue
    if [ -f "$trace/metadata" ] && [ -z "$(head -1 "$trace/metadata" | tr -d '\0')" ]; then
      without_empty_line "$trace"
      trace=$TMPDIR/trace
    fi
    compare_all "$name" "$trace" 2>/dev/null || refused=$((refused + 1))
  done < <(find "$data" -type d -name trace | sort | awk "NR % $every == 0")
  skip 'traces that the installed babeltrace2 refuses' "$refused of them"
}

# compare_2_1 CASE FILE OPTION…: what 2.1 printed with these options, if FILE holds it
compare_2_1() {
  local case=$1 file=$1/$2 name="${1#"$data"/} as 2.1 prints it${3:+ with ${*:3}}" why
  shift 2
  if [ -f "$file.gz" ]; then zcat "$file.gz"; else cat "$file"; fi >"$TMPDIR/theirs" 2>/dev/null || return 0
  "$kymo" cat -f babeltrace2:2.1 "$@" "$case/trace" >"$TMPDIR/ours" 2>"$TMPDIR/our-words"
  if cmp -s "$TMPDIR/theirs" "$TMPDIR/ours" || why=$(python3 "$here/compare.py" "$TMPDIR/theirs" "$TMPDIR/ours"); then
    ok "$name"
  else
    grep -v ^WARNING: "$TMPDIR/our-words" | head -1 | sed 's/^/    /'
    not_ok "$name" "$why"
  fi
}

# warnings_2_1 CASE: the losses in 2.1's words
warnings_2_1() {
  local case=$1 name="losses of ${1#"$data"/} as 2.1 prints them" why
  [ -f "$case/expect.warnings" ] || return 0
  why=$(differs "${case#"$data"/}/expect.warnings") && [ -n "$why" ] && { skip "$name" "$why"; return 0; }
  check "$name" diff "$case/expect.warnings" <("$kymo" cat -f babeltrace2:2.1 "$case/trace" 2>&1 >/dev/null | sed "s,$case/trace,TRACE,g")
}

# The traces that 2.1 could read to the end.
version_2_1() {
  local verdict case
  while IFS= read -r verdict; do
    case=$(dirname "$verdict")
    grep -q '^status ok' "$verdict" && [ -d "$case/trace" ] || continue
    is_ctf2 "$case/trace" || compare_2_1 "$case" expect.text
    warnings_2_1 "$case"
    compare_2_1 "$case" expect.names.text --names=all --fields=all --clock-cycles --no-delta
  done < <(find "$data" -name verdict | sort)
}

small_traces() {
  local trace
  python3 "$here/small_traces.py" "$TMPDIR/small"
  for trace in "$TMPDIR"/small/*; do
    compare_all "small trace $(basename "$trace")" "$trace" 2>/dev/null ||
      not_ok "small trace $(basename "$trace")" 'babeltrace2 refuses it'
  done
}

random_traces() {
  local seed
  python3 "$here/random_trace.py" "$TMPDIR/random" "$first" "$last"
  for ((seed = first; seed <= last; seed++)); do
    compare_all "random trace $seed" "$TMPDIR/random/$seed" 2>/dev/null || skip "random trace $seed" 'babeltrace2 refuses it'
  done
}

windows() {
  local seed difference
  for ((seed = first; seed <= last && seed < first + $(rounds 20 6); seed++)); do
    difference=$(python3 "$here/windows.py" "$kymo" "$TMPDIR/random/$seed" $seed "$TMPDIR" 2>&1)
    if [ -z "$difference" ]; then
      ok "windows of random trace $seed"
    else
      printf '%s\n' "$difference" | head -8 | cut -c1-200 | sed 's/^/    /'
      not_ok "windows of random trace $seed" 'the events or losses differ'
    fi
  done
}

# A trace of some thousand packets has an index from the second window on.
indexed_windows() {
  local begin end trace=$TMPDIR/large
  ${KYMO_CC:-cc} -O1 -D_GNU_SOURCE "$KYMO_SOURCE/bench/ctf/generate.c" -o "$TMPDIR/generate" &&
    "$TMPDIR/generate" lttng "$trace" 3 200000 4096 || { not_ok 'windows of a large trace' 'it cannot be made'; return; }
  while read -r begin end; do
    "$kymo" cat -f babeltrace2 --begin="$begin" --end="$end" "$trace" >"$TMPDIR/ours" 2>&1
    babeltrace2 --begin="$begin" --end="$end" "$trace" >"$TMPDIR/theirs" 2>&1
    check "large trace, from $begin to $end" cmp "$TMPDIR/ours" "$TMPDIR/theirs"
    check "large trace, from $begin to $end: there are events" [ -s "$TMPDIR/ours" ]
  done <<'END'
1700000000.0199 1700000000.02
1700000000.0151 1700000000.0152
1700000000.0000001 1700000000.00001
1700000000.00999 1700000000.0100001
1700000000.0199999 1700000001
END
  check 'large trace: an index is kept' [ -s "$trace/.kymo/index" ]
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
windows
indexed_windows
