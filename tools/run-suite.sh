#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one suite and leaves its result where tools/test-summary.py counts it.
#
#   run-suite.sh meson  OUT BUILD JOBS              builds BUILD, then its unit tests      -> OUT.meson.json
#   run-suite.sh pytest OUT BUILD WORKERS ARGS...   builds the program, then pytest on it    -> OUT.xml
#   run-suite.sh lint   OUT BUILD JOBS              tools/lint.sh                          -> OUT.tap
#   run-suite.sh fuzz   OUT BUILD SECONDS           every fuzz target for so long          -> OUT.tap
#
# The exit status is the suite's; OUT.status keeps it, so that a suite that broke before its first test counts as a failure.
set -uo pipefail
kind=$1 out=$2 build=$3 number=$4
shift 4
mkdir -p "$(dirname "$out")"
echo started >"$out.status"

export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1:exitcode=99}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1:exitcode=99}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-second_deadlock_stack=1:halt_on_error=0:exitcode=99}"

finish() {
  echo "$1" >"$out.status"
  exit "$1"
}

compile() { # TARGET...; none: all
  local log="$out.build.log"
  if ! ninja -C "$build" "$@" >"$log" 2>&1; then
    grep -vE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 60 >&2
    finish 1
  fi
}

case $kind in
meson)
  compile
  rm -f "$build/meson-logs/testlog.json"
  meson test -C "$build" --no-rebuild --print-errorlogs --num-processes "$number" "$@"
  status=$?
  cp "$build/meson-logs/testlog.json" "$out.meson.json" || status=1
  finish "$status"
  ;;
pytest)
  compile pawl pawl-runner pawl-http.so pawl-postgres.so
  PAWL_BUILD=$build /usr/bin/python3 -B -m pytest -q -p no:cacheprovider -n "$number" --durations=5 --junitxml="$out.xml" "$@"
  finish $?
  ;;
lint)
  tools/lint.sh "$build" "$number" | tee "$out.tap"
  finish $?
  ;;
fuzz)
  mapfile -t targets < <(ninja -C "$build" -t targets all | sed -n 's|^\(tests/fuzz/fuzz_[a-z0-9_]*\): .*|\1|p' | sort)
  compile "${targets[@]}"
  targets=("${targets[@]/#/$build/}")
  mkdir -p "$build/found"
  n=0 bad=0
  : >"$out.tap"
  for target in "${targets[@]}"; do
    name=$(basename "$target")
    n=$((n + 1))
    work=$(mktemp -d)
    corpora=("$work")
    [ -d "tests/fuzz/corpus/${name#fuzz_}" ] && corpora+=("tests/fuzz/corpus/${name#fuzz_}")
    if "$target" -max_total_time="$number" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$build/found/$name-" "${corpora[@]}" >"$build/found/$name.log" 2>&1; then
      echo "ok $n - $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/found/$name.log") inputs in ${number}s" | tee -a "$out.tap"
    else
      bad=1
      tail -n 40 "$build/found/$name.log" >&2
      echo "not ok $n - $name: see $build/found/" | tee -a "$out.tap"
    fi
    rm -rf "$work"
  done
  echo "1..$n" >>"$out.tap"
  finish "$bad"
  ;;
*)
  echo "run-suite.sh: unknown suite '$kind'" >&2
  exit 2
  ;;
esac
