#!/bin/bash
# SPDX-License-Identifier: MIT
# heavy
#
# trace-cmd's trace.dat: files of an independent writer (make.py) in both orders, with longs of both sizes, both versions and all
# compressions; real ones of $KYMO_SHARED; what trace-cmd itself makes of them; and files that are cut or changed.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/ftrace
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
make() { python3 "$here/make.py" "$@"; }
shown() { "$kymo" cat --format trace-cmd "$@" 2>errors; }

# ---- files of the writer ----

kinds=('' big long4 'big long4' v7 'v7 big' 'v7 zlib' 'v7 zstd big long4' 'v7 instance' 'many=4000' 'many=4000 v7 zstd')
if command -v trace-cmd >/dev/null; then has_trace_cmd=yes; else has_trace_cmd=; fi
for kind in "${kinds[@]}"; do
  # shellcheck disable=SC2086
  make file text $kind >places || exit 1
  same() { shown file | cmp text -; }
  check "a file is shown as it was written (${kind:-version 6})" same
  what="so does trace-cmd (${kind:-version 6})"
  same() { trace-cmd report -N file 2>/dev/null | cmp text -; }
  if [ -z "$has_trace_cmd" ]; then
    skip "$what" 'trace-cmd is not installed'
  elif [[ $kind == *zlib* ]]; then
    skip "$what" 'Debian builds it without zlib'
  else
    check "$what" same
  fi
done

converts() {
  make file text v7 instance many=100 plain >/dev/null && trace-cmd convert --file-version "$1" "${@:2}" -i file -o made >/dev/null 2>&1 &&
    shown made | cmp text -
}
splits() {
  make file text many=4000 plain >/dev/null && trace-cmd split -i file -o part 5 >/dev/null 2>&1 &&
    for part in part*; do trace-cmd report -N "$part" 2>/dev/null | cmp - <(shown "$part") || return 1; done
}
if [ "$has_trace_cmd" ]; then
  check 'a file that trace-cmd converts to version 6, with an instance' converts 6
  check 'a file that trace-cmd converts to version 7 with zstd' converts 7 --compression zstd
  check 'files that trace-cmd splits' splits
else
  skip 'files that trace-cmd converts and splits' 'trace-cmd is not installed'
fi

# ---- other commands ----

make file text plain >/dev/null
golden() {
  local name=$1
  shift
  "$@" >actual 2>&1 || { not_ok "$name" "exit status $?"; return; }
  [ "${KYMO_REWRITE:-}" = 1 ] && cp actual "$here/expected/$name"
  if diff -u "$here/expected/$name" actual >difference; then ok "$name"; else
    sed 's/^/    /' difference | head -30
    not_ok "$name" 'differs from the golden file'
  fi
}
golden text "$kymo" cat file
golden json "$kymo" cat --format json file
golden info "$kymo" info file
golden list "$kymo" list file
golden counts "$kymo" stat counts --by state file
finds() { [ "$("$kymo" cat --filter "$1" file | grep -vc '^#')" = "$2" ] || { "$kymo" cat --filter "$1" file; false; }; }
check 'a filter takes names of a print fmt' finds 'state = "S"' 1
check 'a filter takes flags' finds 'flags HAS ALL OF ("ONE", "TWO")' 1
check 'a filter takes elements of dynamic arrays' finds 'items[1] = 3735928559' 1
check 'a filter takes the thread' finds 'tid = 42' 3
times() { diff <("$kymo" cat file | tail -n +3 | sed 's/+[^ ]* //') <("$kymo" cat --begin 5.00000036 file | sed 's/+[^ ]* //'); }
check 'a window of time begins in the middle' times
copies() {
  make file text plain v7 instance >/dev/null && rm -rf copy && "$kymo" convert --to "$1" -o copy file &&
    diff <("$kymo" cat file | grep -v first) <("$kymo" cat copy | grep -v 0x1004 | grep -v 'NO FORMAT') >difference
  sed -n 's/^/    /p' difference
  ! grep -v bprint difference | grep '^[<>]'
}
check 'a copy as CTF 1.8 shows the same messages' copies ctf1
check 'a copy as CTF 2 shows the same messages' copies ctf2
not_ours() { ! "$kymo" cat --format trace-cmd copy >/dev/null 2>said && grep -q 'is no trace of trace-cmd' said || { cat said; false; }; }
check 'the format trace-cmd refuses other traces' not_ours

# ---- real files ----

data=${KYMO_SHARED:-}/data/kernel
real() {
  case $1 in *.xz) xz -dc "$data/$1" >real ;; *) cp "$data/$1" real ;; esac
  [ "$(sha256sum <real | cut -d' ' -f1)" = "$2" ] || { echo 'other data'; return 1; }
  [ "$(shown real | sha256sum | cut -d' ' -f1)" = "$3" ] || { shown real | head -3; cat errors; false; }
}
if [ -d "$data" ]; then
  check 'a recording of ARM is shown as trace-cmd shows it' real arm32-v6.trace.dat.xz \
    4f3bb602f759779ed59ba2725592da2676f51940023e70b8e9cf3f0dfe16e9e6 da16376a247ade27bc002f687f0e11c400521fee841606c90a48436490af04e9
  check 'so is one of s390x' real s390x-v6.trace.dat.xz \
    99d101035fc7c8d22ef93969a72c5149b9b4118dc342e5643302800c011d02a0 1ade37121bcc724990e9bf3e2ff5766a8df79e6fc0c458ccc4f0e3dbc00a6201
  check 'so is one of x86-64, compressed' real x86_64-v7-zstd.trace.dat \
    debe0f490f2aa4214e966349c0f7b70365dca9afa63908402ee104bd5c3808c3 8d53b3247c886cb0bce0bbebbb3772cb44489f154dd003e0ae717e74360f19da
