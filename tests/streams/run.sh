#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Logs of a program's own bytes: what threads, CPUs, signal handlers and children write is all there, whole and in order, raw and framed;
# rotation, memory, large events, full disks; switching from outside; the console.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
programs=$KYMO_SOURCE/tests/streams
must_build program
export KYMO_RINGS=$TMPDIR/rings KYMO_RUN=$TMPDIR/run XDG_RUNTIME_DIR=$TMPDIR/run
mkdir -p "$TMPDIR/run" && chmod 700 "$TMPDIR/run"

# log CASE OPTIONS…: runs it in a fresh directory; its counts are in ./counts
log() {
  fresh
  "$bin/program" "$1" log "${@:2}" >counts
}
found() { python3 "$programs/check.py" "$@" | sed 's/ *$//'; }
all_there() { [ "$(cat counts)" = 'truncated 0 lost 0 errors 0' ] || { cat counts; return 1; }; }

threads() { log threads "$@" && all_there; }
raw_threads() { threads "$@" && expect '0:20000 1:20000 2:20000 3:20000' found --gaps log_thread* && [ "$(ls log_thread* | wc -l)" -le 4 ]; }
check 'the bytes of threads are complete and in their order: raw' raw_threads
check '… in packets of 4 KiB' raw_threads small
framed_threads() { threads framed "$@" && expect '0:20000 1:20000 2:20000 3:20000' found --framed log_*; }
check '… framed, with every number once' framed_threads small
each_file() {
  threads small || return 1
  for file in log_thread*; do found "$file" >/dev/null || return 1; done
}
check 'what one thread writes is in its file in that order, without a gap' each_file
cpus() { threads framed cpu small && expect '0:20000 1:20000 2:20000 3:20000' found --framed --gaps --cpu log_cpu*; }
check 'files a CPU' cpus
cpus_raw() { threads cpu && expect '0:20000 1:20000 2:20000 3:20000' found --gaps --cpu log_cpu*; }
check 'files a CPU, raw' cpus_raw
meanwhile() { log flushed framed && all_there && expect '0:20000' found --framed log_*; }
check 'others may flush meanwhile' meanwhile

signals() { log signals small "$@" || return 1; all_there; }
raw_signals() { signals && found log_thread0 >/dev/null; }
check 'events of handlers come after those that they interrupt' raw_signals
framed_signals() { signals framed && found --framed log_thread0 >/dev/null; }
check '… framed' framed_signals
within() { # EVENTS OPTIONS…: this number finds space, the others are counted
  log within "${@:2}" 2>"$TMPDIR/said" && [ "$(cat "$TMPDIR/said")" = "stored $1" ] && expect "0:2 1:$1" found --gaps log_thread0
}
check 'events within another one wait for it' within 20
check '… in memory no more than a packet of them' within 7 memory tiny
cpu_signals() { log signals cpu framed && found --framed --gaps --cpu log_cpu* >/dev/null; }
check '… in files a CPU, where no thread waits for itself' cpu_signals

sizes() {
  log sizes "$@" && all_there && python3 - log_*0 <<'END'
import struct, sys
data, at, lengths = open(sys.argv[1], 'rb').read(), 0, []
while at < len(data):
    length, = struct.unpack_from('<I', data, at)
    assert data[at + 4:at + length] == bytes([97 + len(lengths)]) * (length - 4)
    lengths.append(length - 4)
    at += length
assert lengths == [0, 1, 100, 4000, 4096, 5000, 65535, 65536, 70000, 300000, 10], lengths
END
}
check 'events across packets, longer than one, longer than 64 KiB' sizes small
check '… in files a CPU' taskset -c 0 bash -c "$(declare -f sizes log all_there fresh); TMPDIR='$TMPDIR' bin='$bin' sizes small cpu"

