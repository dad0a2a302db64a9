import { expect, test } from "bun:test";
import { createSealer } from "@parley/shared/sealing";
import { OLD_SECRET_MS, rotated } from "@parley/shared/signing-secrets";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import { TEST_SECRET } from "@parley/testkit/database";
import { Webhook } from "standardwebhooks";
import { sealSecret, signer } from "./secrets.ts";

const sealer = createSealer(TEST_SECRET);
const key = { ownerId: "own_1", destinationId: "whd_1" };
const now = new Date();
const later = (ms: number) => new Date(now.getTime() + ms);
const sealed = (secret: string) => sealSecret(sealer, key, secret);

/** The secrets that the library accepts a signature of. */
function takenBy(secrets: readonly string[], headers: object): string[] {
  return secrets.filter((secret) => {
    try {
      new Webhook(secret).verify("{}", { ...headers });
      return true;
    } catch {
      return false;
    }
  });
}

test("after a rotation both secrets are valid for 24 hours, then the new one alone", () => {
  const [old, fresh] = [newSigningSecret(), newSigningSecret()];
  const before = { sealedSecret: sealed(old), oldSecrets: [] };
  const { secrets, validUntil } = rotated(before, sealed(fresh), later(-OLD_SECRET_MS + 1));
  expect(validUntil).toEqual(later(1));
  const sign = signer(sealer, { ...key, ...secrets });
  expect(takenBy([old, fresh], sign("evt_1", "{}", now))).toEqual([old, fresh]);
  expect(takenBy([old, fresh], sign("evt_1", "{}", later(1)))).toEqual([fresh]);
});

test("after several rotations within a day the newest secrets are valid, as many as a header can hold", () => {
  const all = Array.from({ length: 9 }, newSigningSecret);
  let secrets: Parameters<typeof rotated>[0] = { sealedSecret: sealed(all[0] ?? ""), oldSecrets: [] };
  for (const secret of all.slice(1)) secrets = rotated(secrets, sealed(secret), now).secrets;
  expect(takenBy(all, signer(sealer, { ...key, ...secrets })("evt_1", "{}", now))).toEqual(all.slice(-5));
});

test("a secret signs for no other destination", () => {
  const other = { ...key, destinationId: "whd_2", sealedSecret: sealed(newSigningSecret()), oldSecrets: [] };
  expect(() => signer(sealer, other)).toThrow();
});
