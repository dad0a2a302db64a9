import type { Idempotency } from "@parley/proto/parley/common/v1/common.ts";
import { invalid } from "@parley/shared/errors";
import { targetOf } from "./path.ts";

const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Returns the idempotency key of a write with a fingerprint of the request (docs/api-reference.md#idempotency).
 * @throws ServiceError invalid on a malformed key
 */
export function idempotencyOf(request: Request, body: Uint8Array): Idempotency | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!KEY.test(key)) throw invalid("Idempotency-Key", "Idempotency-Key must be 1 to 255 printable ASCII characters");
  const hash = new Bun.CryptoHasher("sha256").update(`${request.method} ${targetOf(request)}\n`).update(body);
  return { key, fingerprint: hash.digest() };
}
