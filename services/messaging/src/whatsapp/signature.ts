import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/**
 * Whether Meta signed these bytes with the app's secret
 * (https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint).
 * @param signature the header X-Hub-Signature-256
 */
export function isSigned(body: Uint8Array, signature: string, appSecret: string): boolean {
  const expected = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
  return appSecret !== "" && isSame(signature, expected);
}

/** Compares secrets in a time that tells nothing about where they differ. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
