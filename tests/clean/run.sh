#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo clean asks before it removes evidence, takes what is meant and nothing else, and never the rings of the living, whatever
# namespace they live in.
set -u
. "$KYMO_SOURCE/tests/control/lib.sh"

if [ ! -x "$kymo" ]; then
  skip 'kymo clean' 'the command kymo is not built'
  exit 77
fi
for program in points worker; do must_build $program; done

# leave PROGRAM TIMES: rings of dead processes in ./rings; the last one's pid is $dead
leave() {
  cp "$bin/worker" "./$1"
  for ((i = 0; i < $2; i++)); do traced KYMO_BUFFER=16k "./$1" -t 1 -n 0 -k 10 -e kill 2>/dev/null; done
  dead=$(ls -d rings/$1-* | tail -1)
  dead=${dead##*-}
}
count() { ls -d rings/*-* 2>/dev/null | wc -l; }

# ---- asking ----

asks() {
  fresh
  leave prog 3
  refuses 2 'kymo clean: nothing is removed: there is no terminal to ask the user; use --yes' "$kymo" clean rings </dev/null || return 1
  expect 3 count || return 1
  "$kymo" clean rings </dev/null 2>/dev/null >list
  [ "$(grep -cE '^ *[0-9]+  prog +[0-9]+ (s|min) +[0-9.]+ [KM]  rings/prog-[0-9]+$' list)" = 3 ] || { cat list; return 1; }
  "$kymo" clean --dry-run rings >list && [ "$(grep -c rings/prog- list)" = 3 ] && expect 3 count || return 1
  echo n | script -qec "'$kymo' clean rings" typed >/dev/null && grep -q 'Remove them?' typed && expect 3 count || { cat typed; return 1; }
  echo y | script -qec "'$kymo' clean rings" typed >/dev/null && grep -q 'removed the rings of 3 dead processes' typed && expect 0 count || { cat typed; return 1; }
  expect 'there are no rings of dead processes' "$kymo" clean rings
}
check 'it lists and asks on a terminal; without one it needs --yes; --dry-run only lists' asks
tables() { # each end is older than the one before
  fresh
  leave prog 1
  leave a_program_whose_name_is_long 1
  touch -d '1 minute ago' rings/prog-*/{rings,metadata} rings/prog-*
  by_name() { "$kymo" clean --dry-run rings | { read -r head; echo "      $head"; sort -k2; }; }
  golden_table clean clean 160 by_name && golden_table clean clean 80 by_name && golden_table clean clean 50 by_name
}
check 'its list fits the terminal' tables
chooses() {
  fresh
  leave other 2
  leave prog 3
  "$kymo" clean --yes --older 1h rings >said && expect 5 count || return 1
  "$kymo" clean --yes $dead rings >said && [ ! -e rings/prog-$dead ] && expect 4 count || { cat said; return 1; }
  "$kymo" clean --yes 'oth*' rings >said && expect 2 count && ls -d rings/prog-* >/dev/null || return 1
  refuses 1 'kymo clean: there are no rings of a program other' "$kymo" clean --yes other rings || return 1
  refuses 2 "kymo clean: --older is a time like 10min, not \"old\"
Try \`kymo clean --help' or \`kymo clean --usage' for more information." "$kymo" clean --older old rings || return 1
  touch -d '3 days ago' rings/prog-*/{rings,metadata} rings/prog-* && "$kymo" clean --yes --older 2d rings >said && expect 0 count
}
check 'processes, programs and ages choose' chooses
one_directory() {
  fresh
  leave prog 2
  "$kymo" clean --yes rings/prog-$dead/ >said && [ ! -e rings/prog-$dead ] && expect 1 count
}
check 'the directory of one process' one_directory

# ---- what it leaves alone ----

links() {
  fresh
  leave prog 1
  mkdir -p victim/.kymo mine && echo kept | tee victim/{metadata,rings} victim/.kymo/{registry,clocks} >kept
  cp -r rings/prog-$dead mine/linked && rm -r mine/linked/.kymo && ln -s ../../victim/.kymo mine/linked/.kymo
  ln -s ../rings/prog-$dead mine/whole
  refuses 0 "kymo clean: mine/linked is kept: its .kymo is no directory of the same owner" "$kymo" clean --yes mine || return 1
  [ "$(cat victim/rings victim/metadata victim/.kymo/* | sort -u)" = kept ] && [ -e rings/prog-$dead/rings ] && [ -e mine/linked/rings ]
}
check 'it follows no symbolic links' links
fifos() {
  fresh
  mkdir -p rings/a-1 rings/b-2 && mkfifo rings/a-1/rings rings/c-3 && mkfifo rings/b-2/metadata
  timeout 20 "$kymo" clean --yes rings >said || { echo "status $?"; cat said; return 1; }
  timeout 20 env KYMO_ENABLE='*' KYMO_RINGS="$case_dir/rings" KYMO_OUT="$case_dir/out" "$bin/points" || return 1
  timeout 20 "$kymo" cat rings/a-1 2>said
  [ $? != 124 ] && [ -p rings/a-1/rings ] && [ -p rings/c-3 ]
}
check 'a FIFO is not waited for, also when a program starts and when it is read' fifos
others() { # of another user, who may write there
  fresh
  chmod 755 "$TMPDIR" "$case_dir"
  leave prog 2
  chown -R 65534 rings/prog-$dead/metadata rings/prog-$dead/rings
  "$kymo" clean --yes rings >said && [ -e rings/prog-$dead/rings ] && expect 1 count
}
if [ "$(id -u)" = 0 ]; then
  check 'files of another owner than their directory stay' others
else
  skip 'files of another owner than their directory stay' 'needs root'
fi

# ---- the living ----

recorded() {
  fresh
  KYMO_RINGS=$case_dir/rings "$kymo" record -q -o out --snapshot-on SIGUSR1 -- sh -c "'$bin/worker' -t 1 -n 0 -k 10 -e kill; echo >ended; while [ ! -e stop ]; do sleep 0.05; done" >printed 2>said &
  pid=$!
  started+=("$pid")
  until_true test -e ended && [ -n "$(ls -d rings/record-*/worker-*)" ] || { ls -R rings; return 1; }
  expect 'there are no rings of dead processes; those of running processes are kept' "$kymo" clean --yes rings || return 1
  [ -n "$(ls -d rings/record-*/worker-*)" ] || return 1
  kill -9 $pid && wait $pid 2>/dev/null
  touch stop
  "$kymo" clean --yes rings >said && grep -q ' 1 dead' said || { cat said; return 1; }
}
check 'what a living kymo record still needs stays' recorded
# "${within[@]}" COMMAND…: in PID and mount namespaces of its own, on the same rings; it ends with $!
within=(unshare --pid --mount --fork --kill-child --mount-proc)
namespaces() {
  local inside other
  fresh
  "${within[@]}" env KYMO_ENABLE='*' KYMO_SAVE=never KYMO_RINGS="$case_dir/rings" "$bin/points" wait <"$idle" >printed 2>said &
  pid=$!
  started+=("$pid")
  until_true grep -q ready printed || return 1
  inside=$(ls -d rings/points-*)
  refuses 0 "" "$kymo" clean --yes rings && [ -e "$inside/rings" ] || { echo 'gone by hand'; return 1; }
  refuses 0 "kymo clean: $inside is kept: it runs" "$kymo" clean --yes points rings || return 1
  # from a third namespace, and by programs that start
  "${within[@]}" "$kymo" clean --yes rings >said && [ -e "$inside/rings" ] || { echo 'gone from within'; return 1; }
  for _ in {1..12}; do traced KYMO_SAVE=never "$bin/points" || return 1; done
  [ -e "$inside/rings" ] || { echo 'gone by a start'; return 1; }
  for _ in {1..12}; do "${within[@]}" env KYMO_ENABLE='*' KYMO_SAVE=never KYMO_RINGS="$case_dir/rings" "$bin/points" || return 1; done
  [ -e "$inside/rings" ] || { echo 'gone by a start within'; return 1; }
  kill -9 $pid && wait $pid 2>/dev/null
  is_removed() { "$kymo" clean --yes rings && [ ! -e "$inside" ]; }
  until_true is_removed || { echo 'stays though it is dead'; ls -l rings; return 1; }
}
closes_all() { # as daemons do
  fresh
  cat >closes.c <<'EOF'
#include <kymo/trace.h>
#include <unistd.h>
int main(void) {
  KYMO(daemon, event, 1);
  for (int fd = 3; fd < 1024; fd++) close(fd);
  if (write(1, "ready\n", 6) != 6) return 1;
  return pause();
}
EOF
  programs=$case_dir build closes || return 1
  "${within[@]}" env KYMO_ENABLE='*' KYMO_SAVE=never KYMO_RINGS="$case_dir/rings" "$bin/closes" <"$idle" >printed 2>said &
  pid=$!
  started+=("$pid")
  until_true grep -q ready printed || return 1
  "$kymo" clean --yes rings >said && expect 1 count
}
if "${within[@]}" true 2>/dev/null; then
  check 'the rings of living processes of another PID namespace stay, those of dead ones go' namespaces
  check 'also of a daemon that has closed all descriptors' closes_all
else
  skip 'the rings of living processes of another PID namespace stay' 'no namespaces here'
fi
exit 0
