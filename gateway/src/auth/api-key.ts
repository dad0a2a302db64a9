import { type KeyGrant, KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import type { Clock } from "@parley/shared/clock";
import type { SCOPES } from "@parley/shared/domain/api-names";
import { ServiceError } from "@parley/shared/errors";
import type { KeyRing, LookThrough } from "./key-ring.ts";

/** The scopes that a route may require of a key. */
export type Scope = Exclude<(typeof SCOPES)[number], "*">;

const FORM = /^vk_[0-9A-Za-z]{43}$/;

/** A wrong key was given; it counts against the client's address. */
export class WrongKey extends ServiceError {}

/**
 * Finds the owner of a key.
 * @param through looks the key up if it is not remembered
 * @throws WrongKey for an unknown or malformed one, ServiceError unauthenticated for a missing, inactive or expired one
 */
export async function authenticateKey(
  keys: KeyRing,
  clock: Clock,
  apiKey: string | null,
  through?: LookThrough,
): Promise<KeyGrant> {
  if (apiKey === null || apiKey === "") throw new ServiceError("unauthenticated", "API key is missing");
  if (!FORM.test(apiKey)) throw wrongKey();
  const grant = await keys.find(new Bun.CryptoHasher("sha256").update(apiKey).digest(), through);
  if (!grant) throw wrongKey();
  if (grant.status === KeyStatus.KEY_STATUS_INACTIVE) throw new ServiceError("unauthenticated", "API key is inactive");
  // A cached grant includes its expiry, so that it ends to the millisecond.
  if (grant.expiresAt && grant.expiresAt <= clock.now()) {
    throw new ServiceError("unauthenticated", "API key has expired");
  }
  return grant;
}

function wrongKey(): WrongKey {
  return new WrongKey("unauthenticated", "Invalid API key");
}

/** What `*` does not include: a program is given it by name, or not at all. */
const BY_NAME_ONLY = "agents:override" satisfies Scope;

export function hasScope(scopes: readonly string[], scope: string): boolean {
  return (scopes.includes("*") && scope !== BY_NAME_ONLY) || scopes.includes(scope);
}

/** @throws ServiceError forbidden, naming the scope that the key lacks */
export function requireScope(scopes: readonly string[], scope: string): void {
  if (hasScope(scopes, scope)) return;
  const reason = scope === BY_NAME_ONLY ? ", which * does not include" : "";
  throw new ServiceError("forbidden", `The API key lacks the scope ${scope}${reason}`);
}
