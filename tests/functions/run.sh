#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# kymo record --calls functions: functions of programs compiled with -finstrument-functions, by name, also of libraries that
# come and go at the same address.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'kymo record --calls functions' 'the command kymo is not built'
  exit 77
fi
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS LD_PRELOAD
programs=$KYMO_SOURCE/tests/functions
prepare() {
  fresh
  gcc -O1 -Wall -Wextra -Werror -finstrument-functions "$programs/program.c" -o program -ldl || return 1
  for name in first other; do
    echo "int ${name}_inner(int n); int $name(int n);
      __attribute__((noinline)) int ${name}_inner(int n) { return n + 1; }
      int $name(int n) { return ${name}_inner(n) * 2; }" | gcc -O0 -finstrument-functions -shared -fPIC -x c - -o lib$name.so || return 1
  done
}
record() { "$kymo" record -q -o out --calls functions "$@" 2>said || { echo "exit code $?"; cat said; return 1; }; }
# what was entered and left, by name
names() { "$kymo" cat -q "$@" | sed -nE 's/.*functions:(enter|exit) function = 0x[0-9a-f]+( <([^>]*)>)?.*/\1 \3/p'; }

by_name() {
  prepare && record -- ./program || return 1
  names out >seen
  diff - seen <<'END'
enter main+0x0
enter outer+0x0
enter inner+0x0
exit inner+0x0
exit outer+0x0
exit main+0x0
END
}
check 'each function by name, entered and left' by_name
# beside tracepoints, whose own functions are none of the program
with_tracepoints() { # COMPILER…
  fresh
  "$@" -Wall -Wextra -Werror -finstrument-functions -I"$KYMO_SOURCE/include" "$programs/traced.c" -o traced -L"$KYMO_BUILD" -lkymo-trace -Wl,-rpath,"$KYMO_BUILD" || return 1
  record -- ./traced || return 1
  names out | grep -vE ' (main|work(\(int\))?)[+]0x0$' | head -3 >others
  [ ! -s others ] || { cat others; return 1; }
  "$kymo" info out >about && grep -qxE 'events +26' about && grep -qxE 'duration +[0-9.]+ [mu]s' about || { cat about; return 1; }
}
check 'beside tracepoints' with_tracepoints gcc
check 'beside tracepoints, not optimised' with_tracepoints gcc -O0
check 'beside tracepoints, C++' with_tracepoints g++ -x c++ -std=c++11 -O0
check_by 'beside tracepoints, clang' with_tracepoints clang -O0
callers() {
  prepare && record -- ./program && "$kymo" cat -q out | grep -qE 'function = 0x[0-9a-f]+ <inner\+0x0>, caller = 0x[0-9a-f]+ <outer\+0x[0-9a-f]+>$' &&
    "$kymo" cat -q -f json out | jq -c 'select(.event == "functions:enter" and .fields.function.symbol == "inner+0x0" and (.fields.caller.symbol | startswith("outer+0x")) and .fields.function.value > 0)' | grep -q . &&
    babeltrace2 out | grep -q 'functions:enter:' && "$kymo" cat -f babeltrace2 out | cmp - <(babeltrace2 out)
}
check 'callers, in text and JSON; the numbers stay for other readers' callers
libraries() { # one takes the place of the other
  prepare && record -- ./program "$PWD/libfirst.so" first ./libother.so other "$PWD/libfirst.so" first || return 1
  names out | grep -E 'first|other' >seen
  diff - seen <<'END' || return 1
enter first+0x0
enter first_inner+0x0
exit first_inner+0x0
exit first+0x0
enter other+0x0
enter other_inner+0x0
exit other_inner+0x0
exit other+0x0
enter first+0x0
enter first_inner+0x0
exit first_inner+0x0
exit first+0x0
END
  [ "$(grep -c '^unload ' out/.kymo/modules)" = 3 ] || { cat out/.kymo/modules; return 1; }
}
check 'libraries that are opened and closed, at the same address' libraries
other_file() { # neither a missing file nor another one of that name is believed
  prepare && record -- ./program && cp program was || return 1
  mv program elsewhere && ! names out | grep -q '[a-z]+0x' || return 1
  sed 's/n + 1/n + 2/' "$programs/program.c" | gcc -O1 -finstrument-functions -x c - -o program -ldl && ! names out | grep -q '[a-z]+0x' || return 1
  names out | grep -qx 'enter ' && mv elsewhere program && names out | grep -q 'inner+0x0'
}
check 'a file that is gone or was built anew: the number stays' other_file
cut_file() { # said once, whatever asks for names, and what is there is shown
  prepare && record -- ./program && truncate -s 5000 program || return 1
  "$kymo" cat --filter 'function <> "main"' out >text 2>said
  [ $? = 1 ] && grep -q 'function = 0x' text && [ "$(wc -l <said)" = 1 ] && grep -q "^kymo cat: $PWD/program: cannot read its symbols, addresses are shown: " said || { cat said; return 1; }
}
check 'a program that cannot be read is damage' cut_file
rings() { # a dead process's rings have the map too
  prepare && KYMO_RINGS=$PWD/rings KYMO_SAVE=never KYMO_ENABLE='functions:*' LD_PRELOAD=$KYMO_BUILD/libkymo-functions.so ./program && names rings/program-* | grep -qx 'enter inner+0x0'
}
check 'rings as they are' rings
forked() {
  prepare && record -- sh -c './program & ./program; wait' && [ "$(names out | grep -c 'enter inner')" = 2 ]
}
check 'several processes' forked
parts() {
  prepare && record --rotate 1s -- sh -c './program; sleep 1.2; ./program' && [ "$(names out/part-000002 | grep -c 'enter inner')" = 1 ] && [ "$(names out | grep -c 'enter inner')" = 2 ]
}
check 'each part has its map' parts
with_libc() {
  prepare && record --calls libc:malloc -- ./program ./libfirst.so first && [ "$(names out | grep -c 'enter inner')" = 1 ] && "$kymo" cat -q out | grep -q libc:malloc
}
check 'together with libc' with_libc
damaged() {
  prepare && record -- ./program && printf 'load x\n' >>out/.kymo/modules && "$kymo" cat out >text 2>said
  [ $? = 1 ] && grep -q 'modules.*expected load or unload with times and addresses' said && grep -q '<inner+0x0>' text || { cat said; return 1; }
  printf 'load 1 2' >>out/.kymo/modules # what is being written
  sed -i '/^load x/d' out/.kymo/modules && "$kymo" cat -q out >text && grep -q '<inner+0x0>' text
}
check 'a load map with a line that makes no sense' damaged
untrusted() { # names of symbols and files are anybody's
  prepare && record -- ./program && mkfifo pipe || return 1
  sed -i "s,$PWD/program,$PWD/pipe," out/.kymo/modules && timeout 20 "$kymo" cat -q out >text && grep -q 'functions:enter' text || return 1
  sed -i "s,$PWD/pipe,/dev/zero," out/.kymo/modules && timeout 20 "$kymo" cat -q out >text && grep -q 'functions:enter' text
}
check 'a load map that names a pipe or a device' untrusted
odd_notes() { # a note whose size is no multiple of 4, at the end of its segment
  fresh
  cat >odd.c <<'EOF'
__asm__(".pushsection .note.odd, \"a\", %note\n.long 4, 0x1001, 7\n.asciz \"ODD\"\n.fill 0x1001, 1, 65\n.popsection");
int main(void) { return 0; }
EOF
  gcc -finstrument-functions -Wl,--build-id=none odd.c -o odd && record -- ./odd && grep -q '^load .* - .*/odd$' out/.kymo/modules
}
check 'a program with a note that is not padded' odd_notes

