#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Running processes are listed, switched and commanded from outside, also those that were started without any of our variables.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'control of running processes' 'the command kymo is not built'
  exit 77
fi
for program in points worker; do must_build $program; done
programs=$control must_build many many.c gcc -O0 # half a thousand call sites are much to optimise
programs=$control must_build switches
programs=$control must_build levels
programs=$control must_build long_names long_names.c gcc "-fmacro-prefix-map=$control=/srv/frontend/src/pool"
programs=$control must_build plugin.so plugin.c gcc -shared -fPIC

# ---- listing and switching ----

listing() {
  fresh
  start_process "$bin/points" wait || return 1
  "$kymo" list >list && grep -qE "^ +$pid +7 +0  points +overwrite$" list || { cat list; return 1; }
  "$kymo" list --brief | grep -qx "$pid" || return 1
  "$kymo" list $pid >list && grep -qE '^off  -         net:rx     .*points\.c:[0-9]+$' list && [ "$(wc -l <list)" = 7 ] || { cat list; return 1; }
  expect "$("$kymo" list --brief "$bin/points" | sort -u)" "$kymo" list --brief $pid
  end_process
  [ -S "$XDG_RUNTIME_DIR/kymo/control-$pid" ] || return 1 # it was not removed in time
  ! "$kymo" list --brief | grep -x $pid && [ ! -e "$XDG_RUNTIME_DIR/kymo/control-$pid" ]
}
switching() { # switching PATTERNS TRACEPOINTS: what is on after them
  local pattern
  fresh
  start_process "$bin/many" -w 1000 || return 1
  expect '0' on_in $pid || return 1
  expect '100 tracepoints enabled' "$kymo" enable $pid 'many:p1*' && expect 100 on_in $pid || return 1
  expect '10 tracepoints disabled' "$kymo" disable $pid 'many:p10?' && expect 90 on_in $pid || return 1
  expect '1 tracepoint enabled' "$kymo" enable $pid many:p105 && expect 91 on_in $pid || return 1
  expect '2 tracepoints enabled' "$kymo" enable $pid 're:p(499|498)$' && expect 93 on_in $pid || return 1
  expect '500 tracepoints disabled' "$kymo" disable $pid many && expect 0 on_in $pid || return 1
  expect '400 tracepoints enabled' "$kymo" enable $pid 'many:*' '!many:p0*' && expect 400 on_in $pid || return 1
  expect '500 tracepoints disabled' "$kymo" disable $pid '*' && expect 0 on_in $pid
  end_process
}
check 'kymo list: processes that were started without a variable, and their tracepoints' listing
check 'kymo enable, disable: names, globs, groups, regular expressions, exclusions; the later counts' switching
times() { # times COUNT TEXT
  local many
  printf -v many '%*s' "$1" ''
  printf %s "${many// /$2}"
}
untrusted_patterns() {
  fresh
  start_process "$bin/points" wait || return 1
  refuses 3 'kymo enable: groups are nested deeper than 64' "$kymo" enable $pid "re:$(times 200 '(')" || return 1
  refuses 3 'kymo enable: a pattern of more than 4096 steps' "$kymo" enable $pid "re:none$(times 2000 '|many:name')" || return 1
  expect '7 tracepoints enabled' "$kymo" enable $pid "re:$(times 1500 '(a)?')" && expect 7 on_in $pid || return 1
  refuses 3 'kymo enable: groups are nested deeper than 64' "$kymo" enable $pid "re:$(times 30000 '(')" || return 1
  expect 7 on_in $pid || return 1
  end_process
  KYMO_ENABLE="re:$(times 30000 '(')" "$bin/points" >printed 2>said || { echo "status $?"; cat said; return 1; }
  expect 'kymo: cannot enable tracepoints: groups are nested deeper than 64' cat said || return 1
  KYMO_ENABLE='*' KYMO_OUT=$case_dir/saved "$bin/points" >printed || return 1
  refuses 2 "kymo cat: --event re:$(times 30000 '('): groups are nested deeper than 64" "$kymo" cat --event "re:$(times 30000 '(')" saved
}
check 'no pattern ends a program: nested groups, many alternatives, many groups that may be missing' untrusted_patterns
levels() {
  fresh
  start_process "$bin/levels" || return 1
  expect '1 tracepoint enabled' "$kymo" enable --level warning $pid && expect 'levels:bad' on_names || return 1
  expect '3 tracepoints enabled' "$kymo" enable -l debug_system $pid 'levels:*' && expect 'levels:bad levels:odd levels:step' on_names || return 1
  expect '2 tracepoints disabled' "$kymo" disable -l 5 $pid levels && expect 'levels:step' on_names || return 1
  expect 'on   debug:system' sh -c "'$kymo' list $pid | grep levels:step | cut -c1-17" || return 1
  refuses 2 "kymo enable: there is no level \"loud\"
Try \`kymo enable --help' or \`kymo enable --usage' for more information." "$kymo" enable -l loud $pid levels || return 1
  end_process
}
on_names() { "$kymo" list $pid | sed -n 's/^on .*\(levels:[a-z]*\) .*/\1/p' | tr '\n' ' ' | sed 's/ $//'; }
check 'kymo enable --level: tracepoints of that level and more urgent ones' levels
table_of_points() { # as wide as the terminal, and whole where there is none
  fresh
  start_process "$bin/long_names" || return 1
  "$kymo" enable $pid net:rx >printed || return 1
  local width
  for width in 160 80 40; do golden_table control points $width "$kymo" list $pid || return 1; done
  env -u COLUMNS "$kymo" list $pid >list && golden_table control points 160 cat list || return 1
  expect 'on - net:rx /srv/frontend/src/pool/long_names.c:9' eval "awk '/net:rx/ { print \$1, \$2, \$3, \$4 }' list" || return 1
  end_process
}
check 'the tracepoints of a process fit the terminal' table_of_points
takes_effect() {
  fresh
  start_process "$bin/worker" -t 2 -n 0 -w 200 || return 1
  [ -z "$(rings_of $pid)" ] || { echo 'there are rings before anything is on'; return 1; }
  "$kymo" enable $pid work:pair || return 1
  has_events() { [ "$(count_events "$(rings_of $pid)")" -gt 20 ]; }
  until_true has_events || return 1
  expect 'work:pair ' sh -c "'$kymo' cat -q '$(rings_of $pid)' | grep -o 'work:[a-z]*' | sort -u | tr '\n' ' '" || return 1
  "$kymo" disable $pid work || return 1
  # an event in progress may still be published
  sleep 0.05
  local before=$(count_events "$(rings_of $pid)")
  sleep 0.2
  expect "$before" count_events "$(rings_of $pid)" || return 1
  end_process
}
check 'enabling makes rings and takes effect in running threads, disabling ends it' takes_effect
modes() {
  fresh
  start_process "$bin/many" || return 1
  expect overwrite "$kymo" mode $pid && "$kymo" mode $pid discard && expect discard "$kymo" mode $pid || return 1
  "$kymo" enable $pid many:p001 || return 1
  is_full() { "$kymo" cat "$(rings_of $pid)" | grep -q '^# lost'; }
  until_true is_full || return 1
  newest() { "$kymo" cat -q -f babeltrace2 "$(rings_of $pid)" | tail -1; }
  local before=$(newest)
  [ "$(newest)" = "$before" ] || { echo 'discard: the ring changes though it is full'; return 1; }
  "$kymo" mode $pid overwrite || return 1
  changed() { [ "$(newest)" != "$before" ]; }
  until_true changed || return 1
  end_process
}
check 'kymo mode: a running process goes from discard to overwrite and back' modes
variables_still_count() {
  fresh
  start_process KYMO_ENABLE='many:p00*' KYMO_MODE=discard KYMO_SAVE=never "$bin/many" -w 1000 || return 1
  expect 10 on_in $pid && expect discard "$kymo" mode $pid || return 1
  "$kymo" disable $pid many:p003 && expect 9 on_in $pid || return 1
  "$kymo" enable $pid many:p003 && expect 10 on_in $pid
  end_process
}
check 'what the variables have switched on can be switched off' variables_still_count

# ---- from within ----

functions() {
  fresh
  "$bin/switches" "$bin/plugin.so" || return 1
  [ "$(count_events saved)" = 1 ]
}
check 'the functions switch, look up, report, and apply to libraries that come later' functions
many_threads_switch() {
  fresh
  KYMO_BUFFER=16k "$bin/switches" "$bin/plugin.so" storm || return 1
  "$kymo" cat -q stormy | tail -2 | grep -q sw:two
}
check 'four threads switch while four record and one loads and unloads a library' many_threads_switch

large_thread_locals() {
  fresh
  cat >large.c <<'EOF'
#include <kymo/trace.h>
#include <unistd.h>
static __thread char large[1 << 20];
int main(int argc, char **argv) {
  (void)argv;
  large[argc] = 1;
  KYMO(large, event, large[0]);
  return pause();
}
EOF
  programs=$case_dir build large && start_process "$bin/large" && "$kymo" list $pid >list && grep -q 'large:event' list || { cat list; return 1; }
  end_process
}
check 'a program whose thread-local variables are larger than a small stack' large_thread_locals

# ---- refusals ----

refusals() {
  local free=4194303
  fresh
  refuses 3 "kymo list: there is no process $free" "$kymo" list $free || return 1
  refuses 3 "kymo enable: there is no process $free" "$kymo" enable $free net || return 1
  run_process sleep 1000
  until_true grep -q sleep /proc/$pid/comm
  refuses 3 "kymo list: process $pid (sleep) has no tracepoints, or its control is off" "$kymo" list $pid || return 1
  end_process
  refuses 2 "kymo mode: the mode is discard or overwrite, not \"x\"
Try \`kymo mode --help' or \`kymo mode --usage' for more information." "$kymo" mode 1 x || return 1
  start_process "$bin/points" wait || return 1
  refuses 1 "kymo enable: no tracepoint of process $pid matches no:such; libraries it loads later may have one" "$kymo" enable $pid no:such || return 1
  refuses 3 'kymo enable: a parenthesis that is not closed' "$kymo" enable $pid 're:(' || return 1
  refuses 1 "kymo enable: no tracepoint of process $pid matches *; libraries it loads later may have one" "$kymo" enable $pid --level warning || return 1
  stop_process || return 1
  refuses 3 "kymo enable: process $pid (points) does not answer: it is stopped; its rings can be read: kymo snapshot $pid" "$kymo" enable $pid net || return 1
  "$kymo" list 2>&1 | grep -qE "^ +$pid +- +- +points +does not answer$" || return 1
  kill -CONT $pid
  until_true "$kymo" list $pid
  end_process
}
check 'what cannot be done is refused: no process, no tracepoints, no match, a stopped process' refusals
left_out() {
  fresh
  run_process KYMO_CONTROL=0 "$bin/points" wait && until_true grep -q ready printed || return 1
  refuses 3 "kymo list: process $pid (points) has no tracepoints, or its control is off" "$kymo" list $pid || return 1
  expect 'Threads:	1' grep Threads /proc/$pid/status || return 1
  end_process
  programs=$KYMO_SOURCE/tests/recorder build points-without points.c gcc -DKYMO_NO_CONTROL || return 1
  run_process "$bin/points-without" wait && until_true grep -q ready printed || return 1
  expect 'Threads:	1' grep Threads /proc/$pid/status
  end_process
}
check 'KYMO_CONTROL=0, and programs compiled with -DKYMO_NO_CONTROL: no socket, no thread' left_out

# ---- manual pages ----

examples() { # of pages about a process 1234, a server that has recorded something, and about a trace
  local page line
  fresh
  "$kymo" record -q -o mytrace -- "$bin/points" || return 1
  if [ -z "$sanitizer" ]; then # which has to be loaded before all other libraries
    gcc -O0 -finstrument-functions "$KYMO_SOURCE/tests/functions/program.c" -o program -ldl || return 1
    "$kymo" record -q -o functions --calls functions -- ./program || return 1
  fi
  python3 "$KYMO_SOURCE/tests/spans/table_trace.py" requests && python3 "$KYMO_SOURCE/tests/schedule/made.py" both || return 1
  mkdir tools && ln -s "$kymo" tools/kymo
  start_process KYMO_ENABLE='disk:*' KYMO_SAVE=never "$bin/points" wait || return 1
  for page; do
    while IFS= read -r line; do
      [ -d functions ] || [[ $line != *' functions' ]] || continue
      line=${line//"/dev/shm/kymo-0/server-1234"/$(rings_of $pid)}
      PATH=$case_dir/tools:$PATH bash -o pipefail -c "${line//1234/$pid}" || { echo "$page(1): $line"; return 1; }
    done < <(sed -n 's/^\$ //p' "$KYMO_SOURCE/docs/man/$page.1" | sed 's/\\e/\\/g')
    [ -z "$(groff -mdoc -ww -Tutf8 "$KYMO_SOURCE/docs/man/$page.1" 2>&1 >/dev/null)" ] || { echo "$page(1) has mistakes"; return 1; }
  done
  end_process
}
check 'kymo-enable(1), kymo-mode(1), kymo-stat(1), kymo-snapshot(1): the examples work' examples kymo-enable kymo-mode kymo-stat kymo-snapshot

exit 0
