const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

type IdPrefix =
  | "agt"
  | "drf"
  | "cnv"
  | "pmt"
  | "whd"
  | "dlv"
  | "evt"
  | "key"
  | "ses"
  | "own"
  | "call"
  | "car"
  | "bat"
  | "tol"
  | "tcl"
  | "alr"
  | "job"
  | "kb"
  | "doc"
  | "chk"
  | "tst"
  | "run"
  | "rpl";

/** Makes an opaque, time-ordered id: the prefix and a UUIDv7 in 26 base32 characters. */
export function newId(prefix: IdPrefix): string {
  return idOf(prefix, newUuid());
}

/** An id that no later one comes before. */
export function firstIdAt(prefix: IdPrefix, time: Date): string {
  return idOf(prefix, time.getTime().toString(16).padStart(12, "0").padEnd(32, "0"));
}

/** The id form of a UUID. */
export function idOf(prefix: IdPrefix, uuid: string): string {
  const hex = uuid.replaceAll("-", "");
  // The first byte makes two characters, then each five hexadecimal digits make four: a BigInt would take three times as long.
  let id = `${prefix}_${base32(Number.parseInt(hex.slice(0, 2), 16), 2)}`;
  for (let at = 2; at < hex.length; at += 5) id += base32(Number.parseInt(hex.slice(at, at + 5), 16), 4);
  return id;
}

function base32(bits: number, characters: 2 | 4): string {
  const last = ALPHABET.charAt((bits >> 5) & 31) + ALPHABET.charAt(bits & 31);
  return characters === 2 ? last : ALPHABET.charAt(bits >> 15) + ALPHABET.charAt((bits >> 10) & 31) + last;
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
