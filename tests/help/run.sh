#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# What a stranger asks first: the help of each command, its man page, and what is suggested for words that are misspelt. The table of
# commands and the options of each parser are what is compared with.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
python3 "$KYMO_SOURCE/tests/cli/sample_trace.py" mytrace || exit 1

# ---- man pages ----

mapfile -t commands < <("$kymo" --help | sed -nE 's/^  ([a-z]+)  .*/\1/p' | grep -v '^kymo$')
check 'the help lists the commands' [ "${#commands[@]}" -gt 10 ]
if meson install -C "$KYMO_BUILD" --no-rebuild --quiet --tags man --destdir "$TMPDIR/stage" >said 2>&1; then
  man=$(dirname "$(find stage -name man1 -type d | head -1)")
  # the page of a command; of one that is no more than a reference, the other one
  page() {
    local file=$man/man1/kymo-$1.1 other
    [ -f "$file" ] || { echo "there is no kymo-$1(1)" >&2; return 1; }
    other=$(sed -n 's/^\.so //p' "$file")
    [ -z "$other" ] || file=$man/$other
    [ -f "$file" ] && grep -q "^\.Nm kymo-$1\b" "$file" && echo "$file"
  }
  for command in "${commands[@]}"; do check "kymo-$command(1) is installed" page "$command"; done
  if command -v man >/dev/null; then
    by_man() { [ -s "$(man -M "$PWD/$man" -w "kymo-$1" 2>said)" ] || { cat said; return 1; }; }
    for command in "${commands[@]}"; do check "man kymo-$command" by_man "$command"; done
  else
    skip 'man kymo-COMMAND' 'there is no man'
  fi

  # options_of COMMAND…: the long options of a help
  options_of() {
    "$kymo" "$@" --help | grep -E '^ {2,6}(-[a-zA-Z?], )*--[a-z]' | grep -oE '(^ *|, )--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' |
      grep -vE '^--(help|usage|version)$' | sort -u
  }
  # has PAGE OPTION: in the page, or in one of the pages whose options it refers to
  has() {
    local other
    grep -qE -- "Fl (Fl |-)${2#--}( |\$)" "$1" && return 0
    for other in $(grep -A1 'are those of$' "$1" | sed -n 's/^\.Xr \(kymo-[a-z]*\) 1.*/\1/p'); do
      has "$man/man1/$other.1" "$2" && return 0
    done
    return 1
  }
  documented() { # COMMAND…: each option of the help is in the page, and each of the page in the help
    local file option missing=0
    file=$(page "$1") || return 1
    for option in $(options_of "$@"); do
      has "$file" "$option" || { echo "kymo-$1(1) lacks $option"; missing=1; }
    done
    return $missing
  }
  implemented() {
    local file command=$1 option missing=0
    file=$(page "$1") || return 1
    for option in $(grep -E '^\.It .*Fl ' "$file" | grep -oE 'Fl (Fl |-)[a-z0-9-]+' | sed -E 's/Fl (Fl |-)//' | sort -u); do
      shown "$command" | grep -qx -- "--$option" || { echo "kymo-$command has no --$option"; missing=1; }
    done
    return $missing
  }
  shown() {
    local view
    options_of "$1"
    [ "$1" != stat ] || for view in "${views[@]}"; do options_of stat "$view"; done
  }
  mapfile -t views < <("$kymo" help stat | sed -n '/^Statistics:/,$s/^  \([a-z]*\) .*/\1/p')
  for command in "${commands[@]}"; do
    check "kymo-$command(1) has the options of the help" documented "$command"
    check "the help has the options of kymo-$command(1)" implemented "$command"
  done
  for view in "${views[@]}"; do check "kymo-stat(1) has the options of $view" documented stat "$view"; done
else
  check 'meson install --tags man' cat said
fi
if command -v groff >/dev/null; then
  clean_page() { [ -z "$(groff -mdoc -ww -Tutf8 -I "$KYMO_SOURCE/docs/man" "$1" 2>&1 >/dev/null)" ] || groff -mdoc -ww -Tutf8 "$1" 2>&1 >/dev/null; }
  for file in "$KYMO_SOURCE"/docs/man/kymo*.1; do
    grep -q '^\.so ' "$file" || check "${file##*/} has no mistakes" clean_page "$file"
  done
fi

# ---- help ----

same_help() { [ "$("$kymo" help "$@")" = "$("$kymo" "$@" --help)" ]; }
check 'kymo help stat latency is kymo stat latency --help' same_help stat latency
of_a_view() { # what belongs to it, and nothing else
  "$kymo" help stat latency >help && head -1 help | grep -qxF 'Usage: kymo stat latency [OPTION...] TRACE...' && grep -q -- '--from=EVENT' help &&
    "$kymo" help stat counts >help && ! grep -qE -- '--(from|worst|key=FIELD|scatter)' help && "$kymo" help stat histogram | grep -qF 'histogram [OPTION...] FIELD TRACE...'
}
check 'the help of a kind of statistics has its own options' of_a_view

