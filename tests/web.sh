# SPDX-License-Identifier: MIT
# Sourced by the suites of the page of kymo view, after tests/lib.sh:
#   needs_web_packages NAME   fetches the packages of src/view/web into $KYMO_BUILD/web, once per rung and again when the
#                             list of them changes, and exports KYMO_MODULES, their folder; ends the suite, with NAME as
#                             skipped, where there is no node or no network
#   needs_packages NAME FROM TO   the same of the packages of another folder, into another one
#   needs_browser NAME        exports KYMO_CHROMIUM; ends the suite likewise where there is none, or no server. Chromium's shell
#                             without windows comes first: it takes 40 % less CPU time than the browser
#   run_parts FOLDER PART…    runs FOLDER/PART.mjs; KYMO_PART=PART runs one of them. KYMO_SHOTS=FOLDER keeps a picture of each tab.
#                             (tests/run does not hand these two on.)
# They are in a folder of their own then, without a display.
cd "$TMPDIR" || exit 1
export XDG_CACHE_HOME=$TMPDIR/cache KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions KYMO_RINGS=$TMPDIR/rings KYMO=$KYMO_BUILD/kymo
export PYTHONDONTWRITEBYTECODE=1
unset DISPLAY WAYLAND_DISPLAY SSH_CONNECTION BROWSER
mkdir -p rings
needs_web_packages() { needs_packages "$1" "$KYMO_SOURCE/src/view/web" "$KYMO_BUILD/web"; }
needs_packages() {
  local source=$2 modules=$3
  command -v node >/dev/null || { skip "$1" 'node is not installed'; exit 0; }
  [ "$(node -p 'process.versions.node.split(".")[0] >= 20')" = true ] || { skip "$1" "node $(node --version) is older than 20"; exit 0; }
  mkdir -p "$modules"
  exec 9>"$modules/lock"
  flock 9
  if ! cmp -s "$source/package-lock.json" "$modules/installed"; then
    rm -rf "$modules/installed" "$modules/node_modules"
    cp "$source/package.json" "$source/package-lock.json" "$modules/"
    if (cd "$modules" && npm_config_cache=$TMPDIR/packages npm ci --no-audit --no-fund) >fetched 2>&1; then
      cp "$source/package-lock.json" "$modules/installed"
    else
      tail -5 fetched | sed 's/^/    /'
      skip "$1" 'its packages cannot be fetched (npm ci)'
      exit 0
    fi
  fi
  exec 9>&-
  export KYMO_MODULES=$modules/node_modules
}
needs_browser() {
  local chromium
  chromium=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome) || { skip "$1" 'chromium is not installed'; exit 0; }
  if "$KYMO_BUILD/kymo" view --no-browser --idle-exit 1ms "$KYMO_SOURCE/README.md" 2>&1 | grep -q 'built without'; then
    skip "$1" 'kymo is built without libmicrohttpd'
    exit 0
  fi
  export KYMO_CHROMIUM=$chromium
}
run_parts() {
  local folder=$1 part
  shift
  for part; do
    [ "${KYMO_PART:-$part}" != "$part" ] || node "$folder/$part.mjs" || not_ok "$part.mjs" "exit code $?"
  done
}
