#!/usr/bin/env bash
# Replays every real conversation of PALIMPSEST_DATA through the sidecar, at
# every window and in every provider's format, under the policy none, so that the
# window's limit alone is at work, prints one row for each pair and fails on a
# missed bar (tools/replaybars says which bars there are).
# The coding runs are replayed once more alone, where their prompt cache has a bar.
# WINDOWS, FORMATS and SAMPLE (every how many conversations) override what is replayed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sample="${SAMPLE:-0}"
windows="${WINDOWS:-4096 8192 32768 131072}"
formats="${FORMATS:-openai-chat openai-responses anthropic gemini}"
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

flags=(--json --reserve 0 --policy none --alone)
if ((sample > 0)); then flags+=(--sample "$sample"); fi

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
replay() { # WINDOW FORMAT LABEL FILE...
  local result
  result="$results/$(printf %07d "$1")-$2$3.json"
  # What replay thinks of its result is judged below, with all the others.
  bin/sidecar replay "${@:4}" --window "$1" --format "$2" "${flags[@]}" >"$result" ||
    echo "replay of window $1, $2 ended with exit code $?" >&2
}
for window in $windows; do
  for format in $formats; do
    replay "$window" "$format" "" "${files[@]}"
  done
done
coding="$PALIMPSEST_DATA/mini_swe_agent/conversations.jsonl"
if [[ -f "$coding" && " $windows " == *" 32768 "* ]]; then
  for format in $formats; do
    replay 32768 "$format" " (coding runs)" "$coding"
  done
fi
go run ./tools/replaybars "$results"/*.json
