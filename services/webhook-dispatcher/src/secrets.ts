import type { Sealer } from "@parley/shared/sealing";
import { type Signed, signed, signingKeyOf } from "@parley/shared/webhook-signature";
import type { DestinationKey, DestinationRow } from "./store/destinations.ts";

/** How long after a rotation deliveries also carry the old secret's signature. */
export const OLD_SECRET_MS = 24 * 60 * 60 * 1000;

/** Bounds the signature header, which holds one signature per secret. */
const OLD_SECRETS_MAX = 4;

/** A destination's secrets, newest first. */
export type Secrets = Pick<DestinationRow, "sealedSecret" | "oldSecrets">;

export function sealSecret(sealer: Sealer, key: DestinationKey, secret: string): string {
  return sealer.seal(secret, contextOf(key));
}

/** Reseals the secrets with the sealer's first key. */
export function resealed(sealer: Sealer, { sealedSecret, oldSecrets, ...key }: DestinationKey & Secrets): Secrets {
  const reseal = (sealed: string) => sealer.reseal(sealed, contextOf(key));
  return {
    sealedSecret: reseal(sealedSecret),
    oldSecrets: oldSecrets.map((old) => ({ ...old, sealedSecret: reseal(old.sealedSecret) })),
  };
}

/** The secrets after a rotation at `now`, and when the previous ones expire. */
export function rotated(secrets: Secrets, sealedSecret: string, now: Date): { secrets: Secrets; validUntil: Date } {
  const validUntil = new Date(now.getTime() + OLD_SECRET_MS);
  const last = { sealedSecret: secrets.sealedSecret, validUntil: validUntil.toISOString() };
  const oldSecrets = [last, ...validOld(secrets, now)].slice(0, OLD_SECRETS_MAX);
  return { secrets: { sealedSecret, oldSecrets }, validUntil };
}

export function validOld({ oldSecrets }: Secrets, now: Date): Secrets["oldSecrets"] {
  return oldSecrets.filter(({ validUntil }) => new Date(validUntil) > now);
}

/** Signs as https://www.standardwebhooks.com specifies. */
export type Sign = (eventId: string, payload: string | Uint8Array, now: Date) => Signed;

/** @throws when a secret was sealed with another key */
export function signer(sealer: Sealer, key: DestinationKey & Secrets): Sign {
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
