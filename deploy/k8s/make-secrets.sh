#!/bin/sh
# Prints the Secrets that the processes mount, with new passwords and keys. Run it once per installation, store the
# output where you keep secrets, and apply it once the namespace exists: pods wait for their Secrets.
#
# usage: ADMIN_DATABASE_URL=postgres://… REDIS_URL=rediss://… [REDIS_CA_FILE=…] make-secrets.sh [namespace] | kubectl apply -f -
#   Postgres is verified by its name and the authority that the pods mount, unless the address has its own sslmode.
#   REDIS_CA_FILE is the PEM file of the authority of Redis' certificate.
#   With INSECURE_STORAGE=1, the addresses stay unchanged, and connections may be unencrypted.
set -eu
: "${ADMIN_DATABASE_URL:?the postgres:// address of a role that may create roles and schemas}"
: "${REDIS_URL:?the rediss:// address of Redis}"
namespace="${1:-parley}"

if [ "${INSECURE_STORAGE:-}" != 1 ]; then
  case "$ADMIN_DATABASE_URL" in
    *[?\&]sslmode=verify-full*) ;;
    *[?\&]sslmode=*) echo "ADMIN_DATABASE_URL must have sslmode=verify-full, or no sslmode, which means the same" >&2; exit 1 ;;
    *\?*) ADMIN_DATABASE_URL="$ADMIN_DATABASE_URL&sslmode=verify-full&sslrootcert=/run/secrets/postgres/ca.crt" ;;
    *) ADMIN_DATABASE_URL="$ADMIN_DATABASE_URL?sslmode=verify-full&sslrootcert=/run/secrets/postgres/ca.crt" ;;
  esac
  case ",$REDIS_URL" in
    *,redis:*) echo "REDIS_URL must begin with rediss://, so that gateways' requests to Redis are encrypted" >&2; exit 1 ;;
  esac
fi

place="${ADMIN_DATABASE_URL#*@}"
[ "$place" != "$ADMIN_DATABASE_URL" ] || { echo "ADMIN_DATABASE_URL has no user: postgres://user:password@host:5432/database" >&2; exit 1; }
encryption_key="$(openssl rand -base64 32)"
account="postgres://parley_account:$(openssl rand -hex 24)@$place"
agent="postgres://parley_agent:$(openssl rand -hex 24)@$place"
prompt="postgres://parley_prompt:$(openssl rand -hex 24)@$place"
conversation="postgres://parley_conversation:$(openssl rand -hex 24)@$place"
webhook="postgres://parley_webhook:$(openssl rand -hex 24)@$place"
voice="postgres://parley_voice:$(openssl rand -hex 24)@$place"
messaging="postgres://parley_messaging:$(openssl rand -hex 24)@$place"
knowledge="postgres://parley_knowledge:$(openssl rand -hex 24)@$place"

# usage: secret <name> <file> <value> [<file> <value>…]
secret() {
  printf -- '---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\n  namespace: %s\ntype: Opaque\ndata:\n' "$1" "$namespace"
  shift
  while [ $# -gt 0 ]; do
    printf '  %s: %s\n' "$1" "$(printf '%s' "$2" | openssl base64 -A)"
    shift 2
  done
}

if [ -n "${REDIS_CA_FILE:-}" ]; then
  secret gateway-secrets redis_url "$REDIS_URL" redis_ca.crt "$(cat "$REDIS_CA_FILE")"
else
  secret gateway-secrets redis_url "$REDIS_URL"
fi
secret account-secrets database_url "$account" encryption_key "$encryption_key"
secret agent-secrets database_url "$agent" encryption_key "$encryption_key"
secret prompt-secrets database_url "$prompt"
secret conversation-secrets database_url "$conversation"
secret webhook-dispatcher-secrets database_url "$webhook" encryption_key "$encryption_key"
secret voice-secrets database_url "$voice" token_key "$(openssl rand -base64 32)" turn_secret "$(openssl rand -hex 32)"
secret messaging-secrets database_url "$messaging" token_key "$(openssl rand -base64 32)"
secret knowledge-secrets database_url "$knowledge"
secret migrate-secrets admin_database_url "$ADMIN_DATABASE_URL" \
  account_database_url "$account" agent_database_url "$agent" prompt_database_url "$prompt" \
  conversation_database_url "$conversation" webhook_database_url "$webhook" voice_database_url "$voice" messaging_database_url "$messaging" knowledge_database_url "$knowledge"
