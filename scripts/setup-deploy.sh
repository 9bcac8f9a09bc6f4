#!/usr/bin/env bash
# Installs what the tests of deploy need beside Go: kubernetes-validate, into bin/deploy-venv, and, as root on Debian, buildah.
# What stays missing is said, and the tests that need it say that they skip.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=bin/deploy-venv
wanted=tools/helm/requirements.txt

if ! cmp -s "$wanted" "$venv/installed.txt"; then
  rm -rf "$venv"
  if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
    cp "$wanted" "$venv/installed.txt"
  else
    echo "missing: kubernetes-validate, for manifests"
  fi
fi

if ! command -v buildah >/dev/null && [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >/dev/null || echo "apt-get update failed"
  apt-get install -y -qq --no-install-recommends buildah >/dev/null || echo "apt-get install buildah failed"
fi
if ! command -v buildah >/dev/null; then
  echo "missing: buildah, for the image as another tool sees it"
fi
