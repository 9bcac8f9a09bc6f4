#!/usr/bin/env bash
# Replays real conversations of PALIMPSEST_DATA with citations: long results are
# kept outside of the view from the start, and read where they are needed. Prints
# what was cited, what that costs and keeps in reach, and how fast passages are
# found, and fails on a missed bar (tools/replaybars says which bars there are):
#   the coding runs with what their tools printed in full, and the long session,
#   with citations and without; everything in small windows, in every format and
#   under policies that make views smaller besides.
# SAMPLE (every how many conversations) overrides what the bars are made of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/recordings.sh

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
replay() { # NAME FLAG...: plays into NAME.json
  echo "replaying: $1" >&2
  # What replay thinks of its result is judged below, with all the others.
  bin/sidecar replay "${@:2}" --cite --json >"$results/$1.json" 2>/dev/null ||
    echo "replay of $1 ended with exit code $?" >&2
}
replay coding-raw "$coding" --raw --policy none --sample "${SAMPLE:-1}"
replay coding "$coding" --policy none --sample "${SAMPLE:-1}"
replay long "$long" --policy none --policy balanced
for window in 8192 32768; do
  for format in openai-chat openai-responses anthropic gemini neutral; do
    replay "$format at $window" "${files[@]}" --raw --alone --window "$window" --format "$format" --policy balanced --policy expiry --sample 20
  done
done
go run ./tools/replaybars citations "$results"/*.json
