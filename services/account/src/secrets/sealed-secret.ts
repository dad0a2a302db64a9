import type { Sealer } from "@parley/shared/sealing";
import type { SealedSecret, SecretKey } from "../store/secrets.ts";

/** Seals a value for its owner and name; it opens for no other. */
export function sealSecret(sealer: Sealer, key: SecretKey, value: string): string {
  return sealer.seal(value, contextOf(key));
}

/** @throws when it was sealed with an unknown key or for another use, or was modified */
export function openSecret(sealer: Sealer, sealed: SealedSecret): string {
  return sealer.open(sealed.sealedValue, contextOf(sealed));
}

/** The same value, sealed with the sealer's first key. @throws as `openSecret` does */
export function resealSecret(sealer: Sealer, sealed: SealedSecret): string {
  return sealer.reseal(sealed.sealedValue, contextOf(sealed));
}

function contextOf({ ownerId, name }: SecretKey): string {
  return JSON.stringify(["secret", ownerId, name]);
}
