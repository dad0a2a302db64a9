import { createHash } from "node:crypto";

export const CODE_DIGITS = 6;

/** What is stored of a code, which is good for one owner's claim of one number. */
export function digestOfCode(code: { ownerId: string; mobileNumber: string; code: string }): Buffer {
  return createHash("sha256").update(`${code.ownerId} ${code.mobileNumber} ${code.code}`).digest();
}
