#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Tracing asked for but impossible, or no longer possible: full file systems, directories that cannot be written,
# limits. The traced program runs on to its end, whatever happens to the trace, and one line says why.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

build_checker
for program in worker points; do must_build $program; done

# impossible WARNING PROGRAM…: the program ends well, and one line of its stderr says WARNING
impossible() {
  local warning=$1 status
  shift
  "$@" 2>err >said
  status=$?
  [ $status = 0 ] || { echo "exit code $status"; cat err; return 1; }
  [ "$(wc -l <err)" = 1 ] && grep -q '^kymo: ' err && grep -qF -- "$warning" err || { echo "expected one warning: $warning"; cat err; return 1; }
}

# ---- places that cannot be used, without any mount ----

rings_below_a_file() {
  fresh
  touch file
  impossible 'not tracing' traced KYMO_RINGS="$case_dir/file/rings" "$bin/points" evaluated && [ "$(cat said)" = 0 ] && [ ! -e out ]
}
check 'rings below a file: one warning, untraced' rings_below_a_file
rings_nowhere() {
  fresh
  impossible 'No such file' traced KYMO_RINGS="$case_dir/no/such/place" "$bin/points" evaluated && [ "$(cat said)" = 0 ]
}
check 'rings in a directory that does not exist: one warning, untraced' rings_nowhere
rings_in_proc() {
  fresh
  impossible 'not tracing' traced KYMO_RINGS=/proc/self "$bin/worker" -t 3 -n 100
}
check 'rings where no file can be made: one warning, untraced' rings_in_proc
long_rings() {
  fresh
  impossible 'not tracing' traced KYMO_RINGS="$(printf 'x/%.0s' {1..800})" "$bin/points"
}
check 'a path of rings that is too long: one warning, untraced' long_rings
trace_below_a_file() {
  fresh
  touch file
  impossible 'cannot save the trace' traced KYMO_OUT="$case_dir/file/out" "$bin/points" && [ -e rings/points-*/rings ] &&
    [ ! -x "$kymo" ] || [ "$("$kymo" cat -f babeltrace2 rings/points-* | wc -l)" = 7 ]
}
check 'a place for traces that cannot be made: one warning, the rings stay and are readable' trace_below_a_file
no_home() {
  fresh
  env -u KYMO_OUT -u HOME KYMO_ENABLE='*' KYMO_RINGS="$case_dir/rings" "$bin/points" || return 1
  [ -d kymo-traces ] || { ls; return 1; }
}
check 'without HOME the trace goes below the working directory' no_home
file_size_limit() {
  fresh
  impossible 'not tracing' traced bash -c 'ulimit -f 8; exec "$@"' . "$bin/worker" -t 2 -n 1000 || return 1
  for blocks in 60 120 400 1000; do
    rm -rf rings out
    traced KYMO_BUFFER=16k bash -c "ulimit -f $blocks; exec \"\$@\"" . "$bin/worker" -t 2 -n 1000 2>err || { cat err; return 1; }
    [ -d out ] || { echo "$blocks blocks"; cat err; return 1; }
    "$bin/check_trace" -q out/* || return 1
  done
}
check 'a limit on the size of files: no SIGXFSZ, fewer rings or none' file_size_limit
descriptor_limit() {
  local n status
  for n in 4 5 6 7 8; do
    fresh
    traced bash -c "ulimit -n $n; exec \"\$@\"" . "$bin/worker" -t 4 -n 1000 2>err
    status=$?
    [ $status = 0 ] || { grep -q 'error while loading shared' err && continue; echo "$n descriptors: exit code $status"; cat err; return 1; }
    [ "$(wc -l <err)" -le 1 ] || { cat err; return 1; }
  done
}
address_space_limit() {
  fresh
  traced bash -c 'ulimit -v 1000000; exec "$@"' . "$bin/worker" -t 2 -n 1000 2>err || { cat err; return 1; }
  [ "$(wc -l <err)" -le 1 ]
}
if [ -z "$sanitizer" ]; then
  check 'few file descriptors: the program runs on' descriptor_limit
  check 'little address space: the program runs on' address_space_limit
fi
wanders_off() { # a daemon: closes everything and goes elsewhere
  fresh
  mkdir far
  cat >daemon.c <<'EOF'
#include <kymo/trace.h>
#include <unistd.h>
int main(int argc, char **argv) {
  KYMO(daemon, before, argc);
  for (int fd = 0; fd < 1000; fd++) close(fd);
  if (chdir(argv[1])) return 3;
  KYMO(daemon, after, argc);
  return kymo_rings_save("saved") ? 4 : 0;
}
EOF
  programs=$case_dir build daemon || return 1
  KYMO_ENABLE='*' KYMO_OUT=out KYMO_RINGS=rings "$bin/daemon" far || { echo "exit code $?"; return 1; }
  [ "$(sum_of events far/saved)" = 2 ] && [ "$(sum_of events out/*)" = 2 ] || { find .; return 1; }
}
check 'pitfall 17: a daemon that closes all files and changes its directory saves to the directory given at the start' wanders_off

# ---- as another user ----

if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
  as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent'
  unwritable() {
    fresh
    chmod 755 "$TMPDIR" "$case_dir" "$bin"
    mkdir -m 755 closed
    impossible 'Permission denied' traced KYMO_RINGS="$case_dir/closed" $as_nobody "$bin/points" || return 1
    mkdir -m 777 open
    impossible 'Permission denied' traced KYMO_RINGS="$case_dir/open/rings" KYMO_OUT="$case_dir/closed" $as_nobody "$bin/points" || return 1
    [ -e open/rings/points-*/rings ]
  }
  gives_up_rights() {
    fresh
    chmod 755 "$TMPDIR" "$case_dir" "$bin"
    cat >drops.c <<'EOF'
#include <kymo/trace.h>
#include <pthread.h>
#include <unistd.h>
static void *run(void *unused) {
  for (int i = 0; i < 100; i++) KYMO(drops, in_a_thread, i);
  return unused;
}
int main(void) {
  pthread_t thread;
  KYMO(drops, before);
  if (setgid(65534) || setuid(65534)) return 3;
  KYMO(drops, after);
  if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL)) return 4;
  return 0;
}
EOF
    programs=$case_dir build drops || return 1
    impossible 'cannot save the trace' traced "$bin/drops" || return 1
    [ ! -x "$kymo" ] || [ "$("$kymo" cat -f babeltrace2 rings/drops-* | wc -l)" = 102 ] || { "$kymo" cat rings/drops-* | head -3; return 1; }
  }
  if $as_nobody test -x "$KYMO_BUILD" && $as_nobody test -r "$KYMO_BUILD/libkymo-trace.so"; then
    check 'directories that may not be written: one warning each, the program runs on' unwritable
    check 'a program that drops its privileges continues to record, also in new threads' gives_up_rights
  fi
