#!/usr/bin/env bash
# Replays every real conversation of PALIMPSEST_DATA under the policies that
# ship, prints the table of docs/policies.md, and holds against bars what
# balanced costs and keeps in reach, and what compactions leave of the long
# session (tools/replaybars says which bars there are). With FRONTIER=FILE it
# also plays what lies between the policies, and draws the picture into FILE.
# SAMPLE (every how many conversations) overrides what the table is made of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/recordings.sh

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
replay() { # NAME FLAG...: plays into NAME.json
  echo "replaying: $1" >&2
  # What replay thinks of its result is judged below, with all the others.
  bin/sidecar replay "${@:2}" --json >"$results/$1.json" 2>/dev/null ||
    echo "replay of $1 ended with exit code $?" >&2
}
printf 'conversation: {}\n' >"$results/default.yaml" # what the server does of itself
shipped=()
for name in none sliding prune-40k expiry summarize balanced cite "$results/default.yaml"; do shipped+=(--policy "$name"); done

policy() { # FILE PRUNING COMPACTION EXPIRATION MAX_TOKENS [CITATIONS]: writes a policy
  mkdir -p "$(dirname "$results/$1")"
  printf 'conversation:\n  pruning: {%s}\n  compaction: {%s}\n  expiration: {%s}\n  fit: {%s}\n  citations: {%s}\n' \
    "$2" "$3" "$4" "${5:+max_context_tokens: $5}" "${6:-}" >"$results/$1.yaml"
}

replay money "${files[@]}" "${shipped[@]}" --sample "${SAMPLE:-1}"
# Summaries in the whole window too, which summarize does not use.
policy whole/summaries "enabled: false" "strategy: summarize" "enabled: false" ""
for window in 131072 65536 32768; do
  replay "long-$window" "$long" --window "$window" --policy summarize --policy balanced --policy "$results/whole/summaries.yaml" --alone
done
for window in 8192 32768; do
  for format in openai-responses anthropic gemini neutral; do
    replay "$format at $window" "${files[@]}" --window "$window" --format "$format" --policy summarize --policy balanced --alone --sample 20
  done
done
go run ./tools/replaybars policies "$results"/*.json

if [[ -z "${FRONTIER:-}" ]]; then exit; fi
curves=()
curve() { # FILE...: the policy is one of a family's
  policy "$@"
  curves+=(--policy "$results/$1.yaml")
}
for thousands in 24 32 64 96; do
  curve "window/${thousands}k" "enabled: false" "strategy: sliding_window" "enabled: false" "${thousands}000"
done
for thousands in 32 48 64 96; do
  curve "summaries/${thousands}k" "enabled: false" "strategy: summarize" "enabled: false" "${thousands}000"
done
for pair in 10-5 10-10 10-20 20-20 40-20; do
  curve "pruning/$pair" "protect_tokens: ${pair%-*}000, minimum_tokens: ${pair#*-}000" "strategy: sliding_window" "enabled: false" ""
done
for turns in 2 5 10; do
  curve "expiry/$turns" "enabled: false" "strategy: sliding_window" "results: {turns: $turns, mode: compact, compact_length: 500}" ""
done
for chars in 500 1000 2000 4000 8000; do
  curve "citations/$chars" "enabled: false" "strategy: sliding_window" "enabled: false" "" "enabled: true, threshold_chars: $chars"
done
replay frontier "$coding" "$long" "${shipped[@]}" "${curves[@]}" --sample 3
go run ./tools/replaybars frontier "$results/frontier.json" >"$results/frontier.svg"
mv "$results/frontier.svg" "$FRONTIER"
