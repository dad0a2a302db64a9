#!/bin/sh
# Restores a file of backup.sh into a database that `migrate` has prepared and nobody has used: it has the roles and no owner, and
# none of Parley's processes is running. Restores everything or nothing; after a failure, run it again. A service that the file's
# release did not have keeps what `migrate` has prepared. Nobody is called again: batches are paused, and queued calls cancelled.
#
# usage: restore.sh FILE [COMMAND…]
#   COMMAND, PGUSER and PGDATABASE as for backup.sh.
set -eu
[ $# -ge 1 ] || { echo "usage: restore.sh FILE [COMMAND…]" >&2; exit 2; }
file="$1"
shift
user="${PGUSER:-postgres}"
database="${PGDATABASE:-parley}"

# Before anything is deleted.
"$@" pg_restore --file=/dev/null < "$file"
schemas="$("$@" pg_restore --list < "$file" | sed -nE 's/^[0-9]+; [0-9]+ [0-9]+ SCHEMA - ([a-z]+) .*/\1/p' | paste -s -d , -)"
[ -n "$schemas" ] || { echo "$file has no schema of Parley: name a file of backup.sh" >&2; exit 1; }
"$@" psql --username="$user" --dbname="$database" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=schemas="$schemas" \
  --single-transaction << 'SQL'
set client_min_messages = warning;
do $$
begin
  if exists (select from pg_stat_activity where datname = current_database() and application_name like 'parley-%') then
    raise 'Parley''s processes are connected to this database: stop them first';
  end if;
  if to_regclass('account.owners') is not null then
    if exists (select from account.owners) then
      raise 'this database has owners: restore into an empty one that migrate has prepared';
    end if;
  end if;
end $$;
drop schema if exists :schemas cascade;
SQL
"$@" pg_restore --username="$user" --dbname="$database" --single-transaction --exit-on-error < "$file"
"$@" psql --username="$user" --dbname="$database" --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 \
  --single-transaction < "$(dirname "$0")/stop-calls.sql" ||
  { echo "Everything is restored, but calls are not stopped: do not start Parley before stop-calls.sql has run" >&2; exit 1; }
"$@" psql --username="$user" --dbname="$database" --no-psqlrc --quiet --command=analyze
