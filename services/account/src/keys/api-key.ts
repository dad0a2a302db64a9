import { createHash, randomBytes } from "node:crypto";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 32;
/** Base62 digits needed for 32 bytes. */
const LENGTH = 43;
const PREFIX_LENGTH = 11;

interface NewApiKey {
  /** vk_… : shown to its owner once and never stored. */
  apiKey: string;
  /** Enough for an owner to tell keys apart. */
  prefix: string;
  digest: Buffer;
}

/** Creates a key: `vk_` and 256 random bits in base62. */
export function newApiKey(): NewApiKey {
  const apiKey = `vk_${base62(randomBytes(RANDOM_BYTES))}`;
  return { apiKey, prefix: apiKey.slice(0, PREFIX_LENGTH), digest: createHash("sha256").update(apiKey).digest() };
}

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  while (text.length < LENGTH) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
