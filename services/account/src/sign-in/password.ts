import { randomBytes } from "node:crypto";
import { invalid, ServiceError } from "@parley/shared/errors";
import pLimit from "p-limit";

/**
 * NIST SP 800-63B-4, 3.1.1.2: at least 15 characters when the password is the only factor, long ones accepted, no
 * composition rules.
 */
const LENGTH = { min: 15, max: 256 } as const;
const DIFFERENT_CHARACTERS_MIN = 5;

/** OWASP's minimum for Argon2id: 19 MiB and two passes. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;
/** Each hash occupies a core and its memory. */
const AT_ONCE_MAX = 2;
const WAITING_MAX = 20;

/** Hashes and verifies off the event loop, a few at a time. Both throw ServiceError unavailable when too many are waiting. */
export interface Passwords {
  /** Returns the hash in PHC form. */
  hash(password: string): Promise<string>;
  /** Takes equally long without a hash, so that timing does not reveal whether there is one. */
  verify(password: string, hash: string | null): Promise<boolean>;
}

export function createPasswords(): Passwords {
  const limit = pLimit(AT_ONCE_MAX);
  const run = <T>(work: () => Promise<T>) => {
    if (limit.pendingCount < WAITING_MAX) return limit(work);
    throw new ServiceError("unavailable", "Too many passwords are being checked. Try again.", { retryAfterMs: 1000 });
  };
  const nobodys = hashOfNoPassword();
  return {
    hash: async (password) => run(() => Bun.password.hash(normal(password), ARGON2ID)),
    verify: async (password, hash) =>
      run(async () => (await Bun.password.verify(normal(password), hash ?? nobodys)) && hash !== null),
  };
}

/** Takes as long to verify as any other hash, and nothing to make: its salt and its tag are random. */
function hashOfNoPassword(): string {
  const random = () => randomBytes(32).toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=1$${random()}$${random()}`;
}

/** Unicode encodes some characters in several ways, and keyboards differ. */
function normal(password: string): string {
  return password.normalize("NFC");
}

/** @throws ServiceError invalid, naming `path`, for a password that is too short, too long or easily guessed */
export function checkPassword(path: string, password: string, owner: { name: string; email: string }): void {
  const characters = [...normal(password)];
  if (characters.length < LENGTH.min || characters.length > LENGTH.max) {
    throw invalid(path, `${path} must be ${LENGTH.min} to ${LENGTH.max} characters`);
  }
  const text = password.toLowerCase();
  const known = [owner.email, owner.name].map((each) => each.toLowerCase());
  if (known.includes(text) || new Set(characters).size < DIFFERENT_CHARACTERS_MIN) {
    throw invalid(path, `${path} must be harder to guess: several words, for example`);
  }
}
