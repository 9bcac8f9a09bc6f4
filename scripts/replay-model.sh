#!/usr/bin/env bash
# Replays the coding runs and the long session of PALIMPSEST_DATA against a
# sidecar whose summaries a model writes (tools/replaymodel, which bills as
# providers do), prints what these calls add to the bill, asked behind the live
# prefix and given the span as data, and fails on a missed bar. SAMPLE (every how
# many conversations) overrides what the bars are made of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/recordings.sh

go run ./tools/replaymodel bin/sidecar "$coding" "$long"
