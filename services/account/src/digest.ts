import { invalid } from "@parley/shared/errors";

/** Length of a SHA-256 digest. */
const DIGEST_BYTES = 32;

/** @throws ServiceError invalid */
export function checkDigest(digest: Uint8Array): void {
  if (digest.length !== DIGEST_BYTES) throw invalid("digest", `digest must be ${DIGEST_BYTES} bytes`);
}
