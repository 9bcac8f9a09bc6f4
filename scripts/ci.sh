#!/usr/bin/env bash
# Runs every check and says at the end which failed: one run shows all there is
# to mend. The last line is the count of all tests.
#   ci.sh FILE      FILE collects the outcome of each test
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
outcomes="$1"

# Without vet: its analyzers are among those of lint.
steps=(check-gen proto-lint proto-breaking lint test test-stores test-memory test-doors check-deploy test-speed race)
broken=()
for step in "${steps[@]}"; do
  echo "==> $step"
  start=$SECONDS
  make "$step" || broken+=("$step")
  echo "    $step took $((SECONDS - start)) s"
done

echo "==> result"
status=0
if ((${#broken[@]})); then
  echo "failed: ${broken[*]}"
  status=1
fi
go run ./tools/testsum total "$outcomes" 2>/dev/null || status=1
exit "$status"
