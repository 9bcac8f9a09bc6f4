#!/usr/bin/env bash
# Runs the client tests of other languages that are not Go tests already.
#   interop.sh FILE      FILE collects the outcome
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -f test/interop/run.sh ]]; then
  go run ./tools/testsum script -o "$1" test/interop/run.sh -- bash test/interop/run.sh
elif ! compgen -G 'test/interop/*_test.go' >/dev/null; then
  echo "test/interop is missing: no client of another language was tested"
fi
