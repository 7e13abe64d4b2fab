#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The benchmarks work: each recorder's driver builds, records all cases and is in the table; large schemas have their
# numbers. How fast all that is, is asked by `make bench` on a quiet machine, not here.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

# of this suite: others have daemons of their own meanwhile
daemons() {
  local pid
  for pid in $(pgrep '^lttng-'); do
    tr '\0' '\n' <"/proc/$pid/environ" | grep -q "^LTTNG_HOME=$TMPDIR/" && echo "$pid"
  done 2>/dev/null | sort
}

daemons >"$TMPDIR/before"
"$KYMO_SOURCE/bench/run" --build "$KYMO_BUILD" --record-only --rounds 1 >"$TMPDIR/out" 2>"$TMPDIR/errors"
status=$?
cat "$TMPDIR/out" "$TMPDIR/errors" | sed 's/^/    /'
if [ $status = 0 ]; then ok 'bench/run ends well'; else not_ok 'bench/run ends well' "exit code $status"; fi

check 'bench/index ends well' "$KYMO_SOURCE/bench/index/run" --build "$KYMO_BUILD" --events 400000
check 'bench/cpel ends well' "$KYMO_SOURCE/bench/cpel/run" --build "$KYMO_BUILD" --events 20000
check 'bench/others ends well' "$KYMO_SOURCE/bench/others/run" --build "$KYMO_BUILD" --repeat 1 --rounds 20000
check 'bench/query ends well' "$KYMO_SOURCE/bench/query/run" --build "$KYMO_BUILD" --events 50000 --rounds 1
if "$KYMO_BUILD/kymo" convert nothing --to clickhouse -o http://127.0.0.1:1/k 2>&1 | grep -qF 'built without libcurl'; then
  skip 'bench/clickhouse ends well' 'built without libcurl'
else
  check 'bench/clickhouse ends well' "$KYMO_SOURCE/bench/clickhouse/run" --build "$KYMO_BUILD" --events 20000 --rounds 1
fi
check 'bench/view ends well' "$KYMO_SOURCE/bench/view/run" --build "$KYMO_BUILD" --events 50000 --tracks 6 --views 5 --rounds 1

for recorder in kymo DPDK LTTng-UST; do
  if grep -q "^$recorder: not installed" "$TMPDIR/out"; then
    skip "$recorder is measured" 'not installed (make test ALL=1)'
    continue
  fi
  check "$recorder is measured" grep -q "$recorder: ns, ratio" "$TMPDIR/out"
done
for case in disabled 'one u64' 'four ints' '16-byte string'; do
  numbers=$(grep "^$case  " "$TMPDIR/out" | head -1 | grep -oE '[0-9]+\.[0-9]+' | wc -l)
  if [ "$numbers" -ge 2 ]; then ok "$case has its numbers"
  else not_ok "$case has its numbers" "found $numbers"; fi
done
for what in 'one u64 / floor' 'code of a call site'; do
  check "the bar \"$what\" is judged" grep -qE "^$what.* (met|NOT MET)" "$TMPDIR/out"
done
check 'no daemon is left' test -z "$(daemons | comm -13 "$TMPDIR/before" -)"

"$KYMO_SOURCE/bench/schema/run" --build "$KYMO_BUILD" --rounds 1 --points 5 >"$TMPDIR/schema" 2>"$TMPDIR/errors"
status=$?
cat "$TMPDIR/schema" "$TMPDIR/errors" | sed 's/^/    /'
if [ $status = 0 ]; then ok 'bench/schema/run ends well'; else not_ok 'bench/schema/run ends well' "exit code $status"; fi
for what in 'open TSDL' 'open registry' 'merge two versions' 'registry instead of TSDL' 'type by name' 'to main, all off'; do
  check "$what is measured" grep -qE "^$what .*[0-9]\.[0-9]+ x " "$TMPDIR/schema"
done

for compiler in gcc clang; do
  check "bench/bprintf ends well with $compiler" "$KYMO_SOURCE/bench/bprintf/run" --build "$KYMO_BUILD" --compiler $compiler --rounds 1
done
check 'bench/header ends well' sh -c '"$1" --rounds 1 >"$2"' sh "$KYMO_SOURCE/bench/header/run" "$TMPDIR/header"
sed 's/^/    /' "$TMPDIR/header"
for what in header 'three integers' 'two integers, a text'; do
  check "the bar \"$what\" of the compiler's time is judged" grep -qE "^$what .*[0-9] ms  (met|NOT MET)" "$TMPDIR/header"
done
for tracer in sdt LTTng-UST; do
  if grep -q "^$tracer: not installed" "$TMPDIR/header"; then
    skip "the compiler's time for $tracer is measured" 'not installed (make test ALL=1)'
    continue
  fi
  check "the compiler's time for $tracer is measured" grep -qE "^$tracer, gcc( +-?[0-9.]+){3}$" "$TMPDIR/header"
done
check 'bench/jobs ends well, with the same bytes' "$KYMO_SOURCE/bench/jobs/run" --build "$KYMO_BUILD" --quick
check 'bench/merge ends well, with the same bytes' "$KYMO_SOURCE/bench/merge/run" --build "$KYMO_BUILD" --quick
