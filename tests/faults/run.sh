#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Memory and files that fail: each allocation of a command, and each of its system calls on files, fails once, in a run of its own
# (shim.c, sweep.c). The command must end without a crash, with words and an exit status that is not 0, unless nothing is missing from
# what it prints and writes.
#
#   KYMO_FAULTS=all   every call, and every one with all that follow; else as many as two processors do in two minutes
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
here=$KYMO_SOURCE/tests/faults
cd "$TMPDIR" || exit 1
# An installed description reads CPEL too. After a fault in the probe of the CPEL reader the events would come from there, spelled in another way.
export KYMO_DESCRIPTIONS=$TMPDIR/none
${KYMO_CC:-gcc} -D_GNU_SOURCE -g -O1 -Wall -Wextra -Wshadow -Werror -shared -fPIC -o faults.so "$here/shim.c" "$here/sweep.c" -ldl >said 2>&1 ||
  { cat said; not_ok 'the library of faults builds' 'it does not'; exit 1; }

# ---- what is read ----

python3 "$here/data.py" "$TMPDIR/data" && cd "$TMPDIR/data" && python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" ctf1 &&
  "$kymo" convert -q ctf1 --to ctf2 --output ctf2 && "$kymo" convert -q some.ev --output some.cpel &&
  python3 "$KYMO_SOURCE/tests/cpel/elog.py" random 3 some.elog >/dev/null || { not_ok 'data is made' 'it is not'; exit 1; }
programs=$KYMO_SOURCE/tests/recorder-printf
must_build kinds
programs=$KYMO_SOURCE/tests/recorder
must_build worker
programs=$KYMO_SOURCE/tests/streams
must_build program
KYMO_ENABLE='*' KYMO_OUT=$PWD/out KYMO_RINGS=$TMPDIR/none "$bin/kinds" >/dev/null && mv out/* recorded && rmdir out
KYMO_ENABLE='*' KYMO_RINGS=$PWD/rings "$bin/worker" -t 2 -n 100 -e kill 2>/dev/null
mkdir frames && (cd frames && "$bin/program" text log framed small >/dev/null)
cp "$KYMO_SOURCE/descriptions/pcap.tdl" .
rings=$(echo rings/*)
[ -e recorded/metadata ] && [ -e "$rings/rings" ] && [ -e frames/log_thread0 ] || { not_ok 'data is recorded' 'it is not'; exit 1; }

# ---- the sweep ----

most=100
kinds=alloc,io,short
[ "${KYMO_FAULTS:-}" = all ] && kinds=alloc,alloc+,io,io+,short most=0

# sweep ARGUMENTS… of kymo, words of which that are files here become absolute
sweep() {
  local name="$*" arguments=() word report=$TMPDIR/sweep.$BASHPID
  for word; do
    [ -e "$word" ] && word=$PWD/$word
    arguments+=("$word")
  done
  FAULTS=$kinds FAULTS_NAME="$name" FAULTS_MOST=$most LD_PRELOAD=$TMPDIR/faults.so "$kymo" "${arguments[@]}" >"$report" 2>&1
  cat "$report"
  if ! grep -q ' calls' "$report" || grep -qE '^  BAD|CANNOT RUN' "$report"; then
    printf 'not ok kymo %s: a fault is not reported\n' "$name"
  else
    printf 'ok kymo %s\n' "$name"
  fi
}

# sweep_all: of each line of the input, on two processors
sweep_all() {
  local part
  cat >commands
  for part in 0 1; do
    while read -ra line; do sweep "${line[@]}"; done < <(grep -v '^$' commands | sed -n "$((part + 1))~2p") >"report.$part" &
  done
  wait
  cat report.0 report.1
}

# What a snapshot holds depends on when it is made.
FAULTS_LOOSE=1 sweep snapshot "$rings" -o out
sweep_all <<END
cat ctf1
cat -f json ctf1
cat -f csv ctf1
cat -f details ctf1
cat -f babeltrace2 ctf1
cat -f generic ctf1
cat ctf2
cat -f details ctf2
cat some.cpel
cat -f cpel some.cpel
cat some.elog
cat --gist-header some.h some.ev
cat -f json recorded
cat $rings
cat frames/log_thread0
cat --key some.tdl some.bin
cat --key pcap.tdl some.pcap
cat --key some.tdl --filter kind="open" some.bin
cat ctf1 recorded
info ctf1
info --json ctf1
info some.cpel
info --key some.tdl some.bin
info frames/log_thread0
info $rings
stat counts ctf1
stat counts some.cpel
stat histogram port ctf1
describe ctf1
describe -a doc some.tdl
describe -a tsdl ctf2
compile -o out.key some.tdl
compile --key some.tdl -o out.filter some.fdl
explain --key some.tdl some.bin
check ctf1
check --key some.tdl some.bin
infer ctf1
list ctf1
list $bin/worker
convert ctf1 -o out
convert ctf1 --to ctf2 -o out
convert some.cpel --to cpel -o out.cpel
convert ctf1 --to cpel -o out.cpel
convert frames/log_thread0 --to stream -o out
convert frames/log_thread0 --to raw -o out
convert --key some.tdl some.bin -o out
merge ctf1 recorded -o out
merge frames/log_thread0 -o out
END
