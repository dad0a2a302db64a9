const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

export type IdPrefix = "agt" | "cnv" | "pmt" | "whd" | "dlv" | "evt" | "key" | "ses" | "own" | "call" | "job";

/** Makes an opaque, time-ordered id: the prefix and a UUIDv7 in 26 base32 characters. */
export function newId(prefix: IdPrefix): string {
  return idOf(prefix, newUuid());
}

/** The id form of a UUID. */
export function idOf(prefix: IdPrefix, uuid: string): string {
  let rest = BigInt(`0x${uuid.replaceAll("-", "")}`);
  const digits = new Array<string>(26);
  for (let at = 25; at >= 0; at--) {
    digits[at] = ALPHABET.charAt(Number(rest & 31n));
    rest >>= 5n;
  }
  return `${prefix}_${digits.join("")}`;
}

/** Whether a text has the form of this kind of id. Any other text names nothing, and Postgres may reject it. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-z]{26}$/.test(text.slice(prefix.length + 1));
}

/** A UUIDv7, for conversation and session ids. */
export function newUuid(): string {
  return Bun.randomUUIDv7();
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
