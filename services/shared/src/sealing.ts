import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { makeValidator } from "envalid";

/** Encrypts the secrets that owners entrust to us (decisions.md: Agents). */
export interface Sealer {
  /** @param context what the secret belongs to: it opens for nothing else. */
  seal(secret: string, context: string): string;
  /** @throws when the text was sealed with another key, for another context, or was changed. */
  open(sealed: string, context: string): string;
}

/** The variable of a process that seals. */
export const ENCRYPTION_KEY = makeValidator((text) => {
  if (Buffer.from(text, "base64").length !== 32)
    throw new Error("must be 32 bytes in base64 (openssl rand -base64 32)");
  return text;
});

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM. A sealed text is `v1.<which key>.<iv, tag, ciphertext in base64url>`. */
export function createSealer(keyBase64: string): Sealer {
  const key = Buffer.from(keyBase64, "base64");
  const keyId = createHash("sha256").update(key).digest("hex").slice(0, 8);
  return {
    seal(secret, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return `v1.${keyId}.${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString("base64url")}`;
    },
    open(sealed, context) {
      const [version, id, body] = sealed.split(".");
      if (version !== "v1" || id !== keyId || !body) throw new Error("sealed with another PARLEY_ENCRYPTION_KEY");
      const bytes = Buffer.from(body, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    },
  };
}
