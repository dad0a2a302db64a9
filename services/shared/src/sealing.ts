import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { makeValidator } from "envalid";

/** Encrypts the secrets that owners entrust to us. */
export interface Sealer {
  /** @param context what the secret belongs to; it opens only with the same context */
  seal(secret: string, context: string): string;
  /** @throws when the text was sealed with an unknown key or another context, or was modified */
  open(sealed: string, context: string): string;
  /** Seals the secret with the first key; returns the text unchanged if that key sealed it. @throws as `open` does */
  reseal(sealed: string, context: string): string;
}

/** Begins every mask. */
export const STARS = "********";
/** The end of a shorter secret would reveal too much of it. */
const SHOWN_FROM_LENGTH = 12;

/** Shows only the last four characters of a secret. */
export function mask(secret: string): string {
  return secret.length < SHOWN_FROM_LENGTH ? STARS : STARS + secret.slice(-4);
}

/** Compares secrets or signatures in a time that tells nothing about where they differ, nor how long they are. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

const KEY_BYTES = 32;

/** The variable with the encryption keys, comma-separated: the first one seals, the others only open. */
export const ENCRYPTION_KEY = makeValidator((text) => {
  if (!text.split(",").every((key) => Buffer.from(key, "base64").length === KEY_BYTES))
    throw new Error("must be 32 bytes in base64 (openssl rand -base64 32), or several such keys separated by commas");
  return text;
});

const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Key {
  bytes: Buffer;
  id: string;
}

/** AES-256-GCM. A sealed text is `v1.<key id>.<iv, tag, ciphertext in base64url>`. @param keys as in ENCRYPTION_KEY */
export function createSealer(keys: string): Sealer {
  const known = keys.split(",").map(readKey);
  const [current] = known;
  if (!current) throw new Error("no PARLEY_ENCRYPTION_KEY");
  const seal: Sealer["seal"] = (secret, context) => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", current.bytes, iv).setAAD(Buffer.from(context));
    const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return `v1.${current.id}.${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString("base64url")}`;
  };
  const open: Sealer["open"] = (sealed, context) => {
    const [version, id, body] = sealed.split(".");
    const key = known.find((candidate) => candidate.id === id);
    if (version !== "v1" || !key || !body) throw new Error("sealed with another PARLEY_ENCRYPTION_KEY");
    const bytes = Buffer.from(body, "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  };
  return {
    seal,
    open,
    reseal: (sealed, context) =>
      sealed.startsWith(`v1.${current.id}.`) ? sealed : seal(open(sealed, context), context),
  };
}

function readKey(base64: string): Key {
  const bytes = Buffer.from(base64, "base64");
  return { bytes, id: createHash("sha256").update(bytes).digest("hex").slice(0, 8) };
}
