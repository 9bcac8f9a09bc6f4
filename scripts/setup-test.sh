#!/usr/bin/env bash
# Installs what tests need beside Go, where it is missing and where we may:
# python3 with venv, node with npm, a JDK with Maven, a C compiler for the race
# detector, the servers of the shared stores.
# What stays missing is said, and the tests that need it say that they skip.
set -euo pipefail

missing=() why=()
need() { # PACKAGE, WHAT IT IS FOR
  missing+=("$1")
  why+=("$2")
}

probe() {
  missing=() why=()
  if ! command -v python3 >/dev/null; then
    need python3 "Python clients"
    need python3-venv "Python clients"
  elif ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    # Debian ships python3 without it.
    need python3-venv "Python clients"
  fi
  if ! command -v node >/dev/null; then need nodejs "TypeScript clients"; fi
  if ! command -v npm >/dev/null; then need npm "TypeScript clients"; fi
  if ! command -v javac >/dev/null; then need default-jdk-headless "Java clients"; fi
  if ! command -v mvn >/dev/null; then need maven "Java clients"; fi
  if ! command -v cc >/dev/null && ! command -v gcc >/dev/null; then
    need gcc "the race detector"
    need libc6-dev "the race detector"
  fi
  # Tests start servers of their own: what a package sets up by itself stays as it is.
  if ! ls /usr/lib/postgresql/*/bin/postgres /usr/local/pgsql/bin/postgres >/dev/null 2>&1 && ! command -v postgres >/dev/null; then
    need postgresql "the Postgres store"
  fi
  if ! command -v pgbouncer >/dev/null && [[ ! -x /usr/sbin/pgbouncer ]]; then need pgbouncer "the Postgres store behind a pooler"; fi
  if ! command -v redis-server >/dev/null; then need redis-server "the Redis store"; fi
  if ! command -v valkey-server >/dev/null; then need valkey-server "the Redis store on Valkey"; fi
}

# Debian 12 has Valkey among its backports, which are no source of packages by themselves.
backports() { # PACKAGE
  local list options
  . /etc/os-release
  [[ "$ID" == debian ]] || return 1
  list="$(mktemp)"
  echo "deb http://deb.debian.org/debian $VERSION_CODENAME-backports main" >"$list"
  options=(-o "Dir::Etc::sourcelist=$list" -o APT::Get::List-Cleanup=0)
  apt-get "${options[@]}" update -qq >/dev/null 2>&1 && apt-get "${options[@]}" install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}

probe
if ((${#missing[@]} == 0)); then exit 0; fi

if [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >/dev/null || echo "apt-get update failed"
  # One by one: what cannot be installed keeps nothing else from coming.
  for package in "${missing[@]}"; do
    apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 || backports "$package" || echo "apt-get install $package failed"
  done
  probe
fi
for i in "${!missing[@]}"; do
  echo "missing: ${missing[$i]}, for ${why[$i]}"
done
