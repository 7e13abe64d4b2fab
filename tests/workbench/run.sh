#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# The text of the pages of kymo explain: --html and --format html. The suite workbench-page uses the page in Chromium.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
export TZ=UTC KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions
kymo=$KYMO_BUILD/kymo
python3 "$KYMO_SOURCE/tests/workbench/data.py" || { not_ok 'data is made' 'it is not'; exit 1; }

# Lines of a page: what the problems say, the heads of the records, the fields with values and places, faulty lines.
problems() { sed -n 's/^<li><button type="button"[^>]*>\(.*\)<\/button><\/li>$/\1/p' "$1"; }
heads() { sed -n 's/^<div class="record".* aria-label="\([^"]*\)".*/\1/p' "$1"; }
fields() { sed -n 's/^<li.*<span class="name [^>]*>\(.*\)<\/span><\/li>$/\1/p' "$1" | sed 's/<[^>]*>//g; s/  */ /g'; }
faults() { sed -n 's/^<div class="line fault".* data-line="\([0-9]*\)".*/\1/p' "$1"; }
# shows NAME WANTED: what FUNCTION prints of a page is this
is() { diff <(printf '%s\n' "$2") <($1 "$3"); }
page() { "$kymo" explain --html "$@"; }

# ---- what fits ----

fits() {
  page good.html --key lift.tdl good.log &&
    is heads 'head (control), 8 bytes at 0
doors (event), 6 bytes at 8
ride (event), 13 bytes at 14' good.html &&
    is fields '_mark &quot;LIFT&quot; byte 0, 4 bytes, line 6
version 1 byte 4, 2 bytes, line 7
(filler) byte 6, 2 bytes, line 8
_kind 1 byte 8, 1 byte, line 11
_size 6 byte 9, 1 byte, line 12
(time) 500 byte 10, 2 bytes, line 13
EVENT 0 (opens) byte 12, 1 byte, line 16
a 1 byte 13, bits 0-3, line 17
b 2 byte 13, bits 4-7, line 17
_kind 2 byte 14, 1 byte, line 11
_size 13 byte 15, 1 byte, line 12
(time) 600 byte 16, 2 bytes, line 13
floor 5 byte 18, 1 byte, line 20
x 1 byte 19, 1 byte, line 23
y 2 byte 20, 1 byte, line 24
x 3 byte 21, 1 byte, line 23
y 4 byte 22, 1 byte, line 24
(hidden) 2 byte 23, 1 byte, line 27
note &quot;hi&quot; byte 24, 2 bytes, line 27
(not read) byte 26, 1 byte' good.html &&
    grep -q '<p>Nothing: each record that is shown is as described.</p>' good.html && ! grep -q 'id="cut"' good.html
}
check 'each field has its bytes, its value and its line' fits
compiled() { "$kymo" compile -o lift.key lift.tdl && page key.html --key lift.key good.log && cmp key.html good.html; }
check 'a compiled description has the same lines' compiled
alone() {
  ! grep -nE 'https?://|<link[^>]*href="[^d]|src=|@import|url\(' good.html && ! grep -niE '<[^>]* on[a-z]+=|<[^>]* style=|javascript:' good.html &&
    [ "$(grep -c '<script' good.html)" = 1 ] && grep -q "Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-" good.html
}
check 'the page has no address, no handler and no style in its elements, and a policy' alone
hashes() { # the policy is that of this script and this style
  python3 - good.html <<'P'
import base64, hashlib, re, sys
text = open(sys.argv[1], encoding='utf-8').read()
for name in 'script', 'style':
    body = re.search(f'<{name}>(.*?)</{name}>', text, re.S)[1]
    wanted = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
    assert f"{name}-src 'sha256-{wanted}'" in text, name
P
}
check 'the policy has the hashes of the script and of the style' hashes

# ---- what does not ----

stops() {
  page bad.html --key lift.tdl bad.log &&
    is problems 'byte 32: R4: there is no such floor (line 21)
byte 36: R2: 8 bits of a field in a window with 0 left, in ride after m.y; not read from here: 19 bytes (line 27)' bad.html &&
    is faults '21
27' bad.html && [ "$(heads bad.html | tail -1)" = 'Reading stops at 27' ] &&
    [ "$(fields bad.html | sed -n '/byte 31,/p')" = 'floor 50 byte 31, 1 byte, line 20' ]
}
check 'where reading stops, what was read before, and the lines' stops
other() { # the head of another format: no record at all
  sed 's/LIFT/LIVE/' lift.tdl >live.tdl && page other.html --key live.tdl good.log &&
    is problems 'byte 0: R4: _mark is not &quot;LIVE&quot;, found &quot;LIFT&quot; (line 6)' other.html || return 1
  sed 's/_kind=1/_kind=7/' lift.tdl >seven.tdl && page other.html --key seven.tdl good.log &&
    is problems 'byte 8: R3: no kind of record fits; not read from here: 19 bytes (line 31)' other.html && is faults 31 other.html
}
check 'a description of something else: the line that says so' other
gaps() {
  page boxes.html --key boxes.tdl boxes.log; problems boxes.html; heads boxes.html
}
wanted='byte 19: 45 bytes of no record
byte 64: R4: value is not in 1..100, found 300, at byte 2 of what is unpacked there (line 8)
byte 83: 3 bytes of no record
box (control), 19 bytes at 0
sample (event), 2 bytes at 0+0
sample (event), 2 bytes at 0+2
45 bytes of no record, at 19
box (control), 19 bytes at 64
sample (event), 2 bytes at 64+0
sample (event), 2 bytes at 64+2
3 bytes of no record, at 83'
boxes() { diff <(echo "$wanted") <(gaps); }
if "$kymo" cat --key boxes.tdl boxes.log 2>&1 | grep -q 'built without'; then
  skip 'records in containers, and bytes that belong to no record' 'kymo is built without zlib'
