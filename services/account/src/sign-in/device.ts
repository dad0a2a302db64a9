import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { PasswordRow } from "../store/passwords.ts";

const ID_BYTES = 16;

/**
 * A token by which a device that has signed in is recognized (OWASP's device cookies). Nothing is stored: the token is signed with the
 * password's hash, which has a random salt, so a new password makes it worthless.
 */
export function newDeviceToken(password: PasswordRow): string {
  const id = randomBytes(ID_BYTES).toString("base64url");
  return `${id}.${signatureOf(id, password)}`;
}

/** Whether newDeviceToken made it for this owner and password. */
export function isDeviceToken(token: string, password: PasswordRow): boolean {
  const [id = "", signature = ""] = token.split(".");
  const [given, right] = [Buffer.from(signature), Buffer.from(signatureOf(id, password))];
  return given.length === right.length && timingSafeEqual(given, right);
}

function signatureOf(id: string, { ownerId, passwordHash }: PasswordRow): string {
  return createHmac("sha256", passwordHash).update(`parley device ${ownerId} ${id}`).digest("base64url");
}
