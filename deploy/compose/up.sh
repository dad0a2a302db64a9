#!/bin/sh
# Everything on this machine in containers: secrets unless they are there, then `docker compose up` with the given options.
set -eu
# Where compose finds compose.yaml, and an operator's compose.override.yaml and .env.
cd "$(dirname "$0")/.."
compose/make-secrets.sh
# Compose wants the file to be there; the LLM providers' keys are the operator's to put in.
[ -e providers.env ] || (umask 077 && : > providers.env)
exec docker compose up --build "$@"
