# SPDX-License-Identifier: MIT
# Sourced by suites that hold kymo against the installed babeltrace2. The sourcing suite has sourced lib.sh.

kymo=$KYMO_BUILD/kymo

# compare NAME TRACE…: events and warnings of both; 77 if babeltrace2 refuses the traces
compare() {
  local name=$1 status why
  shift
  timeout 60 babeltrace2 "$@" >"$TMPDIR/theirs" 2>"$TMPDIR/their-words" || return 77
  "$kymo" cat -f babeltrace2 "$@" >"$TMPDIR/ours" 2>"$TMPDIR/our-words"
  status=$?
  if [ $status != 0 ]; then
    not_ok "$name" "kymo ended with $status: $(grep -v ^WARNING: "$TMPDIR/our-words" | head -1)"
  elif ! cmp -s "$TMPDIR/theirs" "$TMPDIR/ours" &&
    ! why=$(python3 "$KYMO_SOURCE/tests/differential/compare.py" "$TMPDIR/theirs" "$TMPDIR/ours"); then
    not_ok "$name" "$why"
  elif ! why=$(diff <(grep ^WARNING: "$TMPDIR/their-words") <(grep ^WARNING: "$TMPDIR/our-words")); then
    printf '%s\n' "$why" | head -8 | sed 's/^/    /'
    not_ok "$name" 'the losses differ'
  else
    ok "$name"
  fi
  return 0
}

# Each word or not, by chance, with commas between them.
some_of() {
  local words=() word
  for word; do ((RANDOM % 3)) || words+=("$word"); done
  (IFS=, && echo "${words[*]}")
}

# compare_options NAME TRACE…: the same as compare, with options by chance
compare_options() {
  local name=$1 options=() flag fields names
  shift
  for flag in --no-delta --clock-cycles --clock-date --clock-gmt --clock-seconds; do
    ((RANDOM % 3)) || options+=("$flag")
  done
  fields=$(some_of trace trace:hostname trace:domain trace:procname trace:vpid loglevel emf callsite)
  names=$(some_of payload context scope header)
  ((RANDOM % 8)) || fields=all
  ((RANDOM % 8)) || names=all
  ((RANDOM % 8)) || names=none
  [ -n "$fields" ] && options+=("--fields=$fields")
  [ -n "$names" ] && options+=("--names=$names")
  TZ=Asia/Kolkata compare "$name ${options[*]}" "${options[@]}" "$@"
}

# compare_details NAME TRACE…: what sink.text.details prints; 77 if babeltrace2 refuses the traces
compare_details() {
  local name="$1 in details" status why
  shift
  timeout 60 babeltrace2 "$@" -c sink.text.details >"$TMPDIR/theirs" 2>/dev/null || return 77
  "$kymo" cat -f details:2.0 "$@" >"$TMPDIR/ours" 2>"$TMPDIR/our-words"
  status=$?
  if [ $status != 0 ]; then
    not_ok "$name" "kymo ended with $status: $(head -1 "$TMPDIR/our-words")"
  elif ! cmp -s "$TMPDIR/theirs" "$TMPDIR/ours" &&
    ! why=$(python3 "$KYMO_SOURCE/tests/differential/compare.py" "$TMPDIR/theirs" "$TMPDIR/ours" details); then
    not_ok "$name" "$why"
  else
    ok "$name"
  fi
  return 0
}

# compare_all NAME TRACE…: in all ways; 77 if babeltrace2 refuses the traces
compare_all() { compare "$@" && compare_options "$@" && compare_details "$@"; }