rotated() {
  threads small rotate framed || return 1
  for file in log_thread*; do
    [ "$(stat -c %s "$file")" -le 100000 ] && found --framed --gaps "$file" >/dev/null || { echo "$file"; return 1; }
  done
  [ "$(ls log_thread0* | wc -l)" -le 3 ] && [ "$(ls | grep -c '\.')" -gt 1 ]
}
check 'files rotate at events, and the newest stay' rotated

memory() {
  log threads memory small && all_there || return 1
  for file in log_thread*; do
    found --gaps "$file" >/dev/null && [ "$(stat -c %s "$file")" -le 16384 ] && [ "$(stat -c %s "$file")" -gt 8000 ] || return 1
  done
}
check 'in memory the newest packets stay, and are saved whole' memory

child() {
  alone log fork "$@" 2>"$TMPDIR/said" && expect '0:2' found log_thread0 && expect '1:200' found log.[0-9]*_thread0 &&
    [ "$(cat "$TMPDIR/said")" = "child: $(stat -c %s log.[0-9]*_thread0) bytes" ]
}
check 'a child writes its own files, and nothing of its parent' child small
check '… from memory too' child small memory

full() {
  log full small framed
  grep -q 'errors [1-9]' counts && found --framed log_thread0 >/dev/null && [ "$(stat -c %s log_thread0)" -gt 4000 ]
}
check 'a full disk loses whole packets, counted, and leaves no part of an event' full

together() { log text framed && expect '0:3 text:3' found --framed log_thread0; }
check 'text and binary in one log' together
apart() {
  log text apart && expect '0:3' found log_thread0 && printf 'line 0\nline 1\nline 2\n' | cmp - log.text_thread0
}
check 'text and binary apart' apart

console() {
  fresh
  "$bin/program" console log >counts 2>lines && expect '0:1' found log_thread0
  printf '1 of 2\nprogram: warning: little room\nprogram: error: none\n' | diff - lines
}
check 'the console never mixes with data' console

switching() {
  fresh
  coproc "$bin/program" switched log
  local pid=$COPROC_PID line
  ask() { echo >&"${COPROC[1]}" && read -r line <&"${COPROC[0]}" && [ "$line" = "$1" ] || { echo "expected $1, found $line"; return 1; }; }
  read -r line <&"${COPROC[0]}" && ask 1 || return 1
  "$kymo" list "$pid" >listed && grep -q 'log:log' listed || { cat listed; return 1; }
  "$kymo" disable "$pid" log:log >/dev/null && ask 0 && ! "$kymo" disable "$pid" 'net:*' >/dev/null 2>&1 && ask 0 &&
    "$kymo" enable "$pid" log:log >/dev/null && ask 1 || return 1
  eval "exec ${COPROC[1]}>&-"
  wait "$pid" && [ "$(stat -c %s log_thread0)" = 2 ]
}
check 'kymo enable and disable switch a log' switching

unknown() { # options of no sense
  cat >"$TMPDIR/open.c" <<'END'
#include <errno.h>
#include <kymo/log.h>
#define O(...) &(struct kymo_log_options){__VA_ARGS__}
int main(void) {
  struct kymo_log *all[17] = {0};
  if (kymo_log_open("a,b", NULL) || errno != EINVAL || kymo_log_open("", NULL) || kymo_log_open("x/", NULL)) return 1;
  if (kymo_log_open("x", O(.packet_bytes = 3)) || kymo_log_open("x", O(.packets = 1, .is_memory = true))) return 2;
  if (kymo_log_open("x", O(.is_memory = true, .rotate_bytes = 5))) return 3;
  for (int i = 0; i < 17; i++) all[i] = kymo_log_open("y", NULL);
  if (!all[15] || all[16] || errno != ENFILE) return 4;
  for (int i = 0; i < 17; i++) if (kymo_log_close(all[i])) return 5;
  return kymo_log_open("y", NULL) ? 0 : 6;
}
END
  programs=$TMPDIR build open && fresh && "$bin/open"
}
check 'options that make no sense are refused' unknown