# ---- statistics ----

statistics() { # calls, total and self time; recursion counts once, and each call is left where it was entered
  fresh
  gcc -O0 -finstrument-functions "$programs/deep.c" -o deep -pthread && record -- ./deep || return 1
  "$kymo" stat functions --json out >rows || return 1
  jq -r 'select(.function) | "\(.function) \(.calls) \(.measured)"' rows | sort >seen
  diff - seen <<'END' || return 1
even 11 11
fib 354 354
jumper 1 1
leaper 1 1
main 1 1
odd 10 10
quit 1 1
rec 100 100
END
  # what calls nothing else has itself as its total, to the nanosecond; main holds all of its thread
  jq -se 'map(select(.function)) | INDEX(.function) | .rec.total == .rec.self and .fib.total == .fib.self and .even.total == .even.self + .odd.self
    and .main.total >= .rec.total + .even.total + .jumper.total + .quit.total and .main.self < .main.total and .odd.total < .even.total' rows >printed || { cat rows; return 1; }
  grep -qxF '{"left_by_caller":1,"open":2}' rows || { tail -1 rows; return 1; }
  "$kymo" stat functions out >text && grep -qxE ' +354 +[0-9.]+ [mun]?s +[0-9.]+ [mun]?s .*  fib' text && grep -q '^2 calls were not left: ' text &&
    "$kymo" stat functions --csv --prefix fib out | tail -n +2 | grep -q '^"fib",354,354,'
}
check 'calls, total and self time of functions' statistics
sorted() { # main takes longest, and itself hardly anything
  statistics || return 1
  [ "$("$kymo" stat functions --json out | jq -r .function | head -1)" = main ] &&
    "$kymo" stat functions --json --sort self out | jq -r 'select(.function) | .self' >selves && sort -rn selves | diff selves - &&
    [ "$("$kymo" stat functions --json --sort count out | jq -r .function | head -1)" = fib ]
}
check 'functions in order' sorted
as_uftrace() { # which does not record a function that calls nothing and is never left
  statistics && uftrace record -d other --no-event --no-libcall ./deep >/dev/null 2>said || { cat said; return 1; }
  uftrace report -d other -f total,self,call 2>/dev/null | awk '$NF ~ /^(even|fib|jumper|leaper|main|odd|rec)$/ { print $NF, $(NF - 1) }' | sort >theirs
  jq -r 'select(.function and .function != "quit") | "\(.function) \(.calls)"' rows | sort | diff - theirs
}
if command -v uftrace >/dev/null && (cd "$TMPDIR" && gcc -pg -O0 -x c - -o probe <<<'int main(void) { return 0; }' && uftrace record -d probed ./probe >/dev/null 2>&1); then
  check 'the same calls as uftrace report' as_uftrace
