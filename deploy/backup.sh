#!/bin/sh
# Writes all of Parley's data, as it is at one moment and while everything runs, into a file for restore.sh. What it holds is
# readable by whoever has the file, but the secrets among it are sealed with the encryption key, which is not in it.
#
# usage: backup.sh FILE [COMMAND…]
#   COMMAND runs Postgres' own programs where they and the database are (docs/operations.md: Back up and restore). Without one
#   those of this machine run, of version 18 or later; libpq's PGHOST, PGPORT, PGPASSWORD or PGPASSFILE tell them where, and
#   PGSSLMODE=verify-full with PGSSLROOTCERT that it must be that server.
#   PGUSER (postgres) and PGDATABASE (parley) are asked for in either case.
set -eu
umask 077
[ $# -ge 1 ] || { echo "usage: backup.sh FILE [COMMAND…]" >&2; exit 2; }
file="$1"
shift
[ ! -e "$file" ] || { echo "$file is there already: name another file" >&2; exit 1; }
trap 'rm -f "$file.partial"' EXIT

"$@" pg_dump --username="${PGUSER:-postgres}" --dbname="${PGDATABASE:-parley}" --format=custom --strict-names \
  --schema=account --schema=agent --schema=prompt --schema=conversation --schema=webhook > "$file.partial"
# Read to its end: one that was cut off on its way here is no back-up.
"$@" pg_restore --file=/dev/null < "$file.partial"
mv "$file.partial" "$file"