# narrow COMMAND…: no line of the help is wider than a terminal, and a long row of a table goes on below its text
narrow() {
  "$kymo" "$@" --help >help && [ "$(wc -L <help)" -le 79 ] && ! sed -nE '/^(Statistics|Formats|Languages|Forms):$/,/^$/p' help | grep -nvE '^([A-Z][a-z]+:|  [a-z0-9-]+ +[^ ].*| {15}[^ ].*|)$' || { cat help; return 1; }
}
check 'the help fits a terminal' narrow
for command in "${commands[@]}"; do [ "$command" = kymo ] || check "the help of $command fits a terminal" narrow "$command"; done
for view in latency functions histogram; do check "the help of the statistics $view fits a terminal" narrow stat $view; done

# ---- suggestions ----

# says TEXT COMMAND…: it ends with 2, and its first line on stderr is TEXT
says() {
  local text=$1 status
  shift
  "$kymo" "$@" >/dev/null 2>said
  status=$?
  [ $status = 2 ] && [ "$(head -1 said)" = "$text" ] || { echo "status $status: $(head -1 said)"; return 1; }
}
check 'a command' says 'kymo: there is no command "sat" (did you mean "stat"?); kymo --help lists them' sat
check 'a command, to help' says 'kymo: there is no command "snapshto" (did you mean "snapshot"?); kymo --help lists them' help snapshto
check 'an option of kymo' says 'kymo: unknown option "--versoin" (did you mean "--version"?); kymo --help lists all' --versoin
check 'an option of a command' says 'kymo cat: unknown option "--fromat" (did you mean "--format"?)' cat --fromat=json mytrace
check 'an option of its children' says 'kymo info: unknown option "--fliter" (did you mean "--filter"?)' info mytrace --fliter 'a = 1'
check 'an option of a kind of statistics' says 'kymo stat: unknown option "--forom" (did you mean "--from"?)' stat regression --forom x mytrace
check 'an option that is like none' says 'kymo cat: unknown option "--xyzzyxyzzy"' cat --xyzzyxyzzy mytrace
check 'an option that begins several' says "kymo cat: option '--clock-' is ambiguous; possibilities: '--clock-cycles' '--clock-date' '--clock-gmt' '--clock-seconds' '--clock-offset' '--clock-offset-ns'" cat --clock- mytrace
check 'a kind of statistics' says 'kymo stat: expected the number or name of a process, or a kind of statistics and traces, found "latncy" (did you mean "latency"?)' stat latncy mytrace
touch a-trace
check 'a trace without a kind of statistics' says 'kymo stat: which statistics of the trace a-trace? For example: kymo stat latency a-trace, kymo stat counts a-trace' stat a-trace
check 'a kind of statistics, to help' says 'kymo stat: there is no kind of statistics "latncy" (did you mean "latency"?)' help stat latncy
check 'a format that is printed' says 'kymo cat: there is no format "jason" (did you mean "json"?)' cat -f jason mytrace
check 'a format of files' says 'kymo convert: there is no format "cpl" (did you mean "cpel"?)' convert -f cpl -o out mytrace
check 'a form of descriptions' says 'kymo describe: there is no form "tsld" (did you mean "tsdl"?)' describe -f tsld mytrace
check 'a language' says 'kymo compile: there is no language "tdll" (did you mean "tdl"?)' compile --from tdll x
check 'a format of tables' says 'kymo stat counts: --format is text, json, csv or vpp, not "cvs" (did you mean "csv"?)' stat counts -f cvs mytrace
check 'an order' says 'kymo stat counts: --sort is total, count, mean, max, name or self, not "nmae" (did you mean "name"?)' stat counts --sort nmae mytrace
check 'a level' says 'kymo enable: there is no level "warnign" (did you mean "warning"?)' enable --level warnign 1 x
check 'a mode' says 'kymo record: --mode is discard or overwrite, not "discrad" (did you mean "discard"?)' record --mode discrad -- true
check 'an event' says 'kymo cat: --event net:xr: the traces have no event of such a name (did you mean "net:rx"?)' cat --event net:xr mytrace
commands_are_passed() { # options of what is recorded are not ours
  "$kymo" record -q -o out -- ls --colour=never / 2>said
  ! grep -q 'unknown option "--colour' said && ! grep -q 'kymo' said
}
check 'options of a command that is recorded' commands_are_passed
arguments_are_passed() { "$kymo" cat -q --event bare -- mytrace >printed; [ $? = 1 ] && [ "$(grep -c bare printed)" = 2 ]; }
check 'options before --' arguments_are_passed

# ---- -f ----

check '-f with a filter, where there are formats' says 'kymo cat: -f is a format; a filter in a file is --filter-file x.fdl' cat -f x.fdl mytrace
check '-f with a filter, in statistics' says 'kymo stat counts: -f is a format; a filter in a file is --filter-file x.filter' stat counts -f x.filter mytrace
check '-f with a filter, in converting' says 'kymo convert: -f is a format; a filter in a file is --filter-file x.filter' convert -f x.filter -o out mytrace
check '-f with a filter, where there are no formats' says 'kymo info: -f is a format; a filter in a file is --filter-file x.fdl' info -f x.fdl mytrace
check '-f with a language' says 'kymo compile: -f is a format; the language of the file is --from tdl' compile -f tdl x.tdl
formats() {
  [ "$("$kymo" stat counts -q -f csv mytrace)" = "$("$kymo" stat counts -q --csv mytrace)" ] &&
    [ "$("$kymo" describe -f doc mytrace)" = "$("$kymo" describe --as doc mytrace)" ] && { "$kymo" convert -q -f ctf1 -o converted mytrace; [ -f converted/metadata ]; }
}
check '-f is a format in all commands' formats
