#!/usr/bin/env bash
# Installs what the tests of long-term memory need beside Go, into bin/memory-venv: the package mem0ai, and AWS's own model of its services.
# What stays missing is said, and the tests that need it say that they skip; in CI they fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/python-venv.sh bin/memory-venv pkg/memory/mem0/mem0test/requirements.txt pkg/memory/agentcore/testdata/requirements.txt ||
  echo "missing: the packages mem0ai and botocore, for Mem0's own server and AWS's own rules (is the network there?)"
