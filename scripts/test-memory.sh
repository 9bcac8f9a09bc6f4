#!/usr/bin/env bash
# Runs the tests of long-term memory with the services' real components, which plain tests leave out.
#   test-memory.sh FILE      FILE collects the outcome of each test
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup-memory.sh
# Tests run in the folders of their packages. In CI what is missing is a failure: the interpreter is named all the same.
python="$PWD/bin/memory-venv/bin/python"
if [[ -x "$python" || -n "${CI:-}" ]]; then export PALIMPSEST_MEM0_PYTHON="$python" PALIMPSEST_BOTOCORE_PYTHON="$python"; fi

packages=(./pkg/memory/... ./test/memories)
# shellcheck disable=SC2086 # flags are words
go run ./tools/testsum run -o "$1" -- -timeout 15m ${TESTFLAGS:-} "${packages[@]}"
