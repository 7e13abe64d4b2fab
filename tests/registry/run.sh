#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo describe and kymo compile.
#
#   fail-NAME.registry   texts that are refused; NAME.expect is what is said
#   layout.registry      what declarations of C are held against
#   sample.registry      uses everything the model has; sample-big.key is its registry, made on a big-endian machine
#
# What goes from one form to the other and back must come out as it was. KYMO_REWRITE=1 rewrites the expected outputs.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/registry
cd "$TMPDIR" || exit 1

# same WHAT FILE FILE
same() {
  if cmp -s "$2" "$3"; then ok "$1"; else
    diff "$2" "$3" | head -10 | sed 's/^/    /'
    not_ok "$1" 'they differ'
  fi
}

# ends WHAT STATUS WORDS COMMAND…: the exit status, and all that is said on the error stream
ends() {
  local name=$1 wanted=$2 words=$3 status
  shift 3
  "$@" >/dev/null 2>said
  status=$?
  if [ $status != "$wanted" ]; then not_ok "$name" "exit status $status, not $wanted: $(head -1 said)"
  elif [ "$(cat said)" != "$words" ]; then not_ok "$name" "says \"$(head -1 said)\""
  else ok "$name"; fi
}

# ---- what is refused ----

for file in "$here"/fail-*.registry; do
  name=$(basename "$file" .registry)
  cp "$file" FILE
  "$kymo" compile --from registry -o out.key FILE >said 2>&1
  status=$?
  sed -i 's/^kymo compile: //' said
  [ "${KYMO_REWRITE:-}" = 1 ] && cp said "$here/$name.expect"
  if [ $status != 1 ] || [ -e out.key ]; then not_ok "$name" "exit status $status"
  else same "$name" "$here/$name.expect" said; fi
done

# ---- what is kept ----

# round FILE: text → registry → text → registry, and the first and last registry are the same
round() {
  "$kymo" compile -o 1.key "$1" && "$kymo" describe -o 2.registry 1.key && "$kymo" compile 2.registry && cmp 1.key 2.key &&
    "$kymo" describe 2.key | cmp - 2.registry
}
for file in "$KYMO_SOURCE"/tests/tsdl/pass-*.tsdl; do
  check "$(basename "$file") goes through registry and text" round "$file"
done

"$kymo" compile -o sample.key "$here/sample.registry"
"$kymo" describe sample.key >sample.registry
[ "${KYMO_REWRITE:-}" = 1 ] && cp sample.registry "$here/"
same 'the text of a registry gives the text it came from' sample.registry "$here/sample.registry"
"$kymo" compile -o from_big.key "$here/sample-big.key"
same 'a big-endian registry gives that of this machine' from_big.key sample.key
"$kymo" describe "$here/sample-big.key" >from_big.registry
same 'a big-endian registry gives the same text' from_big.registry sample.registry

# the hashes of event classes, in their order
hashes() { "$kymo" describe "$1" | sed -nE '/^ +\/\/ (content|layout) /p'; }
by_json() {
  "$kymo" describe --as ctf2 "$1" >1.json && "$kymo" compile -o json.key 1.json && hashes "$1" >1.hashes &&
    hashes json.key | cmp - 1.hashes
}
for file in "$here/sample.registry" "$KYMO_SOURCE"/tests/tsdl/pass-*.tsdl; do
  check "$(basename "$file") keeps its hashes in CTF 2" by_json "$file"
done

# ---- the example in the documentation ----

example() { python3 "$here/example.py" "$KYMO_SOURCE/docs/registry.md" "$@"; }
example text >example.registry && "$kymo" compile example.registry
if [ "$(head -c 1 example.key)" != R ]; then
  skip 'the text in docs/registry.md compiles to the bytes there' 'this machine is big-endian'
else
  [ "${KYMO_REWRITE:-}" = 1 ] && example fill example.key
  example bytes >documented.key
  same 'the text in docs/registry.md compiles to the bytes there' documented.key example.key
fi
example bytes | "$kymo" describe - >described.registry
same 'the bytes in docs/registry.md are described by the text there' described.registry example.registry

# ---- declarations of C ----

