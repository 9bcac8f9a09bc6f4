#!/usr/bin/env bash
# Runs what is asked of the stores in full, which `make test-stores` asks in part: some hours.
#   CHECKS      random sequences of 50 calls on each store, 2000
#   ROUNDS      how often servers are killed under load, 20
#   SHARED      seconds that clients work at several sidecars, 120
#   OTHER       a sidecar of another version (an absolute path), to run beside this one for ten minutes; left out without it
#   SEED        what all is drawn from, at random
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export RAPID_SEED="${SEED:-$((RANDOM << 30 | RANDOM << 15 | RANDOM))}" CI="${CI:-true}"
echo "stores in full, SEED=$RAPID_SEED"
failed=()
part() { # WHAT, then a command
  echo "==> $1"
  start=$SECONDS
  "${@:2}" || failed+=("$1")
  echo "    took $((SECONDS - start)) s"
}

part "the same calls on every store" env RAPID_CHECKS="${CHECKS:-2000}" scripts/in-memory.sh go test -count=1 -timeout 12h \
  -run 'Contract.*/Model' ./pkg/store/memory ./pkg/store/bolt ./pkg/store/postgres ./pkg/store/redis -rapid.steps=50
part "servers killed under load" env PALIMPSEST_FAULT_ROUNDS="${ROUNDS:-20}" go test -count=1 -v -timeout 3h -run 'Fault|Kill|Lost|Gone' \
  ./pkg/store/postgres ./pkg/store/redis
part "several sidecars, killed" env PALIMPSEST_SHARED_SECONDS="${SHARED:-120}" go test -count=1 -v -timeout 1h -run 'Shared' ./test/shared
if [[ -n "${OTHER:-}" ]]; then
  part "two versions on one store" env PALIMPSEST_OTHER_SIDECAR="$OTHER" PALIMPSEST_SHARED_SECONDS=600 go test -count=1 -v -timeout 1h \
    -run 'Shared.*(Linearizable|ContextsOfOne)' ./test/shared
fi
part "a million messages" env PALIMPSEST_SOAK=1m go test -count=1 -v -timeout 1h -run 'Soak' ./test/shared
part "times beside bare statements" env PALIMPSEST_TEST_SPEED=1 PALIMPSEST_STORE_BARS=1 go test -count=1 -v -timeout 1h -p 1 -run 'Speed' ./pkg/store/postgres ./pkg/store/redis
if ((${#failed[@]})); then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
