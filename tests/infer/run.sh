#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo infer: the descriptions that it makes compile, and read what the programs wrote whose debug information they are from.
# KYMO_REWRITE=1 rewrites the expected outputs.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/infer
cd "$TMPDIR" || exit 1
export DEBUGINFOD_URLS= TZ=UTC

# same NAME FILE: FILE is expected/NAME
same() {
  [ "${KYMO_REWRITE:-}" = 1 ] && cp "$2" "$here/expected/$1"
  diff -u "$here/expected/$1" "$2"
}
# says NAME STATUS LINE COMMAND…: the exit status, and all messages; nothing is printed to stdout
says() {
  local name=$1 wanted=$2 line=$3 status
  shift 3
  "$@" >printed 2>said && status=0 || status=$?
  if [ $status = "$wanted" ] && [ "$(cat said)" = "$line" ] && [ ! -s printed ]; then ok "$name"; else
    not_ok "$name" "exit status $status, says \"$(cat said)\""
  fi
}

# ---- structs ----

if "$kymo" infer "$kymo" anything 2>&1 | grep -q 'without libdw'; then
  skip 'kymo infer of structs' 'built without libdw'
else
  if [ -z "${sanitizer:-}" ] && ldd "$kymo" 2>/dev/null | grep -q libdw; then
    # the file is cut while libdw has it mapped: without a guard, SIGBUS
    cat >cut.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
void dwfl_report_end(void *dwfl, void *removed, void *user) {
  if (truncate(getenv("CUT"), 8192))
    abort();
  ((void (*)(void *, void *, void *))dlsym(RTLD_NEXT, "dwfl_report_end"))(dwfl, removed, user);
}
C
    was_cut() {
      local command
      gcc -shared -fPIC cut.c -o cut.so -ldl || return 1
      for command in 'infer cut' 'types cut --struct'; do
        "${CC:-gcc}" -g "$here/samples.c" -o cut && CUT=cut LD_PRELOAD=$PWD/cut.so "$kymo" $command 'struct sample' >printed 2>said && return 1
        [ $? -lt 126 ] && grep -qE '^kymo [a-z]+: cut: byte [0-9]+: the file was cut while it was read, or cannot be read here$' said && [ ! -s printed ] || { cat said; return 1; }
      done
    }
    check 'a program that is cut while its debug information is read' was_cut
  fi
  # fields whose bytes differ between machines: a union, and long double
  without_bytes() { sed -E 's/ (either|wide) = (<[^>]*>|[^,]*),//g'; }
  # reads WHAT STARTER COMPILER…: the program's array is read by what was inferred from the program
  reads() {
    local starter=$1
    shift
    rm -f samples samples.bin
    "$@" "$here/samples.c" -o samples && $starter ./samples samples.bin && "$kymo" infer -o samples.tdl samples 'struct sample' &&
      "$kymo" compile samples.tdl -o samples.key && "$kymo" cat --key samples.key samples.bin >text &&
      without_bytes <text >plain && same samples.text plain
  }
  check 'an array that fwrite() wrote' reads '' gcc -g
  check 'the description of it' same samples.tdl samples.tdl
  for form in '-gdwarf-4' '-gdwarf-2 -gstrict-dwarf' '-g -O2 -gz'; do
    check "debug information of gcc $form" reads '' gcc $form
  done
  if command -v clang >/dev/null; then check 'debug information of clang' reads '' clang -g; fi
  if command -v s390x-linux-gnu-gcc >/dev/null && command -v qemu-s390x >/dev/null; then
    check 'a big-endian machine' reads qemu-s390x s390x-linux-gnu-gcc -g -static
  else
    skip 'a big-endian machine' 'no s390x-linux-gnu-gcc or qemu-s390x'
  fi
  gcc -g "$here/samples.c" -o samples || exit 1
  typedef() { "$kymo" infer samples pair_t | "$kymo" compile -o pair.key -; }
  check 'a typedef of a struct without a name' typedef
  says 'a struct that is not there' 3 'kymo infer: samples: expected a struct "smple" in the debug information, found none (did you mean "sample"?)' \
    "$kymo" infer samples 'struct smple'
  says 'a struct that is only declared' 3 'kymo infer: samples: expected a struct "never" in the debug information, found none' \
    "$kymo" infer samples never
  cp samples stripped && strip stripped
  says 'a program without debug information' 3 'kymo infer: stripped: expected debug information, found none (No DWARF information found); compile with -g and do not strip' \
    "$kymo" infer stripped sample
  says 'what is no program' 3 "kymo infer: samples.bin: byte 0: expected an ELF program, library or object, found something else" \
    "$kymo" infer samples.bin sample
  # damage of every kind must end in a message or a text, by itself
  harmless() {
    local status
    "$kymo" infer damaged sample >/dev/null 2>&1
    status=$?
    [ $status -lt 126 ]
  }
  damaged() {
    gcc -g -c "$here/samples.c" -o whole.o || return 1
    local size place
    size=$(stat -c %s whole.o)
    for ((place = 64; place < size; place += 97)); do
      cp whole.o damaged && printf '\377' | dd of=damaged bs=1 seek=$place conv=notrunc status=none
      harmless || { echo "byte $place"; return 1; }
    done
  }
  check 'damaged debug information does no harm' damaged
fi
says 'no struct of a program' 2 "kymo infer: which struct of \"$kymo\"?
Try \`kymo infer --help' or \`kymo infer --usage' for more information." "$kymo" infer "$kymo"
says 'no program' 2 "kymo infer: of which program or trace?
Try \`kymo infer --help' or \`kymo infer --usage' for more information." "$kymo" infer

# ---- traces ----

# Both files of the sample trace: the events without a variant have the values that kymo cat prints for the trace.
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace || exit 1
sample() { "$kymo" infer -o sample.tdl mytrace && "$kymo" cat --key sample.tdl mytrace/channel_0 >text && same sample.text text; }
check 'the stream files of a CTF trace' sample
check 'the description of them' same sample.tdl sample.tdl
from_metadata() { "$kymo" infer mytrace/metadata | diff sample.tdl -; }
check 'the same from the metadata alone' from_metadata
# times are those of a clock whose epoch is in whole nanoseconds
values() { "$kymo" cat --format json "$@" | jq -c '[.event, .fields]'; }
jobs() {
  "$kymo" record -q -o jobs -e 'jobs:*' -- "$KYMO_BUILD/examples/jobs" >jobs.said 2>&1 && "$kymo" infer -o jobs.tdl jobs || return 1
  local file
  for file in jobs/stream_*; do values --key jobs.tdl "$file"; done | sort >described && values jobs | sort >recorded &&
    [ -s recorded ] && diff described recorded
}
check 'a trace of ours' jobs
mkdir empty
says 'what is no trace' 3 'kymo infer: empty: no trace found here' "$kymo" infer empty

# ---- the manual page ----

bin=$TMPDIR/bin
mkdir -p "$bin" && ln -sf "$kymo" "$bin/kymo" && cp samples prog 2>/dev/null || exit 0
example() { [ -n "$(PATH=$bin:$PATH bash -o pipefail -c "$1")" ]; }
while IFS= read -r line; do
  check "kymo-infer(1): $line" example "$line"
done < <(sed -n 's/^\$ //p' "$KYMO_SOURCE/docs/man/kymo-infer.1")
if command -v groff >/dev/null; then
  clean_page() { [ -z "$(groff -mdoc -ww -Tutf8 "$KYMO_SOURCE/docs/man/kymo-infer.1" 2>&1 >/dev/null)" ]; }
  check 'kymo-infer(1) has no mistakes' clean_page
fi
