#!/bin/sh
# Everything on this machine in containers: secrets unless they are there, then `docker compose up` with the given options.
set -eu
here="$(dirname "$0")"
"$here/make-secrets.sh"
exec docker compose --file "$here/../compose.yaml" up --build "$@"