else
  skip 'real files' 'no reference data'
fi

# ---- the kernel's own formats ----

# a record of each event of this kernel, as trace-cmd shows it: its formats are the hardest that there are
everything() {
  mkdir -p tracefs formats
  unshare -m sh -c 'mount -t tracefs nodev tracefs && cp --parents tracefs/events/*/*/format formats' 2>/dev/null
  python3 "$here/everything.py" formats/tracefs/events "$has_trace_cmd" "$kymo"
}
if [ "$(id -u)" != 0 ] || ! unshare -m sh -c 'mkdir -p probe && mount -t tracefs nodev probe' 2>/dev/null; then
  skip 'a record of each event of this kernel' 'no tracefs, or no right to it'
elif [ -z "$has_trace_cmd" ]; then
  skip 'a record of each event of this kernel' 'trace-cmd is not installed'
else
  check 'a record of each event of this kernel is shown as trace-cmd shows it' everything
fi

# what the kernel has recorded just now: as many events as it prints, with the same words where it prints by the print fmt alone
recorded() {
  mkdir -p tracefs
  unshare -m sh -c "mount -t tracefs nodev tracefs && python3 '$here/live.py' tracefs recorded kernel" || return 1
  shown recorded | tail -n +2 >ours && [ "$(wc -l <ours)" = "$(wc -l <kernel)" ] || { wc -l ours kernel; cat errors; return 1; }
  [ -z "$has_trace_cmd" ] || trace-cmd report -N recorded 2>/dev/null | tail -n +2 | cmp - ours || return 1
  words() { sed -nE 's/.*: ((sched_|task_|signal_)[a-z_]*): */\1 /p' "$1" | sort; }
  diff <(words kernel) <(words ours) && [ "$(words ours | wc -l)" -gt 100 ]
}
if [ "$(id -u)" != 0 ] || ! unshare -m sh -c 'mount -t tracefs nodev probe && [ -d probe/instances ]' 2>/dev/null; then
  skip 'a recording of this kernel' 'no tracefs, or no right to it'
else
  check 'a recording of this kernel has the events and words that the kernel prints' recorded
fi

# ---- damage ----

# cut SIZE: what the first bytes of `file` are shown as
cut_file() {
  head -c "$1" file >short
  shown short >out
  status=$?
}
boundaries() {
  # shellcheck disable=SC2086
  make file text plain many=500 $1 >places || return 1
  size=$(stat -c %s file)
  while read -r place name; do
    for at in "$place" $((place + 1)) $((place + 9)); do
      cut_file "$at"
      [ "$status" = 1 ] && [ -s errors ] && ! grep -qi 'sanitizer\|assert' errors || { echo "$name at $at: $status"; cat errors; return 1; }
      [ "$(wc -l <errors)" -le 4 ] || { cat errors; return 1; }
      # the sound part: each line is one of the whole
      [ "$(grep -v ^cpus= out | sort -u | comm -23 - <(sort -u text) | grep -c .)" = 0 ] || { echo "$name at $at"; comm -23 <(sort -u out) <(sort -u text); return 1; }
    done
  done <places
  # within the pages, the events before the cut are shown
  pages=$(sed -n 's/ pages.*//p' places | head -1)
  cut_file $((pages + 4096 * 2 + 1000))
  [ "$status" = 1 ] && [[ $1 == *zlib* || $1 == *v7* ]] || [ "$(wc -l <out)" -gt 20 ] || { cat errors; return 1; }
  [ "$size" -gt 0 ]
}
check 'files that are cut at any section' boundaries ''
check 'files of version 7 that are cut at any section' boundaries 'v7 instance'
check 'compressed files that are cut at any section' boundaries 'v7 zlib'

# one changed byte in each section: no crash, and what is shown is of the file, or its text
flips() {
  # shellcheck disable=SC2086
  make file text plain many=100 $1 >places || return 1
  python3 "$here/flip.py" "$kymo" file text places "$(rounds 20 8)"
}
check 'a changed byte in any section' flips ''
check 'a changed byte in any section of version 7' flips 'v7 instance'
check 'a changed byte in any section that is compressed' flips 'v7 zlib'

# refused EXPECTED OFFSET BYTES WORDS: the message about a file some of whose bytes are others
refused() {
  # shellcheck disable=SC2086
  make file text plain ${4:-} >places
  printf "$3" | dd of=file bs=1 seek="$2" conv=notrunc status=none
  says 3 "kymo cat: file: $1" "$kymo" cat --format trace-cmd file
}
check 'a version that is not known' refused 'byte 10: expected version 6 or 7 of trace.dat, found "5"' 10 5
check 'an order that is not known' refused 'byte 12: expected an order of bytes (0 or 1) and the size of a long (4 or 8), found 7 and 8' 12 '\007'
check 'a page of no bytes' refused 'byte 14: expected a page of 64 bytes to 16 MiB, found 0' 14 '\0\0\0\0'
unpackable() {
  make file text plain v7 >places && printf ono | dd of=file bs=1 seek=19 conv=notrunc status=none
  says 1 'cpus=0
kymo cat: file: byte 18: expected the compression none, zlib or zstd, found "nono"' "$kymo" cat --format trace-cmd file
}
check 'a compression that is not known' unpackable
