#!/usr/bin/env bash
# Tests every adapter and client with the newest versions that the registries serve, beside those that are locked, and says what broke.
#   test-doors-newest.sh [NAME...]      all by default: agent_framework … strands, vercel, python, typescript, java, go
# What it installs, its logs and table.md are in bin/doors-newest. For an adapter in Python, NAME.txt there is what would be locked: copy
# it to test/doors/adapters/requirements if its row holds. An environment of today is taken as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out="$PWD/bin/doors-newest" today="$(date -u +%F)"
mkdir -p "$out"
requirements=test/doors/adapters/requirements

fresh() { [[ "$(cat "$out/$1.day" 2>/dev/null)" == "$today" ]]; }
made() { echo "$today" >"$out/$1.day"; }

python_packages() { # NAME WANTED
  if fresh "$1"; then return; fi
  rm -rf "${out:?}/$1"
  # A version that the file for locking names is for the locked environment.
  sed 's/==.*//' "$2" >"$out/$1.in"
  python3 -m venv "$out/$1"
  "$out/$1/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade -r "$out/$1.in"
  "$out/$1/bin/python" -m pip freeze --disable-pip-version-check >"$out/$1.txt"
  made "$1"
}

node_packages() { # NAME FOLDER
  if fresh "$1"; then return; fi
  rm -rf "${out:?}/$1"
  mkdir "$out/$1"
  cp "$2/package.json" "$out/$1/"
  (
    cd "$out/$1"
    # Those that are there twice, under a name of their own, keep their major version.
    mapfile -t names < <(node -p 'Object.entries(require("./package.json").dependencies).filter(d => !d[1].startsWith("npm:")).map(d => d[0] + "@latest").join("\n")')
    npm install --ignore-scripts --no-audit --no-fund --loglevel=error "${names[@]}"
  )
  made "$1"
}

java_packages() {
  if fresh java; then return; fi
  rm -rf "${out:?}/java"
  mvn --batch-mode --quiet -f clients/java/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$out/java" \
    -Dgrpc.version=RELEASE -Dprotobuf.version=RELEASE >/dev/null
  made java
}

# What is wanted of an environment, with its versions there: "a 1.2, b 3".
python_versions() { # WANTED FREEZE
  sed 's/#.*//; s/==.*//; s/\[.*//' "$1" | awk 'NR == FNR { wanted[tolower($1)] = 1; next } { split($0, p, "=="); if (tolower(p[1]) in wanted) printf "%s%s %s", (n++ ? ", " : ""), p[1], p[2] }' - \
    <(grep -v '^\(pytest\|mypy\|pyright\|types-.*\)==' "$2")
}
node_versions() { node -p 'Object.entries(require(require("path").resolve(process.argv[1])).dependencies).map(d => d[0] + " " + d[1].replace(/^\^/, "")).join(", ")' "$1/package.json"; }

# The first line of a log that says why: of a compiler, npm, pytest, node, else the last of a Go test.
why() { # LOG
  { grep -hE 'error TS[0-9]+|npm error peer|^ *(FAILED|E) |^ *(not ok|✖) ' "$1" || grep -h '_test\.go:[0-9]*: ' "$1" | tac; } | sed '2,$d' | tr -s ' |' ' ' | cut -c 1-160 || true
}

broken=0
row() { # NAME TEST LOCKED NEWEST
  local verdict=holds
  # Without CI what is missing would skip, and prove nothing.
  if ! CI=1 PALIMPSEST_DOORS_NEWEST="$out" go test ./test/doors -count=1 -timeout 15m -v -run "^$2\$" >"$out/$1.log" 2>&1 ||
    ! grep -q '^--- PASS' "$out/$1.log"; then
    verdict="**breaks**: $(why "$out/$1.log")"
    broken=$((broken + 1))
  fi
  echo "| $1 | $3 | $4 | $verdict |" | tee -a "$out/table.md"
}

check() { # NAME
  case "$1" in
    vercel)
      node_packages vercel test/doors/adapters/vercel
      row vercel TestAdapters_Vercel_.* "$(node_versions test/doors/adapters/vercel)" "$(node_versions "$out/vercel")"
      ;;
    typescript)
      node_packages typescript test/doors/typescript
      row typescript TestTypeScript_BuiltPackage_Holds "$(node_versions test/doors/typescript)" "$(node_versions "$out/typescript")"
      ;;
    python)
      python_packages python test/doors/python/requirements.in
      row python TestPython_Package_Holds "$(python_versions test/doors/python/requirements.in test/doors/python/requirements.txt)" \
        "$(python_versions test/doors/python/requirements.in "$out/python.txt")"
      ;;
    java)
      java_packages
      row java TestJava_BuiltJar_Holds "$(sed -n 's#.*<\(grpc\|protobuf\)\.version>\(.*\)</.*#\1 \2#p' clients/java/pom.xml | paste -sd, | sed 's/,/, /')" "$(ls "$out/java" | sed -n 's/^\(grpc-stub\|protobuf-java\)-\(.*\)\.jar/\1 \2/p' | paste -sd, | sed 's/,/, /')"
      ;;
    go)
      local modules=(google.golang.org/grpc google.golang.org/protobuf)
      row go TestGo_Module_Holds "$(go list -m "${modules[@]}" | paste -sd, | sed 's/,/, /')" "$(go list -m "${modules[@]/%/@latest}" | paste -sd, | sed 's/,/, /')"
      ;;
    *)
      python_packages "$1" "$requirements/$1.in"
      row "$1" "TestAdapters_EveryFramework_Plays/^$1" "$(python_versions "$requirements/$1.in" "$requirements/$1.txt")" "$(python_versions "$requirements/$1.in" "$out/$1.txt")"
      ;;
  esac
}

if (($# == 0)); then
  for wanted in "$requirements"/*.in; do set -- "$@" "$(basename "$wanted" .in)"; done
  set -- "$@" vercel python typescript java go
fi
printf '| %s, %s | locked | newest | with the newest |\n|---|---|---|---|\n' "adapter or client" "$today" | tee "$out/table.md"
for name in "$@"; do check "$name"; done
if ((broken > 0)); then
  echo "$broken broke: see $out/NAME.log" >&2
  exit 1
fi
