#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# What a traced program records, seen from outside: every kind of field, texts at the edges of memory, what switches
# tracepoints on, where traces go, saving at any time, the command line, and nothing at all without a request.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

build_checker
for program in edges points worker; do must_build $program; done

# ---- fields ----

expected_fields=$TMPDIR/fields.expected
sed -n 's,^ */\* = \(.*\) \*/$,\1,p' "$programs/fields.c" >"$expected_fields"
fields_are_read_back() {
  local trace
  fresh
  build fields fields.c "$@" || return 1
  traced "$bin/fields" || return 1
  trace=$(the_trace) || return 1
  payloads "$trace" >got
  diff "$expected_fields" got || return 1
  payloads_1 "$trace" | grep '^[a-z]' >got1 # it prints quotes and new lines as they are
  diff <(grep -v '^text:longer' "$expected_fields") <(grep -v '^text:longer' got1) || return 1
  [ ! -x "$kymo" ] || same_as_babeltrace2 "$trace"
}
check 'pitfall 18: fields from C' fields_are_read_back gcc -std=c11 -x c
check 'fields from C, not optimised' fields_are_read_back gcc -O0 -x c
check 'fields from C, texts without vectors' fields_are_read_back gcc -DKYMO_PLAIN_STRINGS -x c
check 'fields from C, position-independent and hidden' fields_are_read_back gcc -O3 -fPIC -fvisibility=hidden -x c
check 'pitfall 19: fields from C++' fields_are_read_back g++ -std=c++17 -x c++
check 'fields from C++11' fields_are_read_back g++ -std=c++11 -O0 -x c++
if [ -z "$sanitizer" ]; then
  check_by 'fields from C, clang' fields_are_read_back clang -Wno-unknown-warning-option -x c
  check_by 'fields from C++, clang' fields_are_read_back clang++ -Wno-unknown-warning-option -std=c++17 -x c++
  check 'fields from C, link-time optimisation' fields_are_read_back gcc -flto -x c
fi

texts_are_whole() {
  local trace
  fresh
  traced KYMO_BUFFER="${2:-256k}" "$bin/edges" "$1" || return 1
  trace=$(the_trace) || return 1
  payloads "$trace" >all
  [ -s all ] && grep -vE ': \{ want = "(.*)", got = "\1" \}$' all >wrong || return 0
  head -3 wrong
  return 1
}
check 'pitfall 20: texts before an unmapped page' texts_are_whole ends
check 'pitfall 3: texts across ends of packets' texts_are_whole packets 4M
changed_texts_keep_their_events_whole() {
  fresh
  traced KYMO_BUFFER=16M "$bin/edges" changing || return 1
  payloads "$(the_trace)" | python3 -c '
import re, sys
count = 0
for line in sys.stdin:
    m = re.fullmatch(r"edges:changing: \{ i = (\d+), a = \"x*\", b = \"x*\", c = \"x*\", d = \"x*\", check = (\d+) \}\n", line)
    assert m and int(m[2]) == int(m[1]) * 2654435761 % 2**32, line
    count += 1
assert count == 100000, count'
}
check 'pitfall 20: a text that changes while it is copied keeps its event whole' changed_texts_keep_their_events_whole

# ---- switching on ----

