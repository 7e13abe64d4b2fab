#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# The descriptions that are installed, on files of the tools that they describe: kymo cat finds each by the bytes of the file, and
# prints the same as the tool itself.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
export PYTHONDONTWRITEBYTECODE=1 KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions KYMO_SANITIZE=$sanitizer
python3 "$KYMO_SOURCE/tests/descriptions/check.py" || not_ok 'all descriptions' "exit code $?"
python3 "$KYMO_SOURCE/tests/descriptions/late.py" || not_ok 'descriptions of files that define their records' "exit code $?"

# ---- names ----

kymo=$KYMO_BUILD/kymo
echo 'TRACE mine;' >mine.tdl
echo 'some bytes' >bytes
head -c 4096 /dev/zero >zeros
check 'zeros are of no format' says 3 'kymo cat: zeros: no trace found here: a file of no known format (--key FILE reads it by a description)' "$kymo" cat zeros
part_of_trace() { # a file of a trace is taken for all of it
  mkdir -p part && printf '/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n' >part/metadata && echo x >part/stream_0 || return 1
  says 3 'kymo cat: part/stream_0: no trace found here: this is a file of the trace in part' "$kymo" cat part/stream_0 &&
    (cd part && says 3 'kymo cat: stream_0: no trace found here: this is a file of the trace in .' "$kymo" cat stream_0)
}
check 'a file of a trace: the trace is named' part_of_trace
misspelt() {
  says 3 "kymo cat: no description is called 'pcpa' in $KYMO_DESCRIPTIONS (did you mean \"pcap\"?)" "$kymo" cat --as pcpa bytes &&
    says 3 "kymo cat: no description is called 'nothing-like-it' in $KYMO_DESCRIPTIONS" "$kymo" cat --as nothing-like-it bytes
}
check 'a name that is misspelt' misspelt
no_directory() {
  KYMO_DESCRIPTIONS=mine.tdl says 3 "kymo cat: no description is called 'mine' in mine.tdl; mine.tdl: Not a directory" "$kymo" cat --as mine bytes &&
    KYMO_DESCRIPTIONS=$KYMO_DESCRIPTIONS:mine.tdl says 3 'kymo cat: bytes: no trace found here: a file of no known format (--key FILE reads it by a description)
kymo cat: KYMO_DESCRIPTIONS: mine.tdl: expected a directory, found a file (--key FILE reads by a description)' "$kymo" cat bytes
}
check 'a file where directories are named' no_directory
printf '\1\2' >octets
cat >octets.tdl <<'T'
TRACE octets;
  BYTES LITTLE;
  RECORD octet EVENT IS
    value: UNSIGNED 8;
  END;
  LAYOUT REPEAT octet;
END TRACE.
T
no_version() {
  "$kymo" info --key octets.tdl octets | grep -qx 'trace      octets (described)' && "$kymo" info --json --key octets.tdl octets | jq -e '.traces[0].version == null'
}
check 'what is described has no version' no_version
