#!/usr/bin/env bash
# Replays every real conversation of PALIMPSEST_DATA through the sidecar, at
# every window and in every provider's format, prints one row for each pair and
# fails on a missed bar (tools/replaybars says which bars there are).
#   replay-all.sh             all of it
#   replay-all.sh --sample    a few conversations of each file, two windows
# WINDOWS, FORMATS and SAMPLE override what is replayed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sample="${SAMPLE:-0}"
windows="${WINDOWS:-4096 8192 32768 131072}"
formats="${FORMATS:-openai-chat openai-responses anthropic gemini}"
if [[ "${1:-}" == --sample ]]; then
  sample="${SAMPLE:-10}"
  windows="${WINDOWS:-4096 32768}"
fi

if [[ -z "${PALIMPSEST_DATA:-}" ]]; then
  echo "PALIMPSEST_DATA is not set: it names the folder with the conversations to replay" >&2
  exit 1
fi
shopt -s nullglob
files=("$PALIMPSEST_DATA"/*/conversations.jsonl)
if ((${#files[@]} == 0)); then
  echo "no conversations.jsonl lies under PALIMPSEST_DATA" >&2
  exit 1
fi

flags=(--json --reserve 0)
if ((sample > 0)); then flags+=(--sample "$sample"); fi

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
for window in $windows; do
  for format in $formats; do
    result="$results/$(printf %07d "$window")-$format.json"
    # What replay thinks of its result is judged below, with all the others.
    bin/sidecar replay "${files[@]}" --window "$window" --format "$format" "${flags[@]}" >"$result" ||
      echo "replay of window $window, $format ended with exit code $?" >&2
  done
done
go run ./tools/replaybars "$results"/*.json
