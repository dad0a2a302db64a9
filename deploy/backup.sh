#!/bin/sh
# Writes a consistent snapshot of all of Parley's data, while everything runs, into a file for restore.sh. Anyone with the file can
# read it, except for secrets: they are sealed with the encryption key, which the file does not contain.
#
# usage: backup.sh FILE [COMMAND…]
#   COMMAND runs Postgres' programs beside the database (docs/backup.md). Without it, this machine's
#   programs run, which must be version 18 or later. libpq's PGHOST, PGPORT, PGPASSWORD or PGPASSFILE name the server, and
#   PGSSLMODE=verify-full with PGSSLROOTCERT verifies it.
#   PGUSER (default postgres) and PGDATABASE (default parley) apply in either case.
set -eu
umask 077
[ $# -ge 1 ] || { echo "usage: backup.sh FILE [COMMAND…]" >&2; exit 2; }
file="$1"
shift
[ ! -e "$file" ] || { echo "$file exists already: name another file" >&2; exit 1; }
trap 'rm -f "$file.partial"' EXIT

"$@" pg_dump --username="${PGUSER:-postgres}" --dbname="${PGDATABASE:-parley}" --format=custom --strict-names \
  --schema=account --schema=agent --schema=prompt --schema=conversation --schema=webhook --schema=voice --schema=messaging --schema=knowledge > "$file.partial"
# Read to its end, because a truncated file is not a backup.
"$@" pg_restore --file=/dev/null < "$file.partial"
mv "$file.partial" "$file"