"$kymo" describe --as c "$here/layout.registry" >layout.h
cat >layout.c <<'C'
#include "layout.h"
#include <stddef.h>
#define AT(member, place) _Static_assert(offsetof(struct g_e, member) == place, #member)
AT(a, 0); AT(b, 4); AT(c, 8); AT(c.wide, 10); AT(c.tail, 12); AT(d, 13); AT(g, 15); AT(h, 16); AT(h.two, 16);
AT(i, 18); AT(j_k, 24); AT(int_, 32); AT(__, 33); AT(a_12, 34);
_Static_assert(sizeof(struct inner) == 5 && sizeof(struct g_e_1) == 1, "sizes");
_Static_assert(sizeof(struct g_e) == 35, "an array with room between its elements and what is behind it are comments");
_Static_assert(least < -9223372036854775807 && int_ == -1 && two_words == 2, "labels");
_Static_assert(first == (enum opts)1 && ends == (enum opts)0x19, "flags, also of bits that are apart");
C
check 'declarations of C are laid out as the bytes' ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only layout.c
declares() { "$kymo" describe --as c -o declared.c "$1" && ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only declared.c; }
for file in "$here/sample.registry" "$KYMO_SOURCE"/tests/tsdl/pass-*.tsdl; do
  check "declarations of C of $(basename "$file")" declares "$file"
done

# ---- several descriptions ----

several() {
  "$kymo" describe -o 1.registry "$here/layout.registry" && "$kymo" describe "$here/layout.registry" - <1.registry | cmp - 1.registry
}
check 'a description merged with itself is itself' several
sed 's/"g:e"/"g:f"/; s/uint3,/uint4,/' "$here/layout.registry" >other.registry
versions() { [ "$("$kymo" describe "$here/layout.registry" other.registry | grep -c '^event ')" = 4 ]; }
check 'several versions stay beside each other' versions

# ---- damage ----

head -c -5 sample.key >cut.key
size=$(stat -c %s sample.key)
last=$((size - 38))
ends 'a cut registry' 1 "kymo describe: cut.key: byte $last: the file ends in the middle of a record" "$kymo" describe cut.key
ends 'a registry that is none' 1 'kymo compile: no.key: byte 0: no registry: the magic number is missing' \
  sh -c "echo hello >no.key; '$kymo' compile --from key -o x no.key; e=\$?; [ \$e = 3 ] && exit 1; exit \$e"

# ---- command lines ----

ends 'two files at once' 2 "kymo compile: one file at a time
Try \`kymo compile --help' or \`kymo compile --usage' for more information." "$kymo" compile a b
ends 'an unknown form' 2 "kymo describe: there is no form \"yaml\"
Try \`kymo describe --help' or \`kymo describe --usage' for more information." "$kymo" describe --as yaml sample.key
ends 'an unknown language' 2 "kymo compile: there is no language \"yaml\"
Try \`kymo compile --help' or \`kymo compile --usage' for more information." "$kymo" compile --from yaml sample.key
ends 'a registry over itself' 2 'kymo compile: sample.key: the output would overwrite the input; name another file with -o' \
  "$kymo" compile sample.key
ends 'a missing file' 3 'kymo compile: nowhere: cannot open: No such file or directory' "$kymo" compile nowhere
ends 'a registry is no trace' 3 \
  'kymo info: sample.key: expected a trace, found a description of events; "kymo describe" prints it' "$kymo" info sample.key
ends 'a missing folder' 3 'kymo compile: nowhere/x.key: No such file or directory' \
  "$kymo" compile -o nowhere/x.key sample.registry
check 'nothing is printed on success' test -z "$("$kymo" compile -o x.key sample.registry 2>&1)"
piped() { "$kymo" describe - <sample.key | "$kymo" compile - >piped.key && cmp piped.key sample.key; }
check 'standard input and output' piped
small() { (ulimit -f 1; trap '' XFSZ; exec "$kymo" describe -o small.registry sample.key); }
ends 'a file that may not grow' 3 'kymo describe: small.registry: File too large' small
check 'an incompletely written file is removed' test ! -e small.registry
if [ -w /dev/full ]; then
  ends 'a full disk' 3 'kymo describe: /dev/full: No space left on device' "$kymo" describe -o /dev/full sample.key
  check 'a device is not taken away' test -c /dev/full
  check 'a device that is full stays where it is' test -c /dev/full
fi
