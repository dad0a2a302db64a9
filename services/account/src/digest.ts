import { invalid } from "@parley/shared/errors";

/** Of SHA-256. */
const DIGEST_BYTES = 32;

/** @throws ServiceError invalid */
export function checkDigest(digest: Uint8Array): void {
  if (digest.length !== DIGEST_BYTES) throw invalid("digest", `digest must be ${DIGEST_BYTES} bytes`);
}
