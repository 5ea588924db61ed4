# SPDX-License-Identifier: MIT
# Sourced by tools/run, tools/test, tools/bench and .ci/run.

# storlua_build TOP PRESET [cmake options]: configures and builds quietly. The
# log is shown only when it fails.
storlua_build() (
  cd "$1"
  preset=$2
  shift 2
  mkdir -p build
  log=build/$preset.log
  if ! cmake --preset "$preset" "$@" >"$log" 2>&1 ||
    ! cmake --build "build/$preset" >>"$log" 2>&1; then
    tail -n 60 "$log" >&2
    echo "storlua: the $preset build failed; its log is $log" >&2
    exit 1
  fi
)
