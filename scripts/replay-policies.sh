#!/usr/bin/env bash
# Replays every real conversation of PALIMPSEST_DATA under the policies that
# ship, prints the tables of docs/policies.md, and holds against bars what the
# presets cost and keep in reach, and what compactions leave of the long session
# (tools/replaybars says which bars there are). The presets are played at five
# caps, on the half of the coding runs that they were tuned on, on the other, on
# sessions joined of five runs each, on the long session and on customer service.
# PRESETS plays other files in their place, with their names. With PAGE=FILE the
# tables are written into a page; with FRONTIER=FILE it also plays what lies
# between the policies, and draws the picture into FILE.
# KEEP names a folder for the reports, which else are deleted, and
# SAMPLE (every how many conversations) overrides what the wide table is made of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/recordings.sh

results="${KEEP:-$(mktemp -d)}"
if [[ -z "${KEEP:-}" ]]; then trap 'rm -rf "$results"' EXIT; else mkdir -p "$results"; fi
replay() { # NAME FLAG...: plays into NAME.json
  local began=$SECONDS
  # What replay thinks of its result is judged below, with all the others.
  bin/sidecar replay "${@:2}" --json >"$results/$1.json" 2>/dev/null ||
    echo "replay of $1 ended with exit code $?" >&2
  echo "replayed: $1, $((SECONDS - began)) s" >&2
}

policy() { # FILE PRUNING COMPACTION EXPIRATION MAX_TOKENS [CITATIONS]: writes a policy
  mkdir -p "$(dirname "$results/$1")"
  printf 'conversation:\n  pruning: {%s}\n  compaction: {%s}\n  expiration: {%s}\n  fit: {%s}\n  citations: {%s}\n' \
    "$2" "$3" "$4" "${5:+max_context_tokens: $5}" "${6:-}" >"$results/$1.yaml"
}

presets=()
for name in ${PRESETS:-balanced thrifty}; do
  # A preset that this checkout does not ship is not played.
  if [[ -f "$name" || -f "internal/policies/$name.yaml" ]]; then presets+=(--policy "$name"); fi
done
shipped=("${presets[@]}")
for name in none sliding prune-40k expiry summarize cite default; do shipped+=(--policy "$name"); done

window=(--window 131072)
capped=("${window[@]}" --caps 87.5%,93.75%,100%,106.25%,112.5% --bound)
first=(--sample 2) second=(--sample 2 --offset 1)
replay half-first "$coding" "${capped[@]}" "${presets[@]}" "${first[@]}"
replay half-second "$coding" "${capped[@]}" "${presets[@]}" "${second[@]}"
replay session "$long" "${capped[@]}" "${presets[@]}"
replay service "${service[@]}" "${capped[@]}" "${presets[@]}"
# What the presets are compared with says all that it is made of: it stays when defaults change.
policy today/summarize "enabled: false" "strategy: summarize, keep_recent: 20, tail_percent: 25, list_tokens: 2500" "enabled: false" "48000, target_percent: 50"
joined=("${capped[@]}" "${presets[0]}" "${presets[1]}" --policy "$results/today/summarize.yaml" --join 5)
replay joined-first "$coding" "${joined[@]}" "${first[@]}"
replay joined-second "$coding" "${joined[@]}" "${second[@]}"

replay money "${files[@]}" "${window[@]}" "${shipped[@]}" --sample "${SAMPLE:-1}"
# Summaries in the whole window too, which summarize does not use.
policy whole/summaries "enabled: false" "strategy: summarize" "enabled: false" ""
for size in 131072 65536 32768; do
  replay "long-$size" "$long" --window "$size" --policy summarize "${presets[0]}" "${presets[1]}" --policy "$results/whole/summaries.yaml" --alone
done
for size in 8192 32768; do
  for format in openai-responses anthropic gemini neutral; do
    replay "$format at $size" "${files[@]}" --window "$size" --format "$format" --policy summarize "${presets[0]}" "${presets[1]}" --alone --sample 20
  done
done
if [[ -n "${PAGE:-}" ]]; then go run ./tools/replaybars page "$PAGE" "$results"/*.json; fi
judged=0
go run ./tools/replaybars policies "$results"/*.json || judged=$?

if [[ -z "${FRONTIER:-}" ]]; then exit "$judged"; fi
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
replay frontier "$coding" "$long" "${window[@]}" "${shipped[@]}" "${curves[@]}" --sample 3 --bound
go run ./tools/replaybars frontier "$results/frontier.json" >"$results/frontier.svg"
mv "$results/frontier.svg" "$FRONTIER"
exit "$judged"
