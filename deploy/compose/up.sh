#!/bin/sh
# Runs everything on this machine in containers: creates missing secrets, then runs `docker compose up` with the given options.
set -eu
# Compose looks here for compose.yaml and an operator's compose.override.yaml and .env.
cd "$(dirname "$0")/.."
# Before anything is made.
docker compose version > /dev/null || {
  echo "Docker and its compose plugin, version 2, are needed: https://docs.docker.com/compose/install/" >&2
  exit 1
}
compose/make-secrets.sh
# Compose requires the file; the operator adds the LLM providers' keys.
[ -e providers.env ] || (umask 077 && : > providers.env)
exec docker compose up --build "$@"
