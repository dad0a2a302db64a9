import { createHmac } from "node:crypto";
import { isSameSecret } from "@parley/shared/sealing";

/**
 * Whether Meta signed these bytes with the app's secret
 * (https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint).
 * @param signature the header X-Hub-Signature-256
 */
export function isSigned(body: Uint8Array, signature: string, appSecret: string): boolean {
  const expected = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
  return appSecret !== "" && isSameSecret(signature, expected);
}
