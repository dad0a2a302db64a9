#!/bin/sh
# Pins every image from a registry to its tag's current digest, in Dockerfile, compose.yaml and the overlays of k8s. Run it again for
# newer digests of the same tags. It does not change images named parley/… without a registry, which are built where they run.
#
# usage: pin-images.sh [FILE…]     with Docker and its buildx; without a FILE all of them
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- Dockerfile compose.yaml k8s/overlays/*/kustomization.yaml

digest_of() {
  found="$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$1")"
  case "$found" in sha256:*) echo "$found" ;; *) echo "$1 has no digest: $found" >&2; return 1 ;; esac
}

# ARG BUN_IMAGE=oven/bun:1.4.5[@sha256:…], or image: pgvector/pgvector:pg18[@sha256:…]
pin_references() {
  sed -nE 's/^(ARG [A-Z]+_IMAGE=|    image: )([^@ ]+)(@sha256:[0-9a-f]+)?$/\2/p' "$1" | grep -v '^parley/' | while read -r image; do
    digest="$(digest_of "$image")"
    sed -i.before -E "s|^((ARG [A-Z]+_IMAGE=\|    image: )$image)(@sha256:[0-9a-f]+)?\$|\\1@$digest|" "$1"
    echo "$1: $image@$digest"
  done
}

# - { name: parley/gateway, newName: registry.example/parley/gateway, newTag: 0.2.0[, digest: "sha256:…"] }
pin_entries() {
  sed -nE 's/^  - \{ name: ([^,]+)(, newName: ([^,]+))?, newTag: "?([^," ]+)"?(, digest: "[^"]+")? \}$/\1 \3 \4/p' "$1" |
    sed -E 's/  / - /' | while read -r name new_name tag; do
      [ "$new_name" != - ] || new_name="$name"
      case "$new_name" in parley/*) continue ;; esac
      digest="$(digest_of "$new_name:$tag")"
      sed -i.before -E "s|^(  - \{ name: $name,.* newTag: [^,]+)(, digest: \"[^\"]+\")? \}\$|\\1, digest: \"$digest\" }|" "$1"
      echo "$1: $new_name:$tag@$digest"
    done
}

for file; do
  case "$file" in *kustomization.yaml) pin_entries "$file" ;; *) pin_references "$file" ;; esac
  rm -f "$file.before"
done
