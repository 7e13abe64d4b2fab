#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kymo convert --to arrow: files and streams are read by npm's apache-arrow, and have what kymo cat --format json prints.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"
here=$KYMO_SOURCE/tests/arrow
kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8
query=$KYMO_SOURCE/tests/query
python3 "$query/make_trace.py" one 1 800 && python3 "$query/make_trace.py" two 2 300 && python3 "$query/names_trace.py" names &&
  python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace && python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 1 12 &&
  python3 "$here/late_trace.py" late || exit 1

# ---- what cannot be written ----

check 'options are checked' says 2 'kymo convert: the format "arrow" has no option "x"' "$kymo" convert --to arrow:x -o out one
check 'two codecs' says 2 'kymo convert: arrow: lz4 and zstd both compress; use one' "$kymo" convert --to arrow:lz4,zstd -o out one
check 'the standard output' says 2 'kymo convert: arrow: one file for each event class needs a directory; arrow:events is one table' "$kymo" convert --to arrow -o - one
mkdir full && touch full/x
check 'a directory that is not empty' says 3 'kymo convert: full: cannot write: the directory is not empty' "$kymo" convert --to arrow -o full one
check 'a file that is there' says 3 'kymo convert: full/x: cannot write: File exists' "$kymo" convert --to arrow:events -o full/x one
check 'a full disk' says 3 'kymo convert: -: cannot write: No space left on device' bash -c '"$0" convert --to arrow:events -o - one >/dev/full' "$kymo"
limited() { # a limit of the size of files, with the effect of a full disk
  for options in '' :events; do
    says 3 "kymo convert: out${1-}: cannot write: File too large" bash -c "trap '' XFSZ; ulimit -f 4; $kymo convert --to arrow$options -o out one 2>&1 | sed 's,out/[^ ]*:,out:,'; exit \${PIPESTATUS[0]}" &&
      [ ! -e out ] || return 1
  done
}
check 'nothing stays of what failed' limited
same_stdout() { "$kymo" convert --to arrow:events,stream -o - one >a && "$kymo" convert --to arrow:events,stream -o b one && cmp a b && "$kymo" convert --to arrow:events -o - one >c && "$kymo" convert --to arrow:events -o d one && cmp c d; }
check 'the same on the standard output' same_stdout
empty_folder() { mkdir empty && "$kymo" convert --to arrow -o empty one && diff <(printf '%s\n' alloc.arrow net:rx.arrow work_begin.arrow work_end.arrow) <(ls empty); }
check 'into an empty directory' empty_folder
chosen() { "$kymo" convert --to arrow --event net:rx -o chosen one && diff <(echo net:rx.arrow) <(ls chosen); }
check 'only chosen events' chosen

# ---- the same values ----

needs_packages 'Arrow by apache-arrow' "$here" "$KYMO_BUILD/arrow"
same() { python3 "$here/same_rows.py" "$kymo" "$here/read.mjs" "$@"; }
for options in - stream zstd lz4,stream events events,stream events,zstd; do check "one, $options" same "$options" one; done
for trace in mytrace names random/*; do check "$trace" same - "$trace"; done
check 'mytrace as one table' same events mytrace
check 'two traces' same - one two
check 'a described file with lists of structs' same - "$KYMO_SOURCE/examples/ping.pcap"
check 'several batches, and dictionaries that grow' same - late
check 'several batches as a stream' same stream,zstd late
several() { "$kymo" convert --to arrow -o late-out late && node "$here/read.mjs" late-out/step.arrow | head -1 | grep -qF '{"batches":2,'; }
check 'there are several batches' several
none() { "$kymo" convert --to arrow:events --filter 'port = 1' -o none.arrow one; node "$here/read.mjs" none.arrow | diff - <(echo '{"batches":1,"rows":0,"fields":[["ts","Timestamp<NANOSECOND, UTC>"],["thread","Dictionary<Int32, Utf8>"],["tid","Int64"],["cpu","Int64"],["trace","Int64"],["message","Utf8"],["class","Dictionary<Int32, Utf8>"],["fields","Utf8"],["context","Utf8"]]}'); }
check 'a table without rows' none
