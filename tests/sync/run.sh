#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# What is saved is forced to the disk: by record at its end and with --sync all the time, by snapshot, by the flight recorder; of
# each file and directory, before the rings go. A library before libc writes down each fsync, or lets some fail.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

build_checker
must_build worker
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS
export KYMO_RINGS=$TMPDIR/rings
mkdir -p "$KYMO_RINGS"
cat >"$TMPDIR/shim.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int fsync(int fd) {
  char link[64], path[4096], line[4200];
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  const char *log = getenv("SYNC_LOG"), *failing = getenv("SYNC_FAILS"), *reason = getenv("SYNC_ERROR");
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  int out = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
  if (out >= 0) {
    int size = snprintf(line, sizeof line, "%s\n", path);
    if (write(out, line, (size_t)size) != size)
      abort();
    close(out);
  }
  if (failing && strstr(path, failing)) {
    errno = reason ? atoi(reason) : EIO;
    return -1;
  }
  return real(fd);
}
C
if ! gcc -shared -fPIC -O1 -w "$TMPDIR/shim.c" -o "$TMPDIR/shim.so" -ldl; then not_ok 'the shim builds' 'it does not'; exit 1; fi
# shimmed COMMAND…: its fsyncs go to ./log
shimmed() { SYNC_LOG=$PWD/log LD_PRELOAD=$TMPDIR/shim.so "$@"; }
# whole TRACE: each file and directory of it, and what it is in, was forced
whole() {
  { find "$PWD/$1" -type f -o -type d; echo "$PWD"; } | LC_ALL=C sort >wanted
  LC_ALL=C sort -u log | LC_ALL=C comm -13 - wanted >missing
  [ "$(wc -l <wanted)" -gt 4 ] && [ ! -s missing ] || { echo "not forced:"; cat missing; return 1; }
}

at_the_end() { fresh; shimmed "$kymo" record -q -o out "$@" -- "$bin/worker" -t 2 -n 100 && whole out && [ "$(grep -c '/metadata$' log)" = 1 ]; }
check 'kymo record forces its trace to the disk at the end' at_the_end
check 'the same with overwritten rings' at_the_end --mode overwrite
check 'the same of CTF 2' at_the_end --ctf 2
# the snapshot, and the file that has the reason for it
flight() {
  fresh
  shimmed "$kymo" record -q -o out --snapshot-on exit-code -- sh -c "$bin/worker -n 100; exit 5"
  [ $? = 5 ] && find "$PWD/out/snapshot-1" | LC_ALL=C sort >wanted && LC_ALL=C sort -u log | LC_ALL=C comm -13 - wanted >missing
  grep -q /cause wanted && [ ! -s missing ] || { cat wanted missing; return 1; }
}
check 'the flight recorder forces its snapshots to the disk' flight

# start_worker: one that runs until it is killed
start_worker() {
  KYMO_ENABLE='*' KYMO_MODE=overwrite "$bin/worker" -n 0 -w 1000 2>/dev/null &
  worker=$!
  until_true sh -c '"$1" list >listed 2>/dev/null; grep -q "$2" listed' sh "$kymo" $worker
}
saved() { fresh; start_worker || return 1; shimmed "$kymo" snapshot -q -o out $worker; local status=$?; kill $worker; wait $worker 2>/dev/null; [ $status = 0 ] && whole out; }
check 'kymo snapshot forces its trace to the disk' saved
attached() { fresh; start_worker || return 1; shimmed "$kymo" record -q -p $worker -o out --duration 200ms; local status=$?; kill $worker; wait $worker 2>/dev/null; [ $status = 0 ] && whole out; }
check 'kymo record -p forces its trace to the disk' attached

# without the option each file is forced once
often() { [ "$(grep -c '/metadata$' log)" -ge 3 ]; }
with_sync() { fresh; shimmed "$kymo" record -q --sync -o out -- "$bin/worker" -n 3500 -w 1000 && whole out && often; }
check 'with --sync it is forced every second' with_sync
attached_with_sync() {
  fresh
  start_worker || return 1
  shimmed "$kymo" record -q --sync -p $worker -o out --duration 3500ms
  local status=$?
  kill $worker
  wait $worker 2>/dev/null
  [ $status = 0 ] && whole out && often
}
check 'the same with -p' attached_with_sync

# ---- what fails ----

export SYNC_FAILS=/out
failed='cannot be forced to the disk: Input/output error'
# fails STATUS COMMAND…
fails() {
  local status=$1
  shift
  shimmed "$@" 2>said
  [ $? = "$status" ] && grep -qF "$failed" said || { cat said; return 1; }
}
record_fails() {
  fresh
  fails 1 "$kymo" record -o out -- "$bin/worker" -n 100 || return 1
  local rings
  rings=$(sed -n 's/^  kymo snapshot -o DIRECTORY //p' said)
  [ -d "$rings" ] && grep -qx 'kymo record: the trace may not be on the disk; the rings stay, and can be saved elsewhere:' said || { cat said; return 1; }
  "$kymo" snapshot -q -o elsewhere "$rings" && [ "$(sum_of events elsewhere)" = 100 ] && rm -r "${rings%/*}"
}
check 'if that fails kymo record reports it, and the rings stay' record_fails
flight_fails() { fresh; fails 5 "$kymo" record -o out --snapshot-on exit-code -- sh -c "$bin/worker -n 100; exit 5" && rm -rf "$KYMO_RINGS"/*; }
check 'the flight recorder reports it' flight_fails
snapshot_fails() { fresh; start_worker || return 1; fails 1 "$kymo" snapshot -o out $worker; local status=$?; kill $worker; wait $worker 2>/dev/null; return $status; }
check 'kymo snapshot reports it' snapshot_fails
attached_fails() { fresh; start_worker || return 1; fails 1 "$kymo" record -p $worker -o out --duration 200ms; local status=$?; kill $worker; wait $worker 2>/dev/null; return $status; }
check 'kymo record -p reports it' attached_fails
export SYNC_ERROR=22 # EINVAL: of a file system that has no such thing
nothing_to_force() { fresh; shimmed "$kymo" record -q -o out -- "$bin/worker" -n 100 2>said && [ ! -s said ] && grep -q /out log; }
check 'a file system that has nothing to force is fine' nothing_to_force
