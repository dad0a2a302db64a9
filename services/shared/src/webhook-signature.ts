import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A new secret in the form that the Standard Webhooks libraries accept: `whsec_` and base64. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The key in a secret of that form. */
export function signingKeyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}

export interface Signed {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
}

/**
 * Signs as https://www.standardwebhooks.com specifies, once with each key.
 *
 * Avoids the `standardwebhooks` package, which computes in JavaScript: 42 µs for 2 KB and 620 µs for 50 KB, where a
 * whole attempt takes about 200 µs. The tests verify signatures with that package.
 */
export function signed(keys: readonly Buffer[], id: string, payload: string | Uint8Array, now: Date): Signed {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const before = `${id}.${timestamp}.`;
  const signatures = keys.map(
    (key) => `v1,${createHmac("sha256", key).update(before).update(payload).digest("base64")}`,
  );
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