else
  skip 'the same calls as uftrace report' 'uftrace does not run here'
fi
by_function() { # names in all tables
  prepare && record -- ./program || return 1
  local rows=$'main 1\nouter 1\ninner 1'
  "$kymo" stat latency --from functions:enter --to functions:exit --by function out >text || return 1
  [ "$(awk '$1 ~ /^(main|outer|inner)$/ { print $1, $2 }' text)" = "$rows" ] || { cat text; return 1; }
  [ "$("$kymo" stat latency --from functions:enter --to functions:exit --by function --csv out | tail -n +2 | cut -d, -f1,2 | tr -d '"' | tr , ' ')" = "$rows" ] &&
    [ "$("$kymo" stat latency --from functions:enter --to functions:exit --by function --json out | jq -r 'select(.count and .function) | "\(.function) \(.count)"')" = "$rows" ] &&
    [ "$("$kymo" stat latency --from functions:enter --to functions:exit --by function --json out | jq -r 'select(.longest) | .function')" = "$(cut -d' ' -f1 <<<"$rows")" ] &&
    "$kymo" stat counts --by caller out | grep -qE '^main\+0x[0-9a-f]+ +2 '
}
check '--by function prints names, as table, JSON and CSV' by_function
filter() { "$kymo" cat -q --filter "$1" out 2>said | grep -c functions:; [ ! -s said ] || cat said; }
filtered() {
  prepare && record -- ./program || return 1
  [ "$(filter 'function = "inner"')" = 2 ] && [ "$(filter 'function <> "inner"')" = 4 ] && [ "$(filter 'function IN ("inner", "outer")')" = 4 ] &&
    [ "$(filter 'caller = "outer"')" = 2 ] && [ "$(filter 'function = "inner+0x0"')" = 2 ] && [ "$(filter 'function = "inner+0x1"')" = 0 ] &&
    [ "$(filter 'function LIKE "*er"')" = 4 ] && [ "$(filter 'function MATCHES /^in/')" = 2 ] && [ "$(filter 'function = "nothing"')" = 0 ] &&
    [ "$("$kymo" stat counts --filter 'function = "inner"' --by function --csv out | tail -1 | cut -d, -f1,2)" = '"inner",2' ] || return 1
  "$kymo" cat --filter 'function > "inner"' out 2>said
  [ $? = 2 ] && grep -q 'E41 texts are equal or not, but have no order' said
}
check 'filters by names of functions' filtered
as_one() { # processes have their libraries anywhere, functions are the same
  prepare && record -- sh -c './program & ./program; wait' && "$kymo" stat functions --csv out | grep -q '^"inner",2,2,' &&
    [ "$("$kymo" stat counts --by function --csv out | wc -l)" = 4 ]
}
check 'functions of several processes are one' as_one
demangled() { # as nm spells them
  fresh
  g++ -std=c++17 -O0 -finstrument-functions "$programs/names.cc" -o names && record -- ./names || return 1
  nm -C names | cut -c20- | sed 's/ \[clone [^]]*\]//' | sort -u >theirs
  "$kymo" stat functions --json out | jq -r 'select(.function) | .function' | sort -u >ours
  [ "$(wc -l <ours)" -ge 15 ] && ! grep -q '^_Z' ours && [ -z "$(comm -23 ours theirs)" ] || { comm -23 ours theirs; wc -l <ours; return 1; }
  [ "$(filter 'function = "net::outer::inner::count(net::outer*, net::outer::inner&&, net::outer::inner const&)"')" = 2 ] &&
    [ "$(filter "function = \"$(nm names | sed -n 's/.* \(_Z.*5inner5count.*\)/\1/p' | head -1)\"")" = 2 ]
}
if command -v g++ >/dev/null; then
  check 'names of C++' demangled
else
  skip 'names of C++' 'there is no g++'
fi
lossy() { # three events are lost in 1 and 2: what lasts over that has no time, what is whole has
  fresh
  mkdir lossy && python3 - <<'P' || return 1
import struct
open('lossy/metadata', 'w').write('''/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; align = 8; } magic; }; };
clock { name = c; freq = 1000000000; };
stream {
  packet.context := struct {
    integer { size = 64; align = 8; } content_size; integer { size = 64; align = 8; } packet_size;
    integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin; integer { size = 64; align = 8; map = clock.c.value; } timestamp_end;
    integer { size = 64; align = 8; } events_discarded; integer { size = 32; align = 8; } tid; };
  event.header := struct { integer { size = 16; align = 8; } id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; };
};
event { id = 0; name = "functions:enter"; fields := struct { integer { size = 64; align = 8; base = 16; } function; }; };
event { id = 1; name = "functions:exit"; fields := struct { integer { size = 64; align = 8; base = 16; } function; }; };
''')
packets = [(0, [(10, 0, 1), (20, 0, 2), (25, 0, 3), (29, 1, 3)]), (3, [(100, 1, 2), (110, 0, 2), (130, 1, 2), (140, 1, 9), (200, 1, 1)])]
with open('lossy/stream', 'wb') as file:
    for lost, events in packets:
        body = b''.join(struct.pack('<HQQ', kind, time, function) for time, kind, function in events)
        bits = (4 + 44 + len(body)) * 8
        file.write(struct.pack('<IQQQQQI', 0xC1FC1FC1, bits, bits, events[0][0], events[-1][0], lost, 7) + body)
P
  "$kymo" stat functions --json lossy >rows 2>said
  jq -c 'if .function then [.function, .calls, .measured, .total, .self] else . end' rows | sort >seen
  diff - seen <<'END'
["0x1",1,0,0,0]
["0x2",2,1,20,20]
["0x3",1,1,4,4]
{"lost":{"events":3,"packets":0,"unknown":0}}
{"over_lost_events":2,"without_begin":1}
END
}
check 'functions over lost events: losses are named' lossy
none() {
  "$kymo" stat functions "$1" 2>said
  [ $? = 2 ] && expect 'kymo stat: functions: the traces have no events of functions that are entered and left; kymo record --calls functions records them' cat said
}
if [ -d "${KYMO_SHARED:-/nonexistent}/data/cpel" ]; then
  check 'a trace without functions' none "$KYMO_SHARED/data/cpel/15-latency.cpel"
else
  skip 'a trace without functions' 'no shared data'
fi

exit 0
