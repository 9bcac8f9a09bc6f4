#!/usr/bin/env bash
# Replays every real conversation of PALIMPSEST_DATA through the sidecar, at
# every window and in every provider's format: under the policy none, so that the
# window's limit alone is at work, under the sidecar's own policy, the same with
# citations, and under balanced. Prints one row for each and fails on a missed
# bar (tools/replaybars says which bars there are). Besides:
#   the recordings with several calls in a message, each call and each result
#   appended by itself; the coding runs once more alone, where their prompt cache
#   has a bar.
# WINDOWS, FORMATS and SAMPLE (every how many conversations) override what is
# replayed, and KEEP names a folder for the reports, which else are deleted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sample="${SAMPLE:-0}"
windows="${WINDOWS:-4096 8192 32768 131072}"
formats="${FORMATS:-openai-chat openai-responses anthropic gemini}"
source scripts/recordings.sh
parallel=("$PALIMPSEST_DATA"/{pi_sessions,tau2_*}/conversations.jsonl)

flags=(--json --reserve 0)
if ((sample > 0)); then flags+=(--sample "$sample"); fi

if [[ -n "${KEEP:-}" ]]; then
  results="$KEEP"
  mkdir -p "$results"
else
  results="$(mktemp -d)"
  trap 'rm -rf "$results"' EXIT
fi
replayed=()
replay() { # WINDOW FORMAT LABEL FLAG|FILE...
  local result
  result="$results/$(printf %07d "$1")-$2$3.json"
  echo "replaying: window $1, $2$3" >&2
  # What replay thinks of its result is judged below, with all the others.
  bin/sidecar replay "${@:4}" --window "$1" --format "$2" "${flags[@]}" >"$result" 2>/dev/null ||
    echo "replay of window $1, $2$3 ended with exit code $?" >&2
  replayed+=("$result")
}
for window in $windows; do
  for format in $formats; do
    replay "$window" "$format" "" "${files[@]}" --cite
    replay "$window" "$format" " (balanced)" "${files[@]}" --policy balanced --alone
    replay "$window" "$format" " (calls apart)" "${parallel[@]:-${files[@]}}" --split-calls
  done
done
if [[ -f "$coding" && " $windows " == *" 32768 "* ]]; then
  for format in $formats; do
    replay 32768 "$format" " (coding runs)" "$coding" --policy none --alone
  done
fi
go run ./tools/replaybars "${replayed[@]}"
