#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Files that others cut while they are read: damage, not SIGBUS; and programs that link libkymo keep their own handlers (cut.c).
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
must_build worker
programs=$KYMO_SOURCE/tests/streams
must_build program
here=$KYMO_SOURCE/tests/cut
cd "$TMPDIR" || exit 1
${KYMO_CC:-gcc} -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -I"$KYMO_SOURCE/include" "$here/cut.c" -o "$bin/cut" -L"$KYMO_BUILD" -lkymo \
  -Wl,-rpath,"$KYMO_BUILD" >said 2>&1 || { cat said; not_ok 'cut builds' 'it does not'; exit 1; }

mkdir whole
KYMO_ENABLE='*' KYMO_OUT=$PWD/out KYMO_RINGS=$PWD/none KYMO_BUFFER=4M "$bin/worker" -n 20000 >/dev/null && mv out/* whole/ctf && rmdir out
KYMO_ENABLE='*' KYMO_RINGS=$PWD/live KYMO_BUFFER=4M "$bin/worker" -n 20000 -e kill >/dev/null 2>&1
mv live/* whole/rings
"$kymo" convert -q whole/ctf --output whole/some.cpel
mkdir whole/frames whole/turns && (cd whole/frames && "$bin/program" threads log framed small >/dev/null)
(cd whole/turns && "$bin/program" turns log framed small >/dev/null)
cat >key.tdl <<'END'
TRACE some VERSION 1;
  CLOCK mono IS RESOLUTION 1 us;
  RECORD sample EVENT IS
    ACQUISITION: UNSIGNED 32 LITTLE TIME mono POINT;
    _n: UNSIGNED 8;
    REPEAT TIMES _n IS a: UNSIGNED 8; END;
  END;
  LAYOUT REPEAT sample;
END TRACE.
END
python3 -c '
import struct, sys
sys.stdout.buffer.write(b"".join(struct.pack("<IB", 10 * i, 3 + i % 5) + bytes([i % 256] * (3 + i % 5)) for i in range(1, 60000)))' >whole/some.bin
python3 -c '
import struct, sys
sys.stdout.buffer.write(struct.pack(">I", 20000) + b"".join(struct.pack(">QIII", 1000 * i, 1, 1 + i % 4, i) for i in range(1, 20001)))' >whole/some.ev

# cuts TRACE FILE [KEY]: ten times, each time at another place; a fresh copy each time
cuts() {
  local turn
  for turn in 0 1 2 3 4 5 6 7 8 9; do
    rm -rf copy && cp -r --sparse=always whole copy || return 1
    "$bin/cut" "copy/$1" "copy/$2" "$turn" "${@:3}" || { echo "turn $turn: exit status $?"; return 1; }
  done
}
check 'a stream file is cut' cuts ctf ctf/stream_0
check 'a pool is cut' cuts rings rings/rings
check 'a CPEL file is cut' cuts some.cpel some.cpel
check 'a described file is cut' cuts some.bin some.bin key.tdl
check 'a framed file is cut' cuts frames "frames/$(ls whole/frames | head -1)"
check 'a framed file is cut, one of four that are read in turn' cuts turns turns/log_thread2
cuts_between_frames() { BETWEEN_FRAMES=yes cuts "$@"; }
check '... between two frames' cuts_between_frames turns turns/log_thread2
check 'a Gist log is cut' cuts some.ev some.ev

# commands NAME FILE COMMAND…: it reads copies that are cut as soon as it prints; it ends by itself, with words
commands() {
  local file=$1 turn status
  for turn in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf copy && cp -r --sparse=always whole copy || return 1
    "${@:2}" 2>said | { read -r _; truncate -s "$((turn * 4000 + 13))" "copy/$file"; cat >/dev/null; }
    status=${PIPESTATUS[0]}
    [ "$status" -lt 126 ] && [ "$status" != 0 ] && [ -s said ] || { echo "turn $turn: exit status $status"; cat said; return 1; }
  done
}
# snapshot_of_cut: of a pool that is cut when it is mapped and before it is copied: the command waits for the description meanwhile, which
# is a FIFO here
snapshot_of_cut() {
  local turn pid status fifo=$PWD/copy/rings/.kymo/registry
  for turn in 1 2 3 4; do
    rm -rf copy saved && cp -r --sparse=always whole copy && rm "$fifo" && mkfifo "$fifo" || return 1
    "$kymo" snapshot -o saved copy/rings 2>said &
    pid=$!
    for _ in {1..1000}; do grep -qs /copy/rings/rings "/proc/$pid/maps" && break; sleep 0.01; done
    truncate -s "$((turn * 100000))" copy/rings/rings || return 1
    while kill -0 $pid 2>/dev/null; do timeout 0.2 bash -c ': >"$1"' . "$fifo"; done
    wait $pid
    status=$?
    [ $status -lt 126 ] && [ $status != 0 ] && [ -s said ] || { echo "turn $turn: exit status $status"; cat said; return 1; }
    [ ! -e saved/metadata ] || "$kymo" cat saved >/dev/null 2>said || [ $? = 1 ] || { cat said; return 1; }
  done
}
check 'kymo snapshot of a pool' snapshot_of_cut
check 'kymo cat of a stream file' commands ctf/stream_0 "$kymo" cat copy/ctf
check 'kymo cat of a CPEL file' commands some.cpel "$kymo" cat copy/some.cpel
check 'kymo cat of a described file' commands some.bin "$kymo" cat --key key.tdl copy/some.bin
