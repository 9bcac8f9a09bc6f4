#!/usr/bin/env bash
# Fails if what is generated and committed is not what the protos and go.mod generate today.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
record=pkg/store/record
licenses=cmd/sidecar/THIRD_PARTY_LICENSES
python=clients/python/src/palimpsest_context

fresh="$(mktemp -d)"
trap 'rm -rf "$fresh"' EXIT
scripts/gen.sh "$fresh"
status=0
scripts/gen-python-client.sh "$fresh" || status=$?
if ((status == 3)) && [[ -z "${CI:-}" ]]; then
  echo "what the Python client has of the protos was not checked"
  mkdir -p "$fresh/$python"
  cp -R "$python/v1" "$python/reasons.py" "$fresh/$python/"
elif ((status)); then
  exit "$status"
fi

# Compared by the list of generated files on both sides, so that a missing, a
# changed and a left-over file all show.
generated() {
  (cd "$1" && find gen "$record" -name '*.pb.go' 2>/dev/null | sort && find "$python/v1" -name '*.py*' -not -path '*/__pycache__/*' 2>/dev/null | sort &&
    echo "$python/reasons.py" && echo "$licenses") || true
}
failed=0
while read -r file; do
  if ! diff -u "$file" "$fresh/$file" >"$fresh/diff" 2>&1; then
    echo "drift: $file"
    head -n 20 "$fresh/diff"
    failed=1
  fi
done < <({ generated .; generated "$fresh"; } | sort -u)

# Right on this disk and forgotten in the commit is drift in every other clone.
if git rev-parse --git-dir >/dev/null 2>&1; then
  while read -r file; do
    echo "not committed: $file"
    failed=1
  done < <(git ls-files --others --exclude-standard -- gen "$record" "$python" "$licenses" | grep -e '\.pb\.go$' -e "^$python/" -e "^$licenses$" || true)
fi

if ((failed)); then
  echo "generated code has drifted: run 'make gen' and commit the result" >&2
  exit 1
fi
echo "generated code is up to date"
