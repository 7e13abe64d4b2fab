#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# kymo merge of files of records as bytes, by a plug-in and by a description: what is written is what a merge in Python gives; what
# is wrong with files, plug-ins and descriptions is reported, and nothing is lost without a message.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
here=$KYMO_SOURCE/tests/rawmerge
cd "$TMPDIR" || exit 1
export PYTHONDONTWRITEBYTECODE=1
logs() { python3 "$here/logs.py" "$@"; }
programs=$here must_build program
plugin() { gcc -std=c11 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC $sanitizer -I"$KYMO_SOURCE/include" "${@:3}" -o "$1" "$2"; }
check 'the example compiles' plugin records.so "$KYMO_SOURCE/examples/records.c"
check 'the plug-in of the tests compiles' plugin untrusted.so "$here/untrusted.c"

# merges STATUS TEXT WANTED ARGUMENTS…: what is written is the file WANTED ("": nothing is)
merges() {
  local status=$1 text=$2 wanted=$3
  shift 3
  rm -f out
  says "$status" "$text" "$kymo" merge -o out "$@" || return
  if [ -n "$wanted" ]; then cmp out "$wanted"; else [ ! -e out ] || { echo 'there is an output'; false; }; fi
}
# log ORDER FIELDS…: a description of a log with lengths, whose records begin with these
log() {
  printf 'TRACE log;\n  BYTES %s;\n  CLOCK wall IS EPOCH "1970-01-01T00:00:00Z";\n' "$1"
  printf '  RECORD line EVENT IS\n    length: UNSIGNED 16 LENGTH OF RECORD;\n'
  printf '    %s;\n' "${@:2}" 'text: STRING TO END'
  printf '  END;\n  LAYOUT REPEAT line;\nEND TRACE.\n'
}
log LITTLE 'sec,usec: UNSIGNED 32' >little.tdl
log BIG 'sec,usec: UNSIGNED 32' >big.tdl
log LITTLE 'sec: UNSIGNED 32 TIME wall POINT UNIT 1 s' 'usec: UNSIGNED 32 TIME wall ADD UNIT 1 us' >time.tdl
log LITTLE 'SEQUENCE: UNSIGNED 16' >number.tdl

# ---- streams of a program ----

# of_stream thread|cpu: all ways give what the reference gives, and the result is read by the same description
of_stream() {
  rm -f log_* out
  "$bin/program" log "$1" 20000 || return
  logs reference little wanted log_*
  local late=
  # a thread that is preempted between its clock and its bytes writes after its neighbour in a file that CPUs share
  [ "$1" = cpu ] && late=-q
  merges 0 '' wanted $late --records ./records.so log_* &&
    merges 0 '' wanted $late --description little.tdl --by sec,usec log_* &&
    merges 0 '' wanted $late --description time.tdl --by time log_* &&
    expect 60000 eval "'$kymo' cat --description little.tdl out | wc -l"
}
if [ "$(printf '\1\0' | od -An -td2 | tr -d ' ')" = 1 ]; then
  three_threads() { of_stream thread && [ "$(ls log_* | wc -l)" = 3 ]; }
  check 'the files of three threads' three_threads
  # in the order of the merge, each where its file has it
  shown_in_place() {
    "$kymo" cat --records ./records.so log_thread* >lines && [ "$(wc -l <lines)" = 60000 ] || return 1
    sed 's/.*<\(.*\)>$/\1/' lines | xxd -r -p | cmp - wanted || return 1
    local place path length bytes
    while read -r path place length bytes; do
      [ "$(od -An -v -tx1 -j "$place" -N "$length" "$path" | tr -d ' \n')" = "${bytes// /}" ] || { echo "$path $place"; return 1; }
    done < <(sed -nE '1~6000s/^(.*): byte ([0-9]+): record length = ([0-9]+), bytes = <(.*)>$/\1 \2 \3 \4/p' lines)
  }
  check 'and shown in that order without merging' shown_in_place
  check 'one file stays as it is' merges 0 '' log_thread0 --records records.so log_thread0
  check 'the files of CPUs' of_stream cpu
fi