# enables PATTERNS NAMES…: exactly these tracepoints are recorded, and only their arguments evaluated
enables() {
  local patterns=$1 evaluated
  shift
  fresh
  evaluated=$(traced KYMO_ENABLE="$patterns" "$bin/points" evaluated) || return 1
  if [ $# = 0 ]; then
    [ ! -e out ] || { echo "something was recorded: $(event_names "$(the_trace)")"; return 1; }
  else
    expect "$(printf '%s\n' "$@" | sort | tr '\n' ' ' | sed 's/ $//')" event_names "$(the_trace)" || return 1
  fi
  [ "$evaluated" = $# ] || { echo "$evaluated arguments were evaluated"; return 1; }
}
every='net:rx net:tx net:error disk:read disk:write app.start app.stop.now'
check 'enable: everything' enables '*' $every
check 'enable: a name' enables net:rx net:rx
check 'enable: names, separated by commas' enables 'net:rx,disk:read' net:rx disk:read
check 'enable: blanks around names' enables ' net:rx , disk:read ' net:rx disk:read
check 'enable: a group' enables net net:rx net:tx net:error
check 'enable: a glob over groups' enables 'n*' net:rx net:tx net:error
check 'enable: a glob over names' enables '*:r*' net:rx disk:read
check 'enable: a set of characters' enables 'net:[rt]x' net:rx net:tx
check 'enable: a question mark' enables 'net:?x' net:rx net:tx
check 'enable: a dotted name' enables app.start app.start
check 'enable: a glob over dotted names' enables 'app.*' app.start app.stop.now
check 'enable: a regular expression' enables 're:^(net:t|disk:w)' net:tx disk:write
check 'enable: a regular expression that matches in the middle' enables 're:k:re' disk:read
check 'enable: all but one' enables '!net:rx' net:tx net:error disk:read disk:write app.start app.stop.now
check 'enable: a group but one of it' enables 'net,!net:error' net:rx net:tx
check 'enable: an exclusion wins at every place' enables '!net:error,net' net:rx net:tx
check 'enable: an excluded regular expression' enables '*,!re:^net' disk:read disk:write app.start app.stop.now
check 'enable: nothing that exists' enables 'no:such'
check 'enable: an empty list' enables ','
one_warning() { # one_warning TEXT PROGRAM…: exit status 0, and one line on stderr that holds TEXT
  local text=$1
  shift
  "$@" 2>err >/dev/null || { echo "exit code $?"; cat err; return 1; }
  [ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err && grep -q '^kymo: ' err || { cat err; return 1; }
}
wrong_regular_expression() {
  fresh
  one_warning 'cannot enable tracepoints: a parenthesis that is not closed' traced KYMO_ENABLE='re:(' "$bin/points" && [ ! -e out ]
}
check 'enable: a wrong regular expression is one warning, and nothing is recorded' wrong_regular_expression

# ---- not requested ----

leaves_nothing_behind() {
  fresh
  mkdir home run
  expect 'Threads:	1' env -u KYMO_ENABLE KYMO_CONTROL=0 HOME="$case_dir/home" XDG_RUNTIME_DIR="$case_dir/run" "$bin/points" self || return 1
  expect '0' env -u KYMO_ENABLE KYMO_CONTROL=0 "$bin/points" evaluated || return 1
  expect '-1' env -u KYMO_ENABLE KYMO_CONTROL=0 "$bin/points" save "$case_dir/saved" || return 1
  expect '-1' env -u KYMO_ENABLE KYMO_CONTROL=0 "$bin/points" thread || return 1
  [ -z "$(find . -type f)" ] && [ ! -e saved ] && [ -z "$(ls run)" ]
}
check 'with KYMO_CONTROL=0 alone there is no file, ring or thread' leaves_nothing_behind
# the other variables alone do not switch tracing on
settings_alone_do_nothing() {
  fresh
  expect 'Threads:	1' env -u KYMO_ENABLE KYMO_CONTROL=0 KYMO_OUT="$case_dir/out" KYMO_RINGS="$case_dir/rings" KYMO_MODE=discard KYMO_BUFFER=1M \
    "$bin/points" self || return 1
  [ ! -e out ] && [ ! -e rings ]
}
check 'KYMO_OUT, KYMO_RINGS, KYMO_MODE and KYMO_BUFFER alone make no rings' settings_alone_do_nothing
system_calls_of_nothing() {
  fresh
  strace -f -o calls -e trace=file,clone,clone3,mmap,memfd_create,ftruncate,socket env -u KYMO_ENABLE KYMO_CONTROL=0 "$bin/points" || return 1
  ! grep -E 'O_CREAT|mkdir|clone|PROT_WRITE, MAP_SHARED|memfd|ftruncate|socket|/dev/shm' calls
}
if [ -z "$sanitizer" ] && strace -o /dev/null true 2>/dev/null; then
  check 'pitfall 17: with KYMO_CONTROL=0 no system call makes anything' system_calls_of_nothing
else
  skip 'without variables no system call makes anything' 'strace cannot run here, or a sanitizer calls'
fi
set_user_id_programs_are_not_traced() { # a program that runs with more rights than its user trusts no variable
  fresh
  cp "$bin/points" points && chown nobody points && chmod 4755 . points || return 1
  chmod 755 "$TMPDIR" "$case_dir"
  traced ./points || return 1
  [ ! -e out ] && [ ! -e rings ]
}
if [ "$(id -u)" = 0 ] && [ -z "$sanitizer" ] && others_reach_library && ! findmnt -no OPTIONS -T "$TMPDIR" | grep -q nosuid; then
  check 'a set-user-ID program ignores the variables' set_user_id_programs_are_not_traced
else
  skip 'a set-user-ID program ignores the variables' 'needs root, a file system without nosuid, and a build folder that others may read'
fi
compiled_out() {
  fresh
  gcc -DKYMO_DISABLE -std=c11 -O0 -Wall -Wextra -Werror -I"$KYMO_SOURCE/include" "$programs/points.c" -o out_c || return 1
  g++ -DKYMO_DISABLE -std=c++17 -x c++ -O0 -Wall -Wextra -Werror -I"$KYMO_SOURCE/include" "$programs/points.c" -o out_cc || return 1
  for program in out_c out_cc; do
    ! nm $program | grep -i kymo || return 1
    ! readelf -SW $program | grep kymo_sites || return 1
    expect 0 env KYMO_ENABLE='*' ./$program evaluated || return 1
  done
}
check '-DKYMO_DISABLE leaves neither code nor data nor a library' compiled_out

# ---- settings ----

wrong_settings() {
  local setting
  for setting in KYMO_MODE=blocking KYMO_BUFFER=1 KYMO_BUFFER=2G KYMO_BUFFER=-1M KYMO_BUFFER=16q KYMO_BUFFER=1Mx KYMO_BUFFER= \
    KYMO_MODE=; do
    fresh
    case $setting in
      *=) traced "$setting" "$bin/points" 2>err || return 1; [ ! -s err ] || { cat err; return 1; } ;;
      *) one_warning "${setting#*=}" traced "$setting" "$bin/points" || return 1 ;;
    esac
    the_trace >/dev/null || return 1
  done
}
check 'a wrong value is one warning, and the default is taken' wrong_settings

# pool_numbers PROGRAM…: packets and their size, from the pool that a killed program leaves
pool_numbers() {
  traced KYMO_OUT=none "$@" "$bin/worker" -n 0 -k 10 -e kill >/dev/null 2>&1
  od -An -v -t u4 -j 44 -N 8 rings/*/rings | sed 's/^ *//; s/  */ /g'
}
buffer_sizes() {
  local setting size numbers
  for setting in 16k:16384 20k:32768 0x8000:32768 64K:65536 1M:1048576 4m:4194304 100000:131072; do
    fresh
    size=$(od -An -t u4 -j 36 -N 12 /dev/null; traced KYMO_BUFFER="${setting%:*}" "$bin/worker" -n 0 -k 10 -e kill >/dev/null 2>&1
      od -An -v -t u4 -j 36 -N 8 rings/*/rings)
    numbers=($size) # packet_size, packets
    [ "$((numbers[0] * numbers[1]))" = "${setting#*:}" ] || { echo "$setting: ${numbers[*]}"; return 1; }
  done
}
check 'KYMO_BUFFER is the size of a ring, rounded up to a power of two' buffer_sizes

modes() {
  fresh
  traced KYMO_BUFFER=16k KYMO_MODE=overwrite "$bin/worker" -n 20000 -c counters || return 1
  "$bin/check_trace" -g -c counters out/* >sums || return 1
  grep -q '^lost 0$' sums && ! grep -q '^overwritten 0$' sums || { cat sums; return 1; }
  fresh
  traced KYMO_BUFFER=16k KYMO_MODE=discard "$bin/worker" -n 20000 -c counters || return 1
  "$bin/check_trace" -c counters out/* >sums || return 1
  ! grep -q '^lost 0$' sums && grep -q '^overwritten 0$' sums || { cat sums; return 1; }
  payloads "$(the_trace)" | sed -n 's/.* seq = \([0-9]*\),.*/\1/p' | head -1 | grep -qx 0 # the oldest are kept
}
check 'KYMO_MODE: overwrite keeps the newest events, discard the oldest; both account for all' modes
other_clock() {
  fresh
  traced KYMO_CLOCK=monotonic "$bin/worker" -t 2 -n 3000 -c counters || return 1
  "$bin/check_trace" -g -c counters out/* || return 1
  grep -q 'name = monotonic' out/*/metadata && grep -q 'freq = 1000000000' out/*/metadata
}
check 'pitfall 13: KYMO_CLOCK=monotonic records with that clock' other_clock

# ---- the command line ----

arguments() {
  fresh
  expect '7
one
--two
--trace-modes=x
--
--trace=no' env KYMO_RINGS="$case_dir/rings" "$bin/points" --trace=* evaluated --trace-dir="$case_dir/out" one --two --trace-mode=discard \
    --trace-bufsz=32k --trace-modes=x -- --trace=no || return 1
  [ "$(event_names "$(the_trace)")" = "$(echo $every | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//')" ]
}
check 'kymo_args_apply removes its options and keeps the others' arguments
wrong_arguments() {
  fresh
  one_warning 'sideways' env KYMO_RINGS="$case_dir/rings" "$bin/points" --trace=* --trace-dir=out --trace-mode=sideways
}
check 'kymo_args_apply names a wrong value in one warning' wrong_arguments
arguments_over_variables() {
  fresh
  traced KYMO_ENABLE=net:rx "$bin/points" --trace=disk:read || return 1
  expect disk:read event_names "$(the_trace)"
}
check 'the command line wins over the variables' arguments_over_variables

# ---- where traces go ----

default_place() {
  fresh
  mkdir home
  TZ=UTC env -u KYMO_OUT KYMO_ENABLE='*' HOME="$case_dir/home" KYMO_RINGS="$case_dir/rings" "$bin/points" || return 1
  ls home/kymo-traces | grep -qxE "points-$(TZ=UTC date +%Y-%m)-[0-9]{2}-[AP]M-(0[1-9]|1[0-2])-[0-5][0-9]-[0-5][0-9]" || { ls -R home; return 1; }
}
check 'without a place traces go to ~/kymo-traces/NAME-yyyy-mm-dd-[AP]M-hh-mm-ss' default_place
saves_are_numbered() {
  fresh
  traced "$bin/points" >/dev/null && traced "$bin/points" >/dev/null && traced "$bin/points" || return 1
  [ "$(ls -d out/*/ | wc -l)" = 3 ] || { ls -R out; return 1; }
  for trace in out/*/; do [ "$("$bin/check_trace" "$trace" | head -1)" = 'events 7' ] || return 1; done
}
check 'several traces of one second lie side by side' saves_are_numbered
odd_names() {
  fresh
  for name in 'a b' 'quote"d' '-dash' "$(printf 'new\nline')" 'ünïcode' "$(printf 'n%.0s' {1..200})"; do
    cp "$bin/points" "./$name" || return 1
    rm -rf out
    traced "./$name" >/dev/null || { echo "$name"; return 1; }
    babeltrace2 out/* >text || { echo "$name"; return 1; }
    [ "$(wc -l <text)" = 7 ] || return 1
  done
}
check 'programs with odd names make readable traces' odd_names
rings_go_away() {
  fresh
  traced "$bin/points" || return 1
  [ -z "$(ls rings)" ] || { ls -R rings; return 1; }
}
check 'the rings of a program that has saved its trace are gone' rings_go_away
save_never() {
  fresh
  traced KYMO_SAVE=never "$bin/points" || return 1
  [ ! -e out ] && [ "$(ls rings | wc -l)" = 1 ] || { ls -R .; return 1; }
  [ ! -x "$kymo" ] || [ "$("$kymo" cat -f babeltrace2 rings/points-* | wc -l)" = 7 ]
}
check 'with KYMO_SAVE=never the rings stay' save_never
private_rings() {
  fresh
  umask 022
  traced KYMO_SAVE=never "$bin/points" || return 1
  [ "$(stat -c %a rings/points-*)" = 700 ] && [ "$(stat -c %a rings/points-*/rings)" = 600 ] && [ "$(stat -c %a rings)" = 700 ]
}
check 'rings are readable by their owner alone' private_rings
distrusted_places() { # a directory of rings that others may write to is not used
  fresh
  mkdir -m 777 run run/kymo
  chmod 777 run/kymo
  env -u KYMO_RINGS KYMO_SAVE=never KYMO_ENABLE='*' KYMO_OUT=out XDG_RUNTIME_DIR="$case_dir/run" "$bin/points" || return 1
  [ -z "$(ls run/kymo)" ] || { ls -R run; return 1; }
  rm -rf "/dev/shm/kymo-$(id -u)"/points-*
}
check 'a directory of rings that is open to others is not used' distrusted_places

