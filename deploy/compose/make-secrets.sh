#!/bin/sh
# Creates the files that compose.yaml needs, unless they exist: passwords, keys, an authority, and a certificate for
# every process. With the argument `certificates`, it replaces the certificates. Running processes use them within half a minute;
# Postgres and Redis must be restarted.
#
# usage: make-secrets.sh [certificates]
set -eu
umask 077
folder="$(dirname "$0")/secrets"
mkdir -p "$folder"
cd "$folder"

# A user without rights reads them in the containers; the folder keeps out other users of this machine.
keep() { [ -s "$1" ] || cat > "$1"; chmod 444 "$1"; }

[ -s encryption_key ] || openssl rand -base64 32 | keep encryption_key
[ -s messaging_token_key ] || openssl rand -base64 32 | keep messaging_token_key
[ -s voice_token_key ] || openssl rand -base64 32 | keep voice_token_key
[ -s turn_secret ] || openssl rand -hex 32 | keep turn_secret
[ -s postgres_password ] || openssl rand -hex 24 | keep postgres_password
place="postgres:5432/parley"
tls="sslmode=verify-full&sslrootcert=/run/secrets/ca.pem"
printf 'postgres://postgres:%s@%s?%s\n' "$(cat postgres_password)" "$place" "$tls" | keep admin_database_url
for schema in account agent prompt conversation webhook voice messaging knowledge; do
  printf 'postgres://parley_%s:%s@%s?%s\n' "$schema" "$(openssl rand -hex 24)" "$place" "$tls" | keep "${schema}_database_url"
done

new_key() { openssl ecparam -name prime256v1 -genkey -noout; }

if [ ! -s ca.key ]; then
  new_key | keep ca.key
  chmod 400 ca.key
  openssl req -x509 -new -key ca.key -subj "/CN=Parley" -days 3650 \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" | keep ca.pem
fi

# Overwritten in place, because a container keeps seeing the file that was mounted.
for process in gateway account agent prompt conversation webhook-dispatcher voice messaging knowledge parley voice-runtime postgres redis; do
  if [ ! -s "$process.pem" ] || [ "${1:-}" = certificates ]; then
    [ ! -e "$process.pem" ] || chmod 644 "$process.pem"
    [ -s "$process.key" ] || new_key | keep "$process.key"
    printf 'subjectAltName=DNS:%s,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\nkeyUsage=critical,digitalSignature\nbasicConstraints=critical,CA:FALSE\n' "$process" > extensions
    openssl req -new -key "$process.key" -subj "/CN=$process" |
      openssl x509 -req -CA ca.pem -CAkey ca.key -set_serial "0x$(openssl rand -hex 16)" -days 365 -extfile extensions 2> signing > certificate ||
      { cat signing >&2; exit 1; }
    cat certificate > "$process.pem"
    chmod 444 "$process.pem"
    rm -f extensions certificate signing
  fi
done
