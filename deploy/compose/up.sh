#!/bin/sh
# Runs everything on this machine in containers: creates missing secrets, then runs `docker compose up` with the given options.
set -eu
# Compose looks here for compose.yaml and an operator's compose.override.yaml and .env.
cd "$(dirname "$0")/.."
compose/make-secrets.sh
# Compose requires the file; the operator adds the LLM providers' keys.
[ -e providers.env ] || (umask 077 && : > providers.env)
exec docker compose up --build "$@"
