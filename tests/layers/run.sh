#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Arrows between layers go down only: every #include line of ours is held against this table. Then the
# same scan looks at a tree with planted violations, one a layer, and has to find each.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

# layer: what it may include of ours ("public" is include/kymo, "trace-header" the recorder's header alone,
# "trace-state" the state of an open trace, which outputs and commands do not see)
allowed() {
  case $1 in
    public) echo 'public trace-header' ;;
    base) echo 'base error' ;;
    schema) echo 'base schema public' ;;
    ring) echo 'base schema ring public' ;;
    record) echo 'base schema lang ring record public trace-header' ;;
    log) echo 'base schema log public trace-header' ;;
    calls) echo 'calls public trace-header' ;;
    functions) echo 'functions public trace-header' ;;
    expr) echo 'base expr' ;;
    plan) echo 'base schema expr plan public' ;;
    lang) echo 'base schema expr plan lang public' ;;
    source) echo 'base schema source public' ;;
    decode) echo 'base schema expr plan lang source decode public' ;;
    format) echo 'base schema ring plan lang source decode format public' ;;
    trace) echo 'base schema source decode trace trace-state public' ;;
    open) echo 'base format source trace trace-state open public' ;;
    filter) echo 'base schema expr plan lang source decode trace trace-state filter public' ;;
    symbols) echo 'base source trace symbols public' ;;
    span) echo 'base span public' ;;
    print) echo 'base schema source decode trace symbols print public' ;;
    sink) echo 'base schema lang source decode trace symbols span print stat sink public' ;;
    records) echo 'base plan format source trace print records public' ;;
    stat) echo 'base schema decode trace symbols span print stat public' ;;
    view) echo 'base schema decode trace filter symbols span print stat view public' ;;
    serve) echo 'base trace stat print view serve public' ;;
    query) echo 'base schema decode trace symbols span print stat query public' ;;
    fleet) echo 'base schema decode trace symbols span print stat query fleet public' ;;
    live) echo 'base schema ring lang calls live public' ;;
    process) echo 'base decode symbols span print stat view live process public' ;;
    infer) echo 'base schema record infer public trace-header' ;;
    tool) echo "$layers public trace-header" ;;
  esac
}
layers='base schema ring record log calls functions expr plan lang source decode format trace open filter symbols span print sink records stat view serve query fleet live process infer tool'

# Prints "FILE: includes WHAT" for each include that goes up.
scan() {
  local root=$1 layer file what target
  for layer in public $layers; do
    local folder=$root/src/$layer
    [ "$layer" = public ] && folder=$root/include
    [ -d "$folder" ] || continue
    while IFS=: read -r file what; do
      target=$(layer_of "$what" "$file" "$root")
      case " $(allowed "$layer") system " in
        *" $target "*) ;;
        *) echo "${file#"$root"/}: $layer includes $what ($target)" ;;
      esac
    done < <(grep -rHE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' "$folder" |
      sed -E 's/^([^:]*):[[:space:]]*#[[:space:]]*include[[:space:]]*/\1:/; s,//.*|/\*.*,,; s/[[:space:]]+$//')
  done
}