shown() { says "$1" "$2" "$kymo" cat "${@:3}"; }
printf 'headAAAABBBB' >one
check 'heads and records are shown' shown 0 'one: byte 0: head length = 4, bytes = <68 65 61 64>
one: byte 4: record length = 4, bytes = <41 41 41 41>
one: byte 8: record length = 4, bytes = <42 42 42 42>' --records ./untrusted.so:head one
check 'what is for events is refused' shown 2 "kymo cat: --records shows the bytes of records; --filter is for events
Try \`kymo cat --help' or \`kymo cat --usage' for more information." --records ./records.so --filter 'a = 1' one
check 'formats too' shown 2 "kymo cat: --records shows the bytes of records; --format is for events
Try \`kymo cat --help' or \`kymo cat --usage' for more information." --records ./records.so --format json one
check 'and descriptions' shown 2 "kymo cat: --records and --key both define the records; use one
Try \`kymo cat --help' or \`kymo cat --usage' for more information." --records ./records.so --key little.tdl one

# ---- records that their file ends ----

echo 'TRACE digits; RECORD line EVENT IS n: TEXT NUMBER ENDED 10; END; LAYOUT REPEAT line; END TRACE.' >digits.tdl
echo 'TRACE headed; RECORD head CONTROL IS v: TEXT NUMBER ENDED 10; END; RECORD line EVENT IS n: TEXT NUMBER ENDED 10; END;
LAYOUT head; REPEAT line; END TRACE.' >headed.tdl
printf '1\n3' >odd
printf '2\n4\n' >even
printf '2\n5' >open
printf '1\n2\n3\n4\n' >all.wanted
printf '1\n2\n3\n5' >open.wanted
printf '7' >bare
printf '7\n2\n3' >lines
printf '7\n2\n3' >lines.wanted
added='kymo merge: warning: odd: byte 2: this record ends with the file, without byte 0x0a, which is added'
check 'a last line without its end gets one before the next' merges 0 "$added" all.wanted --description digits.tdl --by n odd even
check '… and none as the last of all' merges 0 "$added" open.wanted --description digits.tdl --by n odd open
check '… which is not reported with -q' merges 0 '' all.wanted -q --description digits.tdl --by n odd even
check 'one file without an end stays as it is' merges 0 '' odd --description digits.tdl --by n odd
check 'a head without its end gets one' merges 0 \
  'kymo merge: warning: bare: byte 0: this record ends with the file, without byte 0x0a, which is added' lines.wanted \
  --description headed.tdl --by n bare lines

# ---- order ----

logs cases
check 'equal times come in the order of the files: by fields' merges 0 '' little.wanted --description little.tdl --by sec,usec little_cpu*
check '… by a plug-in' merges 0 '' little.wanted --records ./records.so little_cpu*
check '… in the other order of bytes' merges 0 '' big.wanted --description big.tdl --by sec,usec big_cpu*
compiled() { "$kymo" compile big.tdl -o big.key && merges 0 '' big.wanted --key big.key --by sec,usec big_cpu*; }
check '… by a compiled description' compiled
installed() { mkdir -p installed && cp big.tdl installed && KYMO_DESCRIPTIONS=installed merges 0 '' big.wanted --as big --by sec,usec big_cpu*; }
check '… by an installed description' installed
check '… to the standard output' eval "'$kymo' merge -o - --description big.tdl --by sec,usec big_cpu* | cmp - big.wanted"
echo 'TRACE wide; BYTES LITTLE; RECORD r EVENT IS key: UNSIGNED 64; n: UNSIGNED 8 LENGTH OF data; data: BYTES; : BYTES 5; END; LAYOUT REPEAT r; END TRACE.' >wide.tdl
logs wide
check 'numbers of 64 bits' merges 0 '' wide.wanted --description wide.tdl --by key wide_cpu*
logs wrap
check 'numbers that start again at 0' merges 0 '' wrap.wanted --description number.tdl --by sequence wrap_cpu*

cat >keys.tdl <<'END'
TRACE keys;
  BYTES LITTLE;
  PREFIX begin IS length: UNSIGNED 8 LENGTH OF RECORD; kind: UNSIGNED 8; END;
  RECORD named EVENT WITH begin WHEN kind = 1 IS number: INTEGER 16; weight: FLOAT 64; _name: STRING TO END; END;
  RECORD rest EVENT WITH begin WHEN kind = 2 IS : BYTES TO END; END;
  LAYOUT REPEAT named OR rest;
END TRACE.
END
logs keys
check 'by text and a signed number; a record without such fields stays after the one before it' \
  merges 0 '' keys.wanted --description keys.tdl --by _name,number keys1 keys2
check 'by floating-point numbers, what is none last' merges 0 '' weights.wanted --description keys.tdl --by weight weights1 weights2
check 'by two fields, of which the first decides' merges 0 '' weights.wanted --description keys.tdl --by weight,kind weights1 weights2

logs broken
late='late: byte 91: not in order: 1 record (this is the first) belongs before the previous one'
check 'records out of order are reported: by fields' merges 0 "kymo merge: warning: $late" late.wanted --description little.tdl --by sec,usec plain late
check '… by a plug-in' merges 0 "kymo merge: warning: $late" late.wanted --records ./records.so plain late
check '… unless quiet' merges 0 '' late.wanted -q --records ./records.so plain late

# ---- heads ----

cat >head.tdl <<'END'
TRACE head;
  RECORD head CONTROL IS
    _magic: UNSIGNED 32 LITTLE;
    ORDER FILE LITTLE IF _magic = 0x4c4f4731, BIG IF _magic = 0x31474f4c, ELSE FAIL "no log";
    unit: UNSIGNED 16;
    note: BYTES 2;
  END;
  RECORD line EVENT IS
    length: UNSIGNED 16 LENGTH OF RECORD;
    sec,usec: UNSIGNED 32;
    LET long = sec * head.unit;
    text: STRING TO END;
  END;
  LAYOUT head; REPEAT line;
END TRACE.
END
logs heads
by_head="--description head.tdl --by sec,usec"
check 'one head is kept' merges 0 '' head.wanted $by_head head1 head2
check 'one that says nothing about the records is left out, which is reported' merges 0 \
  'kymo merge: warning: head-note: its head of 8 bytes differs from that of head1 and is left out' head.wanted $by_head head1 head-note
wrongly='the records would be read wrongly after the other'
check 'one with another meaning is refused' merges 3 \
  "kymo merge: head-unit: byte 0: its head differs from that of the first file in what it says about the records: $wrongly" '' \
  $by_head head1 head-unit
check 'one in the other order of bytes is refused' merges 3 \
  "kymo merge: head-big: byte 0: its head differs from that of the first file in the order of bytes: $wrongly" '' $by_head head1 head-big
check 'the head of the first file that has one' merges 1 \
  'kymo merge: head-none: byte 0: R1: expected a record, found the end of the file' head.wanted $by_head head-none head1 head2
check 'a truncated head' merges 1 \
  'kymo merge: head-cut: byte 0: R1: the file ends 1 bytes before the record does, in unit (5 bytes skipped)' head.wanted $by_head head-cut head1 head2

# ---- files ----

by_fields="--description little.tdl --by sec,usec"
check 'a truncated record: by a plug-in' merges 1 \
  'kymo merge: cut: byte 117: the last record is truncated: expected 13 bytes, found 11 (11 bytes skipped)' cut.wanted --records ./records.so plain cut
check '… of which not even the length is there' merges 1 \
  'kymo merge: cut-head: byte 130: the last record is truncated: log with lengths cannot find its length in the 1 byte left (1 bytes skipped)' \
  cut-head.wanted --records ./records.so plain cut-head
check '… by a description' merges 1 \
  'kymo merge: cut: byte 117: R1: a LENGTH of 13 bytes where there are 11, in line after usec (11 bytes skipped)' cut.wanted $by_fields plain cut
check '… of which not even the length is there' merges 1 \
  'kymo merge: cut-head: byte 130: R1: the file ends 9 bytes before the record does, in length (1 bytes skipped)' cut-head.wanted $by_fields plain cut-head
check 'damage: the rest of the file is left out, which is reported: by a plug-in' merges 1 \
  'kymo merge: short: byte 52: log with lengths: expected a length of at least 10, found 3 (88 bytes skipped)' short.wanted --records ./records.so plain short
check '… by a description' merges 1 '' short.wanted -q $by_fields plain short
check 'an empty file' merges 0 '' plain $by_fields plain empty
check '… by a plug-in' merges 0 '' plain --records ./records.so empty plain
check 'only empty files' merges 0 '' empty $by_fields empty empty
missing='missing: cannot open: No such file or directory'
check 'a file that is missing' merges 3 "kymo merge: $missing" '' $by_fields plain missing
check '… by a plug-in' merges 3 "kymo merge: $missing" '' --records ./records.so plain missing
mkdir -p folder
check 'a directory' merges 3 'kymo merge: folder: not a regular file' '' $by_fields plain folder
there() { echo kept >there && says 3 'kymo merge: there: cannot write: File exists' "$kymo" merge -o there $by_fields plain && grep -q kept there; }
check 'an output that is there stays' there
full() { "$kymo" merge -o - $by_fields big_cpu* little_cpu* >/dev/full 2>said; [ $? = 3 ] && grep -qx 'kymo merge: standard output: cannot write: No space left on device' said || { cat said; false; }; }
check 'a full disk' full

# ---- plug-ins ----

printf 'aaaabbbbcccc' >one
printf 'aabbbbbbddddd' >two
printf 'aaaaaabbbbbbbbbbccccdddd' >four.wanted
check 'a plug-in with a state' merges 1 \
  'kymo merge: two: byte 12: the last record is truncated: expected 4 bytes, found 1 (1 bytes skipped)' four.wanted --records ./untrusted.so one two
printf 'aaaabbbbbbbbccccdddd' >head4.wanted
check '… with a head' merges 1 \
  'kymo merge: warning: two: its head of 4 bytes differs from that of one and is left out
kymo merge: two: byte 12: the last record is truncated: expected 4 bytes, found 1 (1 bytes skipped)' head4.wanted --records ./untrusted.so:head one two
printf aa >two-bytes
check '… that is truncated' merges 1 \
  'kymo merge: two-bytes: byte 0: the last record is truncated: untrusted cannot find its length in the 2 bytes left (2 bytes skipped)' \
  one --records ./untrusted.so:head two-bytes one
check 'one that knows no length' merges 1 \
  'kymo merge: one: byte 0: the last record is truncated: untrusted cannot find its length in the 12 bytes left (12 bytes skipped)' \
  empty --records ./untrusted.so:zero one
check 'a length that no record has' merges 1 \
  'kymo merge: one: byte 0: untrusted: expected a record of at most 1073741824 bytes, found one of 18446744073709551615 (12 bytes skipped)' \
  empty --records ./untrusted.so:huge one
printf 'aaaabbbb\0\0\0\0\0\0\0\0' >zeros.wanted # the rest of a mapped page reads as zeros
cut_meanwhile() {
  printf 'aaaabbbbccccdddd' >one && merges 1 'kymo merge: one: byte 8: the file was cut here while it was read
kymo merge: warning: one: byte 8: not in order: 1 record (this is the first) belongs before the previous one' zeros.wanted --records ./untrusted.so:cuts one
  local status=$?
  printf 'aaaabbbbcccc' >one
  return $status
}
check 'a file that is cut between records meanwhile' cut_meanwhile
check 'a length beyond the file' merges 1 \
  'kymo merge: one: byte 0: the last record is truncated: expected 1048576 bytes, found 12 (12 bytes skipped)' empty --records ./untrusted.so:large one
check 'an order that is none ends, and loses nothing' eval "
  timeout 60 '$kymo' merge -q -o mad --records ./untrusted.so:mad one one four.wanted one &&
  [ \$(fold -w4 mad | sort | md5sum | cut -c-32) = \$(cat one one four.wanted one | fold -w4 | sort | md5sum | cut -c-32) ]"
check 'one that fails says why' merges 1 'kymo merge: x: byte 4: untrusted: expected no x (4 bytes skipped)' x.wanted --records ./untrusted.so:picky one x \
  < <(printf aaaaxbbb >x; printf aaaaaaaabbbbcccc >x.wanted)
check '… or does not' merges 1 'kymo merge: one: byte 0: untrusted: no record begins here (12 bytes skipped)' empty --records ./untrusted.so:silent one
check 'options that it refuses' merges 2 'kymo merge: refuse is no option' '' --records ./untrusted.so:refuse one
check 'options of a plug-in that takes none' merges 2 'kymo merge: ./records.so: expected no options, found "big"' '' --records ./records.so:big plain
check 'a file that is none' merges 3 'kymo merge: plain: expected a shared object of this machine, found other bytes' '' --records plain plain
check 'one that is missing' merges 3 'kymo merge: missing.so: cannot open: No such file or directory' '' --records missing.so plain
plugin newer.so "$here/untrusted.c" -DVERSION=7
check 'one of another version' merges 3 'kymo merge: newer.so: expected kymo_records_plugin of version 1, found version 7' '' --records newer.so plain
plugin small.so "$here/untrusted.c" -DSIZE=8
small() { "$kymo" merge -o out --records small.so plain 2>said; [ $? = 3 ] && grep -q 'small.so: expected kymo_records_plugin of [0-9]* to [0-9]* bytes, found 8$' said || { cat said; false; }; }
check 'one that is too small' small
plugin nameless.so "$here/untrusted.c" -DNAME=NULL
check 'one without a name' merges 3 'kymo merge: nameless.so: expected kymo_records_plugin with name, found NULL' '' --records nameless.so plain
echo 'int nothing;' >nothing.c && plugin nothing.so nothing.c
check 'one with nothing' merges 3 \
  'kymo merge: nothing.so: expected a shared object that exports kymo_records_plugin, found none of that name' '' --records nothing.so plain

# ---- the command line ----

# refused TEXT ARGUMENTS…
refused() {
  local text=$1
  shift
  merges 2 "kymo merge: $text
Try \`kymo merge --help' or \`kymo merge --usage' for more information." '' "$@"
}
check 'fields of what?' refused '--by needs a definition of the records (--description, --as)' --by sec plain
check 'two orders' refused '--by and --records both choose the order of records; use one' --by sec --records ./records.so --description little.tdl plain
check 'a plug-in and a description' refused '--records and --description both define the records; use one' --records ./records.so --description little.tdl plain
check 'two descriptions' refused '--description and --as both define the records; use one' --by sec --description little.tdl --as wtmp plain
check 'what is for events' refused '--by writes the bytes of records unchanged; --filter is for events' $by_fields --filter 'sec = 1' plain
check 'a trace' refused '--records writes the bytes of records unchanged; --to is for events' --records ./records.so --to ctf1 plain
check 'no field' merges 2 'kymo merge: --by: expected fields, as "sec,usec", or time or sequence, found "sec,"' '' --description little.tdl --by sec, plain
check 'a field that does not exist' merges 2 'kymo merge: --by: little.tdl: no record to be merged has a field "usecs" (did you mean "usec"?)' '' \
  --description little.tdl --by sec,usecs plain
check 'a description that is none' merges 3 "kymo merge: ${missing/missing/missing.tdl}" '' --description missing.tdl --by sec plain
check 'a trace is still made without --by' "$kymo" merge -q -o trace --description time.tdl plain

# ---- what cannot be moved ----

# unmovable WHY ITEMS LAYOUT [MORE]
unmovable() {
  local why=$1 items=$2 layout=$3
  printf 'TRACE t;\n  BYTES LITTLE;\n%s\n  RECORD r EVENT%s\n  LAYOUT %s\nEND TRACE.\n' "${4-}" "$items" "$layout" >t.tdl
  merges 3 "kymo merge: t.tdl: its records cannot be moved to another place: $why; kymo merge --to ctf1 merges the events" '' \
    --description t.tdl --by sec plain
}
sec='sec: UNSIGNED 32;'
check 'BLOCKS' unmovable 'they are in BLOCKS' " IS $sec END;" 'BLOCKS 512 BYTES IS REPEAT r; END;'
check 'AT' unmovable 'the layout contains their place (AT) or size (SIZE)' " IS $sec END;" 'REPEAT r AT 16;'
check 'TIMES' unmovable 'the layout contains their number (TIMES, UNTIL)' " IS $sec END;" 'REPEAT r TIMES 5;'
check 'records after them' unmovable 'other records follow them' " IS $sec END; RECORD s EVENT IS $sec END;" 'REPEAT r; s;'
check 'no REPEAT' unmovable 'the layout repeats none (REPEAT)' " IS $sec END;" 'r;'
check 'containers' unmovable 'some are in containers "c"' \
  " IS $sec END; PREFIX p IS m: BYTES 4; END; RECORD c CONTROL WITH p LENGTH 8 HOLDS s AFTER XOR 1 IS END; RECORD s EVENT IS b: UNSIGNED 8; END;" 'c; REPEAT r;'
check 'HOLDS' unmovable 'other records are inside (HOLDS) "r"' " LENGTH 8 HOLDS s IS $sec END; RECORD s EVENT IS b: UNSIGNED 8; END;" 'REPEAT r;'
check 'ALIGN' unmovable 'the start of a record depends on its place (ALIGN): "r"' " ALIGN 8 IS $sec END;" 'REPEAT r;'
check 'fields of the last one' unmovable 'other records need the fields of the last "r"' \
  " WITH p WHEN kind = 1 IS $sec END; RECORD s EVENT WITH p IS LET b = r.sec; END;" 'REPEAT r OR s;' '  PREFIX p IS kind: UNSIGNED 8; END;'
check 'DISTANCE' unmovable 'their times are distances from the previous records (DISTANCE)' " IS sec: UNSIGNED 32 TIME c DISTANCE; END;" 'REPEAT r;' '  CLOCK c IS RESOLUTION 1 ns;'
check 'BASE' unmovable 'they set the base time of the records after them (BASE)' " IS sec: UNSIGNED 32 TIME c BASE; END;" 'REPEAT r;' '  CLOCK c IS RESOLUTION 1 ns;'
check 'LOW' unmovable 'only the lowest bits of their times are stored (LOW), so they must stay in time order (--by time)' \
  " IS ACQUISITION: UNSIGNED 8 TIME c LOW 8; $sec END;" 'REPEAT r;' '  CLOCK c IS RESOLUTION 1 ns;'
file_order='they set the byte order of the records after them (ORDER FILE)'
check 'ORDER FILE' unmovable "$file_order" " IS big: UNSIGNED 8; ORDER FILE BIG IF big = 1, ELSE LITTLE; $sec END;" 'REPEAT r;'
check 'ORDER FILE in a prefix' unmovable "$file_order" " WITH p IS $sec END;" 'REPEAT r;' \
  '  PREFIX p IS big: UNSIGNED 8; ORDER FILE BIG IF big = 1, ELSE LITTLE; END;'
to_end='they extend to the end of the file'
check 'a text TO END' unmovable "$to_end" " IS $sec t: STRING TO END; END;" 'REPEAT r;'
check 'bytes TO END in the second kind' unmovable "$to_end" " WITH p WHEN kind = 1 IS $sec END; RECORD s EVENT WITH p IS b: BYTES TO END; END;" \
  'REPEAT r OR s;' '  PREFIX p IS kind: UNSIGNED 8; END;'
check 'REPEAT TO END' unmovable "$to_end" " IS $sec REPEAT TO END IS b: UNSIGNED 8; END; END;" 'REPEAT r;'
check 'REMAINING' unmovable "$to_end" " IS $sec LET b = REMAINING; END;" 'REPEAT r;'
check 'a length on one way only' unmovable "$to_end" \
  " IS $sec n: UNSIGNED 8; IF n > 0 THEN m: UNSIGNED 8 LENGTH OF RECORD; END; t: STRING TO END; END;" 'REPEAT r;'

# movable ITEMS [MORE]: one file of one record "sec" stays what it is
movable() {
  printf 'TRACE t;\n  BYTES LITTLE;\n%s\n  RECORD r EVENT%s\n  LAYOUT REPEAT r;\nEND TRACE.\n' "${2-}" "$1" >t.tdl
  printf '\7\7\0\0\0ab' >one && merges 0 '' one --description t.tdl --by sec one
}
check 'TO END in a record with a length' movable " IS n: UNSIGNED 8 LENGTH OF RECORD; $sec t: STRING TO END; END;"
check 'TO END after a prefix with a length' movable " WITH p IS $sec t: STRING TO END; END;" '  PREFIX p IS n: UNSIGNED 8 LENGTH OF RECORD; END;'
check 'TO END within some bytes' movable " IS n: UNSIGNED 8; $sec USE g WITHIN 2 BYTES; END;" '  GROUP g IS t: STRING TO END; END;'
check 'PREVIOUS' unmovable 'they contain the length of the previous record (PREVIOUS)' " IS $sec before: UNSIGNED 32 LENGTH OF PREVIOUS; END;" 'REPEAT r;'
check 'tables' unmovable 'they need what other records write to the table "names"' \
  " IS $sec name: STRING 4; DEFINE names[sec] = name; END;" 'REPEAT r;' '  TABLE names KEY NUMBER HOLDS NAMES;'