else
  check 'records in containers, and bytes that belong to no record' boxes
fi
inert() {
  page evil.html --key names.tdl 'a<b>&.log' || return 1
  ! grep -n '<img\|<b>bold\|<u>\|<i>' evil.html && [ "$(grep -c '<script' evil.html)" = 1 ] && grep -qF '<h1>a&lt;b&gt;&amp;.log</h1>' evil.html &&
    grep -qF '&lt;i&gt;&quot;it&#39;s&quot;' evil.html && grep -qF '&lt;u&gt;x&lt;/u&gt;' evil.html && grep -qF '1 (&lt;img src=x onerror=alert(1)&gt;' evil.html &&
    grep -qF 'R4: &lt;img src=x' evil.html && ! grep -q $'\xe2\x80\xae' evil.html && ! LC_ALL=C grep -q $'\xff' evil.html
}
check 'texts of the file and of the description are inert' inert

# ---- bounds ----

many() {
  page many.html --key many.tdl many.log && [ "$(heads many.html | wc -l)" = 50 ] && grep -q 'Not the whole file: records after the last one here are not shown.' many.html &&
    grep -q '(1002 more fields are not shown)' many.html && heads many.html | grep -qx 'big (event), 3502 bytes at 0; the first 1024 bytes are shown' &&
    [ "$(grep -c '<div class="row">' many.html)" = $((50 * 64)) ]
}
full() { # 3 KiB a record … in a page of 32 MiB
  page full.html --key many.tdl long.log --limit 10000 && [ "$(stat -c %s full.html)" -lt $((34 << 20)) ] && grep -q 'records after the last one here are not shown.' full.html
}
python3 -c 'import sys; sys.stdout.buffer.write(bytes(3502 * 1000))' >long.log
check 'a page has at most about 32 MiB; it says so' full
check 'a page has at most 50 records, and a bounded part of each; it says so' many
chosen() { # FIRST CUT OPTION…
  local first=$1 cut=$2
  shift 2
  page chosen.html --key many.tdl many.log "$@" && diff <(echo "$first") <(heads chosen.html | head -1 | grep -o 'at [0-9]*') && diff <(echo "$cut") <(sed -n 's/.*id="cut">\(.*\) --limit.*/\1/p' chosen.html)
}
late='Not the whole file: records before the first one here are not shown.' both='Not the whole file: records before the first and after the last one here are not shown.'
check 'from an event on' chosen 'at 31518' "$both" --record 10 --limit 3
check 'from a byte on' chosen 'at 31518' "$both" --offset 32000
check 'from a time on' chosen 'at 203116' "$late" --begin 58
check 'the last records' chosen 'at 206618' "$late" --record 60 --limit 1

# ---- refusals ----

check 'no such record' says 3 'kymo explain: many.log: the trace has fewer events' page x.html --key many.tdl many.log --record 61
check 'no such byte' says 3 'kymo explain: many.log: no record contains this byte' page x.html --key many.tdl many.log --offset 999999
check 'no such time' says 3 'kymo explain: many.log: no event from --begin 99 on' page x.html --key many.tdl many.log --begin 99
check 'a limit of nothing' says_first 2 'kymo explain: --limit is a number from 1 to 10000, found 0' page x.html --key many.tdl --limit 0 many.log
check 'a limit without a page' says_first 2 'kymo explain: --limit is for --html' "$kymo" explain --key many.tdl --limit 1 many.log
check 'a plan in a page' says_first 2 'kymo explain: --html is without --plan' page x.html --key many.tdl --plan many.log
check 'another format' says_first 2 'kymo explain: --format is text or html, not "json"' "$kymo" explain --key many.tdl --format json many.log
check 'a folder that is not there' says 3 'kymo explain: none/x.html: No such file or directory' page none/x.html --key lift.tdl good.log
none() { [ ! -e x.html ] && ! ls x.html.* 2>/dev/null; }
check 'a refusal leaves no file' none

# ---- one record ----

check 'a record for a document' diff - <("$kymo" explain --format html --key lift.tdl good.log) <<'H'
<div class="kymo-record">
<div class="head">doors (event), 6 bytes at 8</div>
<div class="bytes">
<div class="row"><span class="offset" aria-hidden="true">       8</span>  <span class="c1">01</span> <span class="c2">06</span> <span class="c3">f4 01</span> <span class="c4">00</span> <span class="c5">21</span>                                <span class="text" aria-hidden="true">.....!</span></div>
</div>
<ul>
<li><span class="node"><span class="name c1">_kind</span> <span class="value">1</span> <span class="where">byte 8, 1 byte, line 11</span></span></li>
<li><span class="node"><span class="name c2">_size</span> <span class="value">6</span> <span class="where">byte 9, 1 byte, line 12</span></span></li>
<li><span class="node"><span class="name c3">(time)</span> <span class="value">500</span> <span class="where">byte 10, 2 bytes, line 13</span></span></li>
<li><span class="node"><span class="name c4">EVENT</span> <span class="value">0 (opens)</span> <span class="where">byte 12, 1 byte, line 16</span></span></li>
<li><span class="node"><span class="name c5">a</span> <span class="value">1</span> <span class="where">byte 13, bits 0-3, line 17</span></span></li>
<li><span class="node"><span class="name c6">b</span> <span class="value">2</span> <span class="where">byte 13, bits 4-7, line 17</span></span></li>
</ul>
</div>
H
