#!/usr/bin/env bash
# Runs every property at random. A failure says the command that repeats it.
#   CHECKS      how many cases each, 10000
#   SEED        what they are drawn from, at random: a whole run is repeated with it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export RAPID_SEED="${SEED:-$((RANDOM << 30 | RANDOM << 15 | RANDOM))}" RAPID_CHECKS="${CHECKS:-10000}"
echo "every property, $RAPID_CHECKS cases, SEED=$RAPID_SEED"
mapfile -t properties < <(go run ./tools/testargs internal/proptest.Check internal/proptest.CheckN)
# Not from the cache, which does not know the seed.
go run ./tools/testsum run -- -count=1 -timeout 24h "${properties[@]}"
