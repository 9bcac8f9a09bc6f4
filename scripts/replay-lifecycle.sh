#!/usr/bin/env bash
# Replays every real conversation of PALIMPSEST_DATA under policies of expiry,
# and holds what that saves and costs against the same replay without one
# (tools/replaybars says which bars there are):
#   results compacted to 500 characters after 2, 5, 10 and 20 turns, at once and
#   put off until it pays; results removed at once; results summarized without a
#   model. The last two, and one of the first, also in small windows and in every
#   format.
# SAMPLE (every how many conversations) overrides what is replayed: all of them
# in the large window, every fifth in the small ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/recordings.sh

results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
policy() { # NAME RESULTS MODE: writes a policy under which results expire, and nothing else but the window is at work
  printf 'conversation:\n  expiration:\n    results: {%s}\n  rewrite: {mode: %s}\n  pruning: {enabled: false}\n  compaction: {strategy: sliding_window}\n' \
    "$2" "$3" >"$results/$1.yaml"
}
replay() { # NAME FLAG...: plays everything into NAME.json
  echo "replaying: $1" >&2
  # What replay thinks of its result is judged below, with all the others.
  bin/sidecar replay "${files[@]}" --json "${@:2}" >"$results/$1.json" 2>/dev/null ||
    echo "replay of $1 ended with exit code $?" >&2
}

# The long session took place in a window of 200,000 tokens: there, and only
# there, none of it is cut, and what is saved is saved by expiry alone.
large=(--window 200000 --sample "${SAMPLE:-1}")
replay none --policy none --alone "${large[@]}"
for turns in 2 5 10 20; do
  for mode in eager coalesced; do
    policy "$mode-$turns" "turns: $turns, mode: compact, compact_length: 500" "$mode"
    replay "$mode-$turns" --policy "$results/$mode-$turns.yaml" --alone "${large[@]}"
  done
done
policy removed "turns: 0, mode: remove" eager
policy summarized "turns: 2, mode: compact, compact_mode: ai_summary, compact_length: 500" coalesced
for name in removed summarized; do
  replay "$name" --policy "$results/$name.yaml" --alone "${large[@]}"
done
for name in removed summarized coalesced-2; do
  for window in 8192 32768; do
    for format in openai-chat openai-responses anthropic gemini neutral; do
      replay "$name at $window as $format" --policy "$results/$name.yaml" --alone --window "$window" --format "$format" --sample "${SAMPLE:-5}"
    done
  done
done
go run ./tools/replaybars lifecycle "$results"/*.json
