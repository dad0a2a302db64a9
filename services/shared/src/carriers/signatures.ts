import { createHmac } from "node:crypto";

/**
 * Twilio's signature: base64 of the HMAC-SHA1 of the URL and each parameter's name and value, in the order of the names
 * (https://www.twilio.com/docs/usage/webhooks/webhooks-security).
 */
export function twilioSignature(authToken: string, url: string, form: URLSearchParams): string {
  const names = [...new Set(form.keys())].sort();
  const values = names.map((name) => [...new Set(form.getAll(name))].sort().map((value) => name + value));
  return createHmac("sha1", authToken)
    .update(url + values.flat().join(""))
    .digest("base64");
}

/**
 * Plivo's signature V3 of a POST to a URL without query: base64 of the HMAC-SHA256 of the URL, `?`, each parameter's name and value in
 * the order of the names, `.` and the nonce (https://www.plivo.com/docs/voice/concepts/signature-validation, and the code of Plivo's
 * libraries, which add the question mark).
 */
export function plivoSignature(authToken: string, url: string, form: URLSearchParams, nonce: string): string {
  const names = [...new Set(form.keys())].sort();
  const values = names.map((name) =>
    form
      .getAll(name)
      .sort()
      .map((value) => name + value),
  );
  const text = `${url}${names.length > 0 ? "?" : ""}${values.flat().join("")}.${nonce}`;
  return createHmac("sha256", authToken).update(text).digest("base64");
}

/**
 * The secret of a Daily domain's webhook, in base64. Only the holder of the API key can compute it, so no further secret has to be stored.
 * @param connection as in `dailyWebhookUrl`
 */
export function dailyWebhookSecret(apiKey: string, connection: string): string {
  return createHmac("sha256", apiKey).update(`parley webhook ${connection}`).digest("base64");
}

/**
 * Daily's signature of a webhook: base64 of the HMAC-SHA256 of the timestamp, `.` and the body as it was sent, with the secret's bytes
 * (https://docs.daily.co/reference/rest-api/webhooks).
 * @param secret in base64, as Daily has it
 */
export function dailySignature(secret: string, timestamp: string, body: Uint8Array | string): string {
  return createHmac("sha256", Buffer.from(secret, "base64")).update(`${timestamp}.`).update(body).digest("base64");
}