else
  skip 'directories that may not be written' 'needs root to become another user'
fi

# ---- full file systems ----

if ! unshare -m mount -t tmpfs none "$TMPDIR" 2>/dev/null; then
  skip 'full file systems' 'needs root to mount a small one'
  exit 0
fi
# on_small_disk OPTIONS COMMAND…: runs it with ./small being a file system of that size of its own
on_small_disk() {
  local options=$1
  shift
  mkdir -p small
  export -f "$@" traced impossible sum_of until_true has_counted 2>/dev/null
  export bin kymo case_dir programs sanitizer KYMO_SOURCE KYMO_BUILD
  unshare -m bash -c 'mount -t tmpfs -o "$1" none small || exit 99; shift; "$@"' . "$options" "$@"
}

tiny_disk() { # not even the pool's header
  impossible 'not tracing' traced KYMO_RINGS="$case_dir/small" "$bin/worker" -t 4 -n 1000 && [ -z "$(ls small)" ]
}
no_room_for_rings_at_all() { fresh && on_small_disk size=4k tiny_disk; }
check 'a full tmpfs: no space for anything, one warning, untraced' no_room_for_rings_at_all
some_rings() { # a few threads get rings, the others do not; nothing is uncounted
  rm -rf out small/* counters
  impossible 'no space for more rings' traced KYMO_BUFFER=64k KYMO_RINGS="$case_dir/small" "$bin/worker" -t 16 -n 2000 -m -c counters || return 1
  "$bin/check_trace" -c counters out/* >sums || return 1
  ! grep -q '^lost 0$' sums && ! grep -q '^events 0$' sums || { cat sums; return 1; }
}
some_rings_often() { # in whatever order the threads find out
  for _ in {1..30}; do some_rings || return 1; done
}
room_for_some_rings() { fresh && export -f some_rings && on_small_disk size=600k some_rings_often; }
check 'pitfall 5: a full tmpfs: threads without a ring run on, their events are counted' room_for_some_rings
all_lost() { # the header fits, but no ring: everything is lost, and counted where it can be
  impossible 'no space for more rings' traced KYMO_RINGS="$case_dir/small" "$bin/worker" -t 3 -n 500 -c counters || return 1
  [ ! -e out ] || "$bin/check_trace" -c counters out/*
}
room_for_no_ring() { fresh && on_small_disk size=64k all_lost; }
check 'a full tmpfs: no ring at all, the program runs on' room_for_no_ring
filled_meanwhile() { # the file system is filled while the program records
  local status
  KYMO_ENABLE='*' KYMO_OUT="$case_dir/out" KYMO_RINGS="$case_dir/small" KYMO_BUFFER=64k "$bin/worker" -t 2 -n 3000 -w 100 -m -c counters 2>err &
  until_true has_counted 100 1 || return 1
  head -c 8M /dev/zero >small/filler 2>/dev/null
  wait $!
  status=$?
  [ $status = 0 ] || { echo "exit code $status"; cat err; return 1; }
  "$bin/check_trace" -q -g -c counters out/*
}
filled_while_recording() { fresh && on_small_disk size=1m filled_meanwhile; }
check 'a tmpfs that is filled while its rings are in use: no SIGBUS, nothing is lost' filled_while_recording
no_inodes() { impossible 'not tracing' traced KYMO_RINGS="$case_dir/small" "$bin/points"; }
without_inodes() { fresh && on_small_disk nr_inodes=2 no_inodes; }
check 'a file system without space for names: one warning, untraced' without_inodes
read_only() {
  mount -o remount,ro small || return 1
  impossible 'Read-only' traced KYMO_RINGS="$case_dir/small" "$bin/points" || return 1
  impossible 'Read-only' traced KYMO_OUT="$case_dir/small/out" "$bin/points" && [ -e rings/points-*/rings ]
}
on_a_read_only_disk() { fresh && on_small_disk size=1m read_only; }
check 'a read-only file system: one warning each, the program runs on' on_a_read_only_disk
save_to_full() { # what could be written is readable, and the rings still have everything
  impossible 'cannot save the trace' traced KYMO_BUFFER=64k KYMO_OUT="$case_dir/small/out" "$bin/worker" -t 4 -n 5000 -m -c counters || return 1
  [ ! -x "$kymo" ] || { "$kymo" cat -f babeltrace2 rings/worker-* >text && "$bin/check_trace" -q -t -g -c counters <text; } || return 1
  for trace in small/out/*; do [ ! -s "$trace/metadata" ] || "$bin/check_trace" -q "$trace" || return 1; done
}
save_to_a_full_disk() {
  for size in 8k 32k 100k; do fresh && on_small_disk size=$size save_to_full || { echo "$size"; return 1; }; done
}
check 'saving to a full disk: one warning, the rings stay, what was written is readable' save_to_a_full_disk
asked_to_save_to_full() {
  expect_no_space() { [ "$(traced "$bin/points" save "$case_dir/small/a" save "$case_dir/small/b" 2>/dev/null)" = "$(printf -- '-1\n-1')" ]; }
  head -c 8M /dev/zero >small/filler 2>/dev/null
  expect_no_space && [ "$(sum_of events out/*)" = 7 ]
}
kymo_save_to_a_full_disk() { fresh && on_small_disk size=64k asked_to_save_to_full; }
check 'kymo_rings_save to a full disk fails, and later saves elsewhere work' kymo_save_to_a_full_disk
class_on_full() { # a library's tracepoints cannot be described any more: they stay off, the rest goes on
  {
    printf '#include <kymo/trace.h>\nvoid plugin_run(int round);\nvoid plugin_run(int round) {\n'
    for i in {1..60}; do printf '  KYMO(plugin, with_a_rather_long_name_%d, KYMO_AS(and_a_long_field, round));\n' $i; done
    echo '}'
  } >one.c
  gcc -O1 -I"$KYMO_SOURCE/include" $sanitizer -fPIC -shared one.c -o one.so -L"$KYMO_BUILD" -lkymo-trace || return 1
  cat >late.c <<'EOF'
#include <dlfcn.h>
#include <fcntl.h>
#include <kymo/trace.h>
#include <unistd.h>
int main(void) {
  static char zeroes[1 << 16];
  KYMO(late, before);
  int fd = open("small/filler", O_WRONLY | O_CREAT, 0600);
  while (write(fd, zeroes, sizeof zeroes) > 0) continue;
  while (write(fd, zeroes, 1) > 0) continue;
  for (int i = 0; i < 3; i++) {
    void *library = dlopen("./one.so", RTLD_NOW);
    if (!library) return 3;
    ((void (*)(int))dlsym(library, "plugin_run"))(i);
    dlclose(library);
  }
  KYMO(late, before);
  return 0;
}
EOF
  gcc -O2 -D_GNU_SOURCE -I"$KYMO_SOURCE/include" $sanitizer late.c -o late -L"$KYMO_BUILD" -lkymo-trace -Wl,-rpath,"$KYMO_BUILD" -ldl || return 1
  impossible 'cannot describe' traced KYMO_BUFFER=16k KYMO_RINGS="$case_dir/small" ./late || return 1
  babeltrace2 out/* >text && [ "$(grep -c late:before text)" = 2 ] || { cat text; return 1; }
  [ "$(grep -c '_name_' text)" = 0 ]
}
classes_on_a_full_disk() { fresh && on_small_disk size=300k class_on_full; }
check 'no space to describe a new tracepoint: it stays off, the trace is readable' classes_on_a_full_disk

exit 0
