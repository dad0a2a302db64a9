import { createHmac, randomBytes } from "node:crypto";
import type { Sealer } from "@parley/shared/sealing";
import type { DestinationKey, DestinationRow } from "./store/destinations.ts";

/** How long after a rotation deliveries also carry the old secret's signature. */
export const OLD_SECRET_MS = 24 * 60 * 60 * 1000;

/** Bounds the signature header, which holds one signature per secret. */
const OLD_SECRETS_MAX = 4;
const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A destination's secrets, newest first. */
export type Secrets = Pick<DestinationRow, "sealedSecret" | "oldSecrets">;

/** In the form that the Standard Webhooks libraries accept. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

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

export interface Signed {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
}

/** Signs as https://www.standardwebhooks.com specifies. */
export type Sign = (eventId: string, payload: string | Uint8Array, now: Date) => Signed;

/**
 * Avoids the `standardwebhooks` package, which computes in JavaScript: 42 µs for 2 KB and 620 µs for 50 KB, where a
 * whole attempt takes about 200 µs. The tests verify signatures with that package.
 * @throws when a secret was sealed with another key
 */
export function signer(sealer: Sealer, key: DestinationKey & Secrets): Sign {
  const open = (sealed: string) => Buffer.from(sealer.open(sealed, contextOf(key)).slice(PREFIX.length), "base64");
  const current = open(key.sealedSecret);
  const old = key.oldSecrets.map(({ sealedSecret, validUntil }) => ({
    secret: open(sealedSecret),
    validUntil: new Date(validUntil),
  }));
  return (eventId, payload, now) => {
    const timestamp = String(Math.floor(now.getTime() / 1000));
    const before = `${eventId}.${timestamp}.`;
    const valid = [current, ...old.filter(({ validUntil }) => validUntil > now).map(({ secret }) => secret)];
    const signatures = valid.map(
      (secret) => `v1,${createHmac("sha256", secret).update(before).update(payload).digest("base64")}`,
    );
    return { "webhook-id": eventId, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
  };
}

function contextOf({ ownerId, destinationId }: DestinationKey): string {
  return `${ownerId}.${destinationId}`;
}
