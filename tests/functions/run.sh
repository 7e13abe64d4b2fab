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
hostile() { # names of symbols and files are anybody's
  prepare && record -- ./program && mkfifo pipe || return 1
  sed -i "s,$PWD/program,$PWD/pipe," out/.kymo/modules && timeout 20 "$kymo" cat -q out >text && grep -q 'functions:enter' text || return 1
  sed -i "s,$PWD/pipe,/dev/zero," out/.kymo/modules && timeout 20 "$kymo" cat -q out >text && grep -q 'functions:enter' text
}
check 'a load map that names a pipe or a device' hostile
odd_notes() { # a note whose size is no multiple of 4, at the end of its segment
  fresh
  cat >odd.c <<'EOF'
__asm__(".pushsection .note.odd, \"a\", %note\n.long 4, 0x1001, 7\n.asciz \"ODD\"\n.fill 0x1001, 1, 65\n.popsection");
int main(void) { return 0; }
EOF
  gcc -finstrument-functions -Wl,--build-id=none odd.c -o odd && record -- ./odd && grep -q '^load .* - .*/odd$' out/.kymo/modules
}
check 'a program with a note that is not padded' odd_notes

exit 0
