#!/bin/sh
# Runs the command line once in a pod of the cluster, with the image of the same release and the certificate `parley`.
#
# usage: parley.sh ARGUMENTS…
#        parley.sh owner create --name Acme --email ops@acme.example
#   NAMESPACE is `parley` unless it is set; IMAGE names another image.
set -eu
namespace="${NAMESPACE:-parley}"
beside="$(kubectl --namespace "$namespace" get deployment account --output jsonpath='{.spec.template.spec.containers[0].image}')"
# A digest, if the image is pinned to one, is the account service's own.
beside="${beside%@*}"
name="parley-cli-$(date +%s)-$$"

# Merged into the pod of `kubectl run`; the container is matched by name.
overrides='{
  "spec": {
    "automountServiceAccountToken": false,
    "enableServiceLinks": false,
    "securityContext": {
      "runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
      "seccompProfile": { "type": "RuntimeDefault" }
    },
    "containers": [{
      "name": "'"$name"'",
      "env": [
        { "name": "PARLEY_ACCOUNT_ADDRESS", "value": "dns:///account:50051" },
        { "name": "PARLEY_WEBHOOK_ADDRESS", "value": "dns:///webhook-dispatcher:50051" },
        { "name": "PARLEY_CONVERSATION_ADDRESS", "value": "dns:///conversation:50051" },
        { "name": "PARLEY_VOICE_ADDRESS", "value": "dns:///voice:50051" },
        { "name": "PARLEY_TLS_CA", "value": "/run/secrets/tls/ca.crt" },
        { "name": "PARLEY_TLS_CERT", "value": "/run/secrets/tls/tls.crt" },
        { "name": "PARLEY_TLS_KEY", "value": "/run/secrets/tls/tls.key" }
      ],
      "securityContext": {
        "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] }
      },
      "volumeMounts": [{ "name": "tls", "mountPath": "/run/secrets/tls", "readOnly": true }]
    }],
    "volumes": [{ "name": "tls", "secret": { "secretName": "parley-tls" } }]
  }
}'

exec kubectl --namespace "$namespace" run "$name" --image="${IMAGE:-${beside%/account*}/parley${beside##*/account}}" \
  --labels=app.kubernetes.io/name=parley --restart=Never --rm --attach --stdin --quiet \
  --override-type=strategic --overrides="$overrides" -- "$@"
