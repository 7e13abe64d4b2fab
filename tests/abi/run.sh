#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Programs of other versions work with these libraries: they are compiled against the headers that are kept here (kept-VERSION), against
# headers whose structs are a member shorter, and against longer ones, and print what one of today prints. abidiff compares what the
# headers promise with what is kept, and finds changes that would break programs. With KYMO_REWRITE=1 what is kept is written anew: that
# belongs to a new soversion (meson.build) or a release, and to nothing else.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
here=$KYMO_SOURCE/tests/abi
kept=$here/kept-0.2
kymo_headers='kymo/error.h kymo/filter.h kymo/live.h kymo/schema.h kymo/read.h kymo/sink.h kymo/stat.h kymo/records.h'
trace_headers='kymo/trace.h kymo/types.h kymo/build.h kymo/counter.h kymo/bprintf.h kymo/define.h'

# ---- programs ----

program() { # program NAME LIBRARY HEADERS WHERE
  gcc -std=gnu11 -g -Wall -Wextra -Werror -I"$3" "$here/$1.c" -o "$4" -L"$KYMO_BUILD" -l"$2" -Wl,-rpath,"$KYMO_BUILD"
}
other_headers() { # other_headers older|newer FOLDER
  mkdir "$2" && cp -r "$KYMO_SOURCE/include/kymo" "$2/" && python3 "$here/headers.py" "$1" "$2"
}
unpack() { mkdir "$1" && tar -xzf "$kept/headers.tar.gz" -C "$1"; }
today() {
  program record kymo-trace "$KYMO_SOURCE/include" record.today && program client kymo "$KYMO_SOURCE/include" client.today &&
    "$KYMO_BUILD/kymo" record -q -o trace -- ./record.today . >record.expected && ./client.today trace >expected && grep -q 'walk: half' expected
}
as_today() { # as_today WHICH: programs of the headers in that folder print what those of today do
  program client kymo "$1" "client.$1" && "./client.$1" trace >"$1.client" && diff expected "$1.client" &&
    program record kymo-trace "$1" "record.$1" && "$KYMO_BUILD/kymo" record -q -o "trace.$1" -- "./record.$1" . >"$1.record" &&
    diff record.expected "$1.record" && ./client.today "trace.$1" | grep -c 'walk: half' >"$1.count" && grep -qx 5 "$1.count"
}
if [ "${KYMO_REWRITE:-}" = 1 ]; then
  mkdir -p "$kept"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$KYMO_SOURCE/include" --exclude=meson.build -cf - kymo | gzip -9n >"$kept/headers.tar.gz"
fi
check 'programs of today record and read' today
check 'headers of the kept version' unpack kept
check 'programs of the kept version record and read as those of today' as_today kept
check 'older headers' other_headers older older
check 'programs that know shorter structs record and read as those of today' as_today older
check 'newer headers' other_headers newer newer
check 'programs that know longer structs record and read as those of today' as_today newer

# the test itself: a function that takes another size is noticed
overrun() {
  cp -r older wrong && sed -i 's/bookmark, sizeof \*bookmark)/bookmark, sizeof *bookmark + 8)/' wrong/kymo/move.h && program client kymo wrong client.wrong &&
    ! ./client.wrong trace >wrong.client && grep -q 'the library wrote past struct here' wrong.client
}
check 'a struct that is overrun is noticed' overrun

# ---- what the headers promise ----

# promise HEADERS WHERE HEADER…: functions and types as programs see them
promise() {
  local headers=$1 where=$2
  shift 2
  python3 "$here/headers.py" view "$headers" "$@" >view.c && gcc -std=gnu2x -g -w -shared -fPIC -I"$headers" view.c -o view.so &&
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-parameter-names --out-file "$where" view.so
}
keeps() { # keeps LIBRARY KEPT NEW
  local rules=$here/$1.suppr
  abidiff --no-added-syms --suppressions "$rules" "$2" "$3"
}
same_promise() { # same_promise LIBRARY HEADER…
  local library=$1
  shift
  promise "$KYMO_SOURCE/include" "$library.abi" "$@" || return 1
  if [ "${KYMO_REWRITE:-}" = 1 ]; then gzip -9nc "$library.abi" >"$kept/$library.abi.gz"; fi
  gzip -dc "$kept/$library.abi.gz" >"$library.kept.abi" && keeps "$library" "$library.kept.abi" "$library.abi"
}
# changed EXPECTED LIBRARY HEADER SED: whether a change of a header is found ("found") or breaks nothing ("fine")
changed() {
  local expected=$1 library=$2 header=$3 status
  rm -rf planted && mkdir planted && cp -r "$KYMO_SOURCE/include/kymo" planted/ && sed -i "$4" "planted/kymo/$header" || return 1
  ! cmp -s "planted/kymo/$header" "$KYMO_SOURCE/include/kymo/$header" || { echo "nothing is planted"; return 1; }
  if [ "$library" = libkymo ]; then promise "$PWD/planted" planted.abi $kymo_headers; else promise "$PWD/planted" planted.abi $trace_headers; fi || return 1
  keeps "$library" "$library.abi" planted.abi >said
  status=$?
  case $expected in
    fine) [ $status = 0 ] ;;
    found) [ $status != 0 ] && [ $((status & 3)) = 0 ] ;; # 1 and 2 are abidiff's own errors
  esac || { echo "exit code $status"; head -20 said; return 1; }
}
if command -v abidiff >/dev/null; then
  check 'libkymo keeps what it promised' same_promise libkymo $kymo_headers
  check 'libkymo-trace keeps what it promised' same_promise libkymo-trace $trace_headers
  check 'a member that is appended to a struct breaks nothing' changed fine libkymo move.h 's/^  bool is_at_end;.*/&\n  uint64_t added;/'
  check 'a code that is appended breaks nothing' changed fine libkymo error.h 's/KYMO_E_RANGE = -10,.*/&\n  KYMO_E_NEW = -11,/'
  check 'a member before others is found' changed found libkymo event.h 's/^  uint64_t number; .*/  uint64_t added;\n&/'
  check 'a member that is appended to an error is found' changed found libkymo error.h 's/^  char excerpt\[256\];.*/&\n  int added;/'
  check 'a function that is gone is found' changed found libkymo move.h '/kymo_trace_rewind(/d'
  check 'another argument of a function is found' changed found libkymo move.h 's/^int kymo_trace_rewind(struct kymo_trace \*trace)/int kymo_trace_rewind(struct kymo_trace *trace, int how)/'
  check 'an enumerator among others is found' changed found libkymo schema.h 's/^  KYMO_KIND_STRING, /  KYMO_KIND_NEW,\n&/'
  check 'a member of the ring that programs write is found' changed found libkymo-trace layout.h 's/^struct kymo_tracepoint {/&\n  uint32_t added;/'
  check 'a member that is appended to what programs define is found' changed found libkymo-trace layout.h '/^struct kymo_tracepoint {/,/^}/s/^}/  uint32_t added;\n}/'
  check 'a member that is appended to counts of a log breaks nothing' changed fine libkymo-trace log.h '/^struct kymo_log_counts {/,/^}/s/^}/  uint64_t added;\n}/'
else
  skip 'abidiff compares what the headers promise' 'abigail-tools is not installed'
fi
