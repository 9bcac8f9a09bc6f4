#!/usr/bin/env bash
# Runs the tests that measure time, one after the other, which plain tests leave out. Nothing else should run meanwhile.
#   test-speed.sh FILE      FILE collects the outcome of each test
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t measuring < <(go run ./tools/testargs internal/testlane.Speed internal/testlane.Slack)
PALIMPSEST_TEST_SPEED=1 go run ./tools/testsum run -o "$1" -- -count=1 -p 1 -parallel 1 -timeout 20m "${measuring[@]}"
