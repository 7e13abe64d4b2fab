#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Shows the main job on a real program: records what SQLite does to its files, then looks at the trace.
# `make demo` builds first; this script only runs what is there, and can be repeated.
#
#   demo.sh [BUILD [DIRECTORY]]    default: build, BUILD/demo
set -euo pipefail
export LC_ALL=C.UTF-8

build=${1:-build}
source=$(dirname "$(dirname "$(realpath "$0")")")
demo=${2:-$build/demo}
trace=$demo/trace

step() { printf '\n── %s\n' "$1"; }

# run COMMAND…: shows it, and runs it
run() {
  printf '$ %s\n' "$*"
  "$@"
}

for program in "$build/kymo" "$build/examples/sqlite-io"; do
  [ -x "$program" ] || { echo "demo: $program is not there; \`make demo\` builds it (it needs libsqlite3-dev)" >&2; exit 1; }
done
rm -rf "$demo/trace" "$demo/databases"
mkdir -p "$demo"

step 'A bank on SQLite, with several writers and readers, a write-ahead log and a rollback journal: recorded'
run "$build/kymo" record -o "$trace" -- "$build/examples/sqlite-io" --directory "$demo/databases"

step 'What the trace holds'
run "$build/kymo" info "$trace"

# 141: head has what it wants and closes the pipe.
step 'Its first twenty events, after a line with their date'
printf '$ %s\n' "$build/kymo cat $trace | head -21"
"$build/kymo" cat "$trace" | head -21 || [ "${PIPESTATUS[0]}" = 141 ]

step 'The five slowest syncs, and the statements that waited for them'
printf '$ %s\n' "$build/kymo cat --format json $trace | examples/slowest-syncs.py 5"
"$build/kymo" cat --format json "$trace" | python3 "$source/examples/slowest-syncs.py" 5

printf '\nThe trace is CTF: babeltrace2 %s reads it, and so does Trace Compass.\n' "$trace"
