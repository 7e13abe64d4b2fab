#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
# heavy
#
# Files that TDL describes, from end to end: description and bytes are made here, kymo cat --key has to give the events.
#
#   cases.py    one small file for each construct of the language
#   plain.py    the fast path and the machine, of the same records, also of corrupt ones
#   structs.py  lists of structs, and filters of their elements
#   defined.py  records that files define: types in each other, sizes, padding
#   expressions.py   one table for constants, LET and filters
#   hidden.py   names of fields that the compiler would like to have for itself
#   untimed.py  events without a time
#   by_chance.py   descriptions and values by chance, packed by a packer that knows nothing of kymo
#   foreign.py  the examples of the language's specification on real files (where shared/ is)
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
export PYTHONDONTWRITEBYTECODE=1
# sanitizers are slow: a quarter of the chances, one process for a text and its bytes (events in described.py), one of both forms of CTF
# for each file, one kind of numbers for each expression
quarter=$([ -n "$sanitizer" ] && echo 4 || echo 1)
export KYMO_SANITIZE=$sanitizer KYMO_ROUNDS=${KYMO_ROUNDS:-$((40 / quarter))} DEFINED_ROUNDS=$((60 / quarter))
for part in cases plain structs defined expressions hidden untimed by_chance foreign; do
  python3 "$KYMO_SOURCE/tests/described/$part.py" || not_ok "$part" "exit code $?"
done

# ---- what is no description ----

kymo=$KYMO_BUILD/kymo
expected='expected a compiled description or a text that describes events, found'
# no_key TEXT FILE
no_key() {
  "$kymo" cat --key "$2" "$2" >said 2>&1
  [ $? = 3 ] && diff said <(echo "kymo cat: $1")
}
printf '\177ELF\2\1\1\0\0\0\0' >program
check 'a program is no key' no_key "program: byte 0: $expected other bytes: 7f 45 4c 46 02 01 01 00" program
printf 'a\0' >short
check 'nor are two bytes' no_key "short: byte 0: $expected other bytes: 61 00" short
: >empty
check 'nor is an empty file' no_key "empty: byte 0: $expected an empty file" empty

# ---- what takes memory for what is there only ----

# in_little EVENTS NAME: kymo info reads them in 300 MB of addresses (sanitizers need all)
in_little() {
  ([ -n "${ASAN_OPTIONS:-}" ] || ulimit -v 300000; "$kymo" info --key "$2.tdl" "$2" >said 2>&1)
  grep -qx "events  *$1" said || { tail said; false; }
}
# A row of one long blob and many short ones
blobs() {
  printf 'TRACE b;\n  RECORD r EVENT IS\n    n: UNSIGNED 32 LITTLE LENGTH OF long; s: UNSIGNED 8;\n'
  printf '    b%d: BYTES s;\n' {1..40}
  printf '    long: BYTES;\n    last: UNSIGNED 8;\n  END;\n  LAYOUT REPEAT r;\nEND TRACE.\n'
}
blobs >blobs.tdl
for record in 1 2 3; do printf '\0\0\0\1\1'; head -c $((40 + 0x1000000)) /dev/zero; printf '\7'; done >blobs
check 'long rows' in_little 3 blobs
# A list of flags in many fields
flags() {
  printf 'TRACE f;\n  FLAGS all = ("f"=BIT 0'
  printf ', "f%d"=BIT %d' $(printf '%d %d ' $(seq 1 63 | sed p))
  printf ');\n  RECORD r EVENT IS\n'
  printf '    a%d: UNSIGNED 64 LITTLE FLAGS all;\n' {1..4000}
  printf '  END;\n  LAYOUT REPEAT r;\nEND TRACE.\n'
}
flags >flags.tdl
head -c $((4000 * 8 * 2)) /dev/zero >flags
check 'flags in many fields' in_little 2 flags
# A record with many definitions
cat >definitions.tdl <<'T'
TRACE t;
  BYTES LITTLE;
  TYPES code=("b"=UNSIGNED 8);
  TABLE forms KEY NUMBER HOLDS RECORDS;
  PREFIX p IS k: UNSIGNED 8; END;
  RECORD define DEFINITION WITH p WHEN k=0 IS
    n: UNSIGNED 32;
    REPEAT TIMES n IS id: UNSIGNED 8; DEFINE forms[id] AS RECORD "x" FIELDS BY LETTERS code OF "b" NAMES "y" SPLIT ","; END;
  END;
  RECORD defined EVENT WITH p FROM forms[k];
  LAYOUT REPEAT define OR defined;
END TRACE.
T
{ printf '\0\120\303\0\0'; head -c 50000 /dev/zero | tr '\0' '\5'; printf '\5\7'; } >definitions
check 'many definitions in a record' in_little 1 definitions
