#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Tracepoints written like printf: what readers print is what printf prints, and the arguments are fields.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
programs=$KYMO_SOURCE/tests/recorder-printf

# the messages of a trace, with the names of their events in front
messages() { "$kymo" cat "$@" | sed -nE 's/^\[[^]]*\] [^ ]+ [^ ]+ ([a-z]+:[a-z0-9_]+) "(.*)"$/\1 \2/p'; }

# ---- like printf ----

python3 "$programs/generate.py" 400 25 >"$TMPDIR/random.c" || exit 1
random_formats() {
  fresh
  programs=$TMPDIR build random random.c "$@" -O0 -Wno-format -Wno-overflow || return 1
  traced KYMO_BUFFER=64M "$bin/random" >expected && messages out/* >found || return 1
  [ "$(wc -l <expected)" = 10000 ] && cmp expected found || { diff expected found | head -10; return 1; }
}
check 'ten thousand random formats and values are printed as by printf' random_formats gcc -std=c11 -x c
[ -n "$sanitizer" ] || check_by 'the same from C++ by clang' random_formats clang++ -Wno-unknown-warning-option -std=c++17 -x c++

# ---- by hand ----

must_build kinds
by_hand() {
  fresh
  traced "$bin/kinds" && messages out/* >found && diff "$programs/kinds.txt" found
}
check 'texts, precisions, null pointers, errno, per cent signs' by_hand
fields() {
  fresh
  traced "$bin/kinds" || return 1
  "$kymo" cat --format json out/* | jq -c 'select(.event) | [.event, .fields]' | head -3 >found
  diff - found <<'END'
["kinds:note",{"n":5,"host":"x"}]
["kinds:note",{"n":5,"host":"x"}]
["kinds:nothing",{}]
END
}
check 'arguments are fields' fields
statistics() {
  fresh
  traced "$bin/kinds" && same_as_babeltrace2 out/* && "$kymo" describe out/* --as registry | grep -c 'template = "open %s: %m"' >found
  [ "$(cat found)" = 1 ] && [ "$("$kymo" info out/* | grep -c 'kinds:note')" = 2 ]
}
check 'the format is kept once, with the class; equal names of other formats are other classes' statistics
without_registry() {
  fresh
  traced "$bin/kinds" && rm -r out/*/.kymo && "$kymo" cat out/* | grep -q ' kinds:note n = 5, host = "x"$'
}
check 'without the registry the fields are shown' without_registry
list_of_program() {
  "$kymo" list "$bin/kinds" >found && grep -A2 '^kinds:fails' found | tr -s ' \n' ' ' | grep -q 'file string utf8 errno int i32'
}
check 'kymo list shows the fields, errno too' list_of_program

# ---- refused ----

must_build wrong wrong.c gcc -Wno-format
refused() {
  fresh
  traced "$bin/wrong" 2>warnings
  sed -E 's/^[^:]*: //' warnings | diff "$programs/wrong.txt" - && [ "$("$kymo" cat --format json out/* | jq -r .event | tr '\n' ' ')" = 'wrong:sound ' ]
}
check 'the first of the formats that do not fit is reported, and none of their events recorded' refused
# each alone, since a process reports only the first
refused_alone() {
  fresh
  for name in numbered count wide narrow wide_text no_text; do
    traced KYMO_ENABLE=wrong:$name "$bin/wrong" 2>&1 | sed -E 's/^[^:]*: //'
  done >warnings
  sed 's/^/not recorded, since its format has /' <<'END' | diff - warnings
a numbered argument, which is POSIX and not C: wrong:numbered
%n, which stores a number where a pointer says: wrong:count
a width or precision above 65536: wrong:wide
%ls for no text of wchar_t: wrong:narrow
%s for no text of char: wrong:wide_text
%ls for no text of wchar_t: wrong:no_text
END
}
check 'the fault of a format is reported' refused_alone
too_long() {
  fresh
  traced KYMO_MODE=discard KYMO_BUFFER=16k "$bin/kinds" long || return 1
  "$kymo" cat out/* | grep -q '^# lost 1 event' && "$kymo" cat out/* | grep -q 'kinds:behind "it"'
}
check 'a text that no packet holds is lost and counted' too_long
