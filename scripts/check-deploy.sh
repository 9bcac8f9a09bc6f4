#!/usr/bin/env bash
# Tests what is deployed: image, manifests, chart, dashboard and alerts. Their tests lie in modules of their own, because of what they need.
#   check-deploy.sh FILE      FILE collects the outcome of each test
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
outcomes="$PWD/$1"

scripts/setup-deploy.sh
go build -o bin/testsum ./tools/testsum
failed=0
for tool in image helm promcheck; do
  (cd "tools/$tool" && ../../bin/testsum run -o "$outcomes" -- ./...) || failed=1
done
exit "$failed"