no_place_for_the_trace() {
  fresh
  traced KYMO_OUT=/proc/x "$bin/points" 2>said || return 1
  grep -qxE "kymo: cannot save the trace: /proc/x/points-[-0-9APM]+: cannot make the directory: No such file or directory; the rings stay in $case_dir/rings/points-[0-9]+" said ||
    { cat -v said; return 1; }
}
check 'a trace that cannot be saved at exit: the place is named, and where the rings stay' no_place_for_the_trace

# ---- saving ----

save_twice() {
  fresh
  expect '0
0
-1
-1' traced "$bin/points" save a save b/c/d save a save /proc/none || return 1
  for trace in a b/c/d out/*; do [ "$("$bin/check_trace" "$trace" | head -1)" = 'events 7' ] || return 1; done
}
check 'kymo_rings_save makes a trace each time, and refuses a directory that is not empty' save_twice
save_while_threads_trace() {
  fresh
  mkdir saves
  traced KYMO_BUFFER=32k "$bin/worker" -t 4 -n 300000 -m -S saves -r 12 -c counters || return 1
  [ "$(ls saves | wc -l)" = 12 ] || return 1
  for trace in saves/*; do
    "$bin/check_trace" -q "$trace" && babeltrace2 -o dummy "$trace" 2>/dev/null || return 1
  done
  "$bin/check_trace" -q -g -c counters out/*
}
check 'pitfalls 2, 4, 10: kymo_rings_save while threads record at full speed tears nothing' save_while_threads_trace
save_in_discard_mode() {
  fresh
  mkdir saves
  traced KYMO_MODE=discard KYMO_BUFFER=32k "$bin/worker" -t 4 -n 50000 -S saves -r 5 -c counters || return 1
  for trace in saves/*; do "$bin/check_trace" -q "$trace" && babeltrace2 -o dummy "$trace" 2>/dev/null || return 1; done
  "$bin/check_trace" -q -c counters out/*
}
check 'kymo_rings_save in discard mode reads back, losses and all' save_in_discard_mode

exit 0
