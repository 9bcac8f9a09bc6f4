#!/usr/bin/env bash
# Runs the tests of stores that sidecars share, and then those that repeat on their servers what plain tests do without any.
#   test-stores.sh FILE FLAG... -- PACKAGE...      FILE collects the outcome of each test
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
outcomes="$1"
shift
flags=()
while [[ "$1" != -- ]]; do
  flags+=("$1")
  shift
done
shift

failed=0
go run ./tools/testsum run -o "$outcomes" -- "${flags[@]}" "$@" || failed=1
if [[ " ${flags[*]}" == *" -run"* ]]; then exit "$failed"; fi # somebody wants but some
mapfile -t repeated < <(go run ./tools/testargs internal/testlane.OnServers)
PALIMPSEST_TEST_SERVERS=1 go run ./tools/testsum run -o "$outcomes" -- "${flags[@]}" "${repeated[@]}" || failed=1
exit "$failed"
