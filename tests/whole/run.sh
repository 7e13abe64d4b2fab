#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Signs that CTF traces are not complete: files that come twice, empty ones, ones that are cut between two packets;
# traces and clocks that are the same by their identity; fields of one name.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
here=$KYMO_SOURCE/tests/whole kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
python3 "$KYMO_SOURCE/tests/differential/small_traces.py" small
python3 "$here/traces.py" . || exit 1

# ---- files ----

two_packets() { rm -rf "$1" && cp -r small/losses-of-a-directory-below "$1"; }
# damaged WANTED TRACE LINES: the one line that is said, the exit status, and how many events are printed
damaged() {
  "$kymo" cat "$2" >events 2>words
  [ $? = 1 ] && [ "$(cat words)" = "$1" ] && [ "$(grep -vc '^#' events)" = "$3" ] || { cat words; return 1; }
}
# says_lost STATUS LINES TRACE: how kymo cat ends, and its message about losses, "the trace is …"
says_lost() {
  "$kymo" cat "$3" >events 2>words
  [ $? = "$1" ] && [ "$(sed -n 's/^kymo cat: the trace is incomplete: //p' words)" = "$2" ] || { cat words; return 1; }
}
# warns WANTED TRACE LINES: the warnings that are said, and how many events are printed
warns() {
  "$kymo" cat "$2" >events 2>words
  diff <(printf '%s' "$1${1:+$'\n'}") <(grep warning: words) && [ "$(grep -vc '^#' events)" = "$3" ]
}

two_packets copies
cp copies/ust/stream copies/ust/again && cp copies/ust/stream copies/ust/another
check 'each copy of a stream file is named' warns "kymo cat: warning: copies/ust/another: byte 0: begins with the packet that copies/ust/again begins with: duplicate packets are left out
kymo cat: warning: copies/ust/stream: byte 0: begins with the packet that copies/ust/another begins with: duplicate packets are left out" copies 2

two_packets empty
: >empty/ust/stream_of_nothing
check 'an empty stream is named' warns \
  'kymo cat: warning: empty/ust/stream_of_nothing: byte 0: the stream is empty: nothing was written to it, or all of it was truncated' empty 2

two_packets cut
mkdir cut/ust/index && python3 "$here/traces.py" index cut/ust/index/stream.idx 9 9
check 'a whole stream is as long as its index says' warns '' cut 2
truncate -s 9 cut/ust/stream
check 'a stream that is cut between packets is shorter than its index says' damaged \
  'kymo cat: cut/ust/stream: byte 9: expected 1 more packet, up to byte 18, as the index says; the file ends here' cut 1
info_says() { "$kymo" info cut >info 2>words; [ $? = 1 ] && grep -q 'cut/ust/stream: byte 9: expected 1 more packet' info words; }
check 'kymo info reports it, too' info_says

recorded() {
  "$KYMO_CC" -O1 $sanitizer -I"$KYMO_SOURCE/include" "$here/program.c" -o program -L"$KYMO_BUILD" -lkymo-trace -Wl,-rpath,"$KYMO_BUILD" -pthread &&
    "$kymo" record -q -o trace -- ./program && [ "$(cat trace/.kymo/files)" = "stream_0 $(stat -c %s trace/stream_0)" ]
}
check 'a recorder notes how long its files are' recorded
cp -r trace whole_trace
check 'a recorded trace is whole' eval '"$kymo" cat trace >events 2>words && ! grep -q warning: words'
packets() { "$kymo" info --json trace | python3 -c 'import json, sys; print(json.load(sys.stdin)["traces"][0]["streams"][0]["packets"])'; }
cut_recorded() {
  local length
  [ "$(packets)" -gt 2 ] || return 1
  length=$(python3 "$here/traces.py" packet trace/stream_0) && truncate -s "$length" trace/stream_0  || return 1
  "$kymo" cat trace >events 2>words
  [ $? = 1 ] && grep -q "^kymo cat: trace/stream_0: byte $length: expected [0-9]* bytes, which the recorder wrote; the file ends here$" words || { cat words; return 1; }
}
check 'a recorded stream that is cut between packets is named' cut_recorded
# without FROM TO: the stream of a copy of the trace lacks its packets FROM up to before TO
without() {
  rm -rf trace && cp -r whole_trace trace && python3 "$here/traces.py" without trace/stream_0 "$1" "$2"
}
cut_in_the_middle() { # the numbers of packets show it, and the length of the file
  without 2 3 && says_lost 1 '1 packet is lost' trace && rm trace/.kymo/files &&
    says_lost 1 '1 packet is lost' trace && without 1 4 && rm trace/.kymo/files && says_lost 1 '3 packets are lost' trace
}
check 'packets that are missing in the middle are a loss' cut_in_the_middle
cut_at_the_begin() { # only the length shows it: traces of flight recorders begin with any number
  without 0 2 && says_lost 1 '' trace && without 0 2 && rm trace/.kymo/files && says_lost 0 '' trace
}
check 'packets that are missing at the begin are damage where the length of the file is known' cut_at_the_begin
missing_file() { rm -rf trace && cp -r whole_trace trace && rm trace/stream_0 && ! "$kymo" info trace >info 2>&1 && grep -q 'trace/stream_0: byte 0: expected a file of [0-9]* bytes, which the recorder wrote: it is missing' info; }
check 'a recorded stream that is missing is named' missing_file

# ---- files at which a reader would wait for ever ----

never_waits() { # never_waits FILE: it is a FIFO, and the trace's events still come
  rm -rf waits && cp -r whole_trace waits && rm -f "waits/$1" && mkdir -p "$(dirname "waits/$1")" && mkfifo "waits/$1" || return 1
  timeout 20 "$kymo" cat waits >events 2>words
  [ $? -le 1 ] && [ "$(wc -l <events)" = "$2" ] || { cat words; return 1; }
}
for file in .kymo/files .kymo/clocks .kymo/modules .kymo/index .kymo/cause index/stream_0.idx; do
  check "$file is a FIFO: it is not waited for" never_waits $file "$("$kymo" cat whole_trace | wc -l)"
done
check 'a stream file that is a FIFO is not waited for' never_waits stream_0 0

# ---- identity ----

part_count() { "$kymo" info --json "$@" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["traces"]))'; }
check 'namespace, name and uid make two directories one trace' [ "$(part_count same/a same/b)" = 1 ]
check 'its events are merged' [ "$("$kymo" cat -f json same/a same/b | grep -o '"v":[0-9]' | tr -d '\n')" = '"v":1"v":2"v":3"v":4' ]
check 'another uid is another trace' [ "$(part_count same/a same/clock)" = 2 ]
check 'clocks of one identity are correlated' [ "$("$kymo" cat -f json same/a same/clock | grep -o '"v":[0-9]' | tr -d '\n')" = '"v":1"v":3"v":5' ]
other_clock() {
  "$kymo" cat same/a same/other >events 2>words
  [ $? = 3 ] && grep -q "the clocks 'm' (id 'this-clock') and with the id 'other-clock' have no common origin" words || { cat words; return 1; }
}
check 'clocks that are not correlated are named by their ids' other_clock

# ---- fields of one name ----

check 'JSON has no key twice' [ "$("$kymo" cat -f json twice)" = '{"event":"e","fields":{"a":1,"b":2,"a##2":3,"a##3":4,"a#2":5}}' ]
check 'tables have a column for each field' [ "$("$kymo" cat -f csv twice | tr '\n' ' ')" = 'ts,time,event,tid,thread,cpu,a,b,a##2,a##3,a#2 ,,e,,,,1,2,3,4,5 ' ]