# The layer that an include names: "base/arena.h" by its folder, "list.h" by the file that includes it.
layer_of() {
  local what=$1 file=$2 root=$3 path=${1#[\"<]}
  path=${path%[\">]}
  case $what in
    '<kymo/error.h>' | '"kymo/error.h"') echo "$(error_header "$file" "$root")" ;;
    '<kymo/trace.h>' | '"kymo/trace.h"') echo trace-header ;;
    '"trace/trace.h"') echo trace-state ;;
    '<kymo/'* | '"kymo/'*) echo public ;;
    '<'*) echo system ;;
    '"'*/*) case " $layers " in *" ${path%%/*} "*) echo "${path%%/*}" ;; *) echo unknown ;; esac ;;
    '"'*) if [ -e "$(dirname "$file")/$path" ]; then own_layer "$file" "$root"; else echo unknown; fi ;;
    *) echo unknown ;;
  esac
}
# error.h knows nothing, so that the ground layer may have it as well
error_header() { case ${1#"$2"/} in src/base/*) echo error ;; *) echo public ;; esac; }
own_layer() {
  local path=${1#"$2"/}
  case $path in
    include/*) echo public ;;
    *) path=${path#src/}; echo "${path%%/*}" ;;
  esac
}

violations=$(scan "$KYMO_SOURCE")
for layer in public $layers; do
  mine=$(printf '%s\n' "$violations" | grep -F ": $layer includes " || true)
  if [ -z "$mine" ]; then
    ok "layer $layer includes nothing above it"
  else
    printf '%s\n' "$mine" | sed 's/^/    /'
    not_ok "layer $layer includes nothing above it" "$(printf '%s\n' "$mine" | wc -l) includes go up"
  fi
done

# folders that the table does not have would not be scanned
unknown=$(find "$KYMO_SOURCE/src" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort |
  grep -vxE "$(echo $layers | tr ' ' '|')" || true)
if [ -z "$unknown" ]; then ok 'every folder under src is a layer'
else not_ok 'every folder under src is a layer' "$(echo $unknown)"; fi

# The packages for other languages are programs above libkymo: of ours they include its public headers alone, and their own files.
bindings_include() { grep -rhE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' "$1" | grep -E '<kymo/|"' | grep -vE '<kymo/(read|filter|time|get|info|move|event|error|schema|sink|stat)\.h>|"[a-z_]+\.h"'; }
bindings_are_above() { [ -n "$(find "$KYMO_SOURCE/bindings" -name '*.c')" ] && ! bindings_include "$KYMO_SOURCE/bindings"; }
check 'bindings include public headers alone' bindings_are_above
mkdir "$TMPDIR/binding" && printf '#include <kymo/trace.h>\n#include "base/list.h"\n#include <kymo/read.h>\n' >"$TMPDIR/binding/a.c"
planted_in_bindings() { [ "$(bindings_include "$TMPDIR/binding" | wc -l)" = 2 ]; }
check 'bindings that include more are found' planted_in_bindings

# ---- what ARCHITECTURE.md names is there ----

# The paths and functions that a text names and that are not in the tree. Paths are from the top, or as #include lines have them; NAME
# stands for what a reader adds.
missing_of() {
  local path name
  grep -oE '`(src|include|tests|docs|fuzz|cmake|descriptions|scripts)/[^ `]*`|`[a-z_0-9]+/[a-z_0-9/]+\.h`' "$1" | tr -d '`' | sort -u | grep -v NAME |
    while read -r path; do
      compgen -G "$KYMO_SOURCE/$path" >/dev/null || [ -e "$KYMO_SOURCE/src/$path" ] || [ -e "$KYMO_SOURCE/include/$path" ] || echo "$path"
    done
  comm -23 <(grep -oE '\b(kymo|tool)_[a-z_0-9]+[a-z0-9]_?\b' "$1" | sort -u) \
    <(grep -rhoE '\b(kymo|tool)_[a-z_0-9]+\b' "$KYMO_SOURCE"/{src,include} | sort -u)
}
named_is_there() { ! missing_of "$KYMO_SOURCE/ARCHITECTURE.md" | grep .; }
check 'files and functions that ARCHITECTURE.md names exist' named_is_there
missing_is_found() {
  printf '`src/base/nothing.c` `src/base/` `base/nothing.h` `base/list.h` `kymo_nothing_there` `kymo_fail`\n' >"$TMPDIR/text.md"
  diff <(missing_of "$TMPDIR/text.md") <(printf '%s\n' base/nothing.h src/base/nothing.c kymo_nothing_there)
}
check 'files and functions that do not exist are found' missing_is_found

# ---- the scan finds what is planted ----
plant=$TMPDIR/planted
found_in() {
  local file=$1 line=$2
  rm -rf "$plant"
  mkdir -p "$plant/$(dirname "$file")"
  printf '/* text */\n%s\n' "$line" >"$plant/$file"
  [ -n "$(scan "$plant")" ]
}
expect_found() {
  if found_in "$1" "$2"; then ok "finds $2 in $1"; else not_ok "finds $2 in $1" 'not found'; fi
}
expect_clean() {
  if found_in "$1" "$2"; then not_ok "accepts $2 in $1" "$(scan "$plant")"; else ok "accepts $2 in $1"; fi
}
expect_found src/base/a.c '#include "schema/build.h"'
expect_found src/base/a.c '#include <kymo/schema.h>'
expect_found src/expr/a.c '#include "plan/machine.h"'
expect_found src/schema/a.h '#include "trace/trace.h"'
expect_found src/ring/a.c '#include "record/state.h"'
expect_found src/record/a.c '#  include "trace/trace.h"'
expect_found src/record/a.c '#include "tool/main.h"'
expect_found src/calls/a.c '#include "record/session.h"'
expect_found src/lang/tsdl/a.c '#include "trace/trace.h"'
expect_found src/decode/a.c '#include "format/list.h"'
expect_found src/decode/a.c '#include "trace/part.h"'
expect_found src/print/a.c '#include "trace/trace.h"'
expect_found src/sink/ctf/a.c '#include "trace/trace.h"'
expect_found src/tool/a.c '#include "trace/trace.h"'
expect_found src/trace/a.c ' #include "lang/tsdl/tsdl.h" /* why */'
expect_found src/format/a.c '#include "sink/list.h"'
expect_found src/format/cpel/a.c '#include "trace/trace.h"'
expect_found src/trace/a.c '#include "filter/machine.h"'
expect_found src/trace/a.c '#include "format/formats.h"'
expect_found src/sink/a.c '#include "format/list.h"'
expect_found src/records/a.c '#include "tool/tool.h"'
expect_found src/process/a.c '#include "tool/tool.h"'
expect_found src/sink/a.c '#include "../tool/main.h"'
expect_found include/kymo/a.h '#include "base/arena.h"'
expect_clean src/base/a.c '#include <kymo/error.h>'
expect_clean src/format/a.c '#include "ring/ring.h"'
expect_clean src/record/a.c '#include <kymo/trace.h>'
expect_clean src/tool/a.c '#include "sink/list.h"'
expect_clean src/sink/a.c '#include "trace/part.h"'
expect_clean src/filter/a.c '#include "trace/trace.h"'
expect_clean include/kymo/a.h '#include <stdint.h>'
