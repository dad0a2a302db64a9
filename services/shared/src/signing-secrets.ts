import type { Sealer } from "./sealing.ts";

/** The sealed secrets that sign requests to one receiver, newest first. */
export interface SigningSecrets {
  sealedSecret: string;
  /** Newest first; may include expired ones. */
  oldSecrets: OldSecret[];
}

export interface OldSecret {
  sealedSecret: string;
  /** ISO 8601. */
  validUntil: string;
}

/** How long after a rotation requests also carry the old secret's signature. */
export const OLD_SECRET_MS = 24 * 60 * 60 * 1000;
/** Bounds the signature header, which holds one signature per secret. */
const OLD_SECRETS_MAX = 4;

/** The secrets after a rotation at `now`, and when the previous one expires. */
export function rotated(
  secrets: SigningSecrets,
  sealedSecret: string,
  now: Date,
): { secrets: SigningSecrets; validUntil: Date } {
  const validUntil = new Date(now.getTime() + OLD_SECRET_MS);
  const last = { sealedSecret: secrets.sealedSecret, validUntil: validUntil.toISOString() };
  const oldSecrets = [last, ...validOld(secrets, now)].slice(0, OLD_SECRETS_MAX);
  return { secrets: { sealedSecret, oldSecrets }, validUntil };
}

export function validOld({ oldSecrets }: SigningSecrets, now: Date): OldSecret[] {
  return oldSecrets.filter(({ validUntil }) => new Date(validUntil) > now);
}

/** The same secrets, sealed with the sealer's first key. @throws as `Sealer.open` does */
export function resealedSecrets(
  sealer: Sealer,
  { sealedSecret, oldSecrets }: SigningSecrets,
  context: string,
): SigningSecrets {
  const reseal = (sealed: string) => sealer.reseal(sealed, context);
  return {
    sealedSecret: reseal(sealedSecret),
    oldSecrets: oldSecrets.map((old) => ({ ...old, sealedSecret: reseal(old.sealedSecret) })),
  };
}
