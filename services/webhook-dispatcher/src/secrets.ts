import type { Sealer } from "@parley/shared/sealing";
import { resealedSecrets, type SigningSecrets } from "@parley/shared/signing-secrets";
import { type Signed, signed, signingKeyOf } from "@parley/shared/webhook-signature";
import type { DestinationKey } from "./store/destinations.ts";

export function sealSecret(sealer: Sealer, key: DestinationKey, secret: string): string {
  return sealer.seal(secret, contextOf(key));
}

/** Reseals the secrets with the sealer's first key. */
export function resealed(sealer: Sealer, { sealedSecret, oldSecrets, ...key }: DestinationKey & SigningSecrets) {
  return resealedSecrets(sealer, { sealedSecret, oldSecrets }, contextOf(key));
}

/** Signs as https://www.standardwebhooks.com specifies. */
export type Sign = (eventId: string, payload: string | Uint8Array, now: Date) => Signed;

/** @throws when a secret was sealed with another key */
export function signer(sealer: Sealer, key: DestinationKey & SigningSecrets): Sign {
  const open = (sealed: string) => signingKeyOf(sealer.open(sealed, contextOf(key)));
  const current = open(key.sealedSecret);
  const old = key.oldSecrets.map(({ sealedSecret, validUntil }) => ({
    key: open(sealedSecret),
    validUntil: new Date(validUntil),
  }));
  return (eventId, payload, now) => {
    const valid = old.filter(({ validUntil }) => validUntil > now);
    return signed([current, ...valid.map((secret) => secret.key)], eventId, payload, now);
  };
}

function contextOf({ ownerId, destinationId }: DestinationKey): string {
  return `${ownerId}.${destinationId}`;
}
