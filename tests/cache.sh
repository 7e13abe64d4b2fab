# SPDX-License-Identifier: MIT
# Sourced by suites that build the project anew, in their folder: ccache, where it is installed, takes objects from the
# cache that `make` uses, which outlives the checkout. The suites have another home.
if [ -z "${CCACHE_DIR:-}" ] && command -v ccache >/dev/null; then
  CCACHE_DIR=$(env -u XDG_CACHE_HOME HOME="$(getent passwd "$(id -u)" | cut -d: -f6)" ccache --get-config cache_dir)
  [ -w "$CCACHE_DIR" ] || CCACHE_DIR=$KYMO_BUILD/ccache
  export CCACHE_DIR
fi
export CCACHE_BASEDIR=$TMPDIR CCACHE_NOHASHDIR=1
