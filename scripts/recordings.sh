# Sourced by what replays real conversations: finds the files with them.
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
coding="$PALIMPSEST_DATA/mini_swe_agent/conversations.jsonl"
long="$PALIMPSEST_DATA/pi_sessions/conversations.jsonl"
service=("$PALIMPSEST_DATA"/tau*/conversations.jsonl)
