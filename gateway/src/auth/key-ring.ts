import type { KeyGrant } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService, WatchKeysResponse } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Logger } from "@parley/shared/log";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { LRUCache } from "lru-cache";

type Accounts = Pick<ServiceClient<typeof AccountServiceService>, "authenticateKey" | "watchKeys">;

/** Looks API keys up, remembers the good ones, and forgets one the moment it changes. */
export interface KeyRing {
  /** The grant of a key by its SHA-256, null for none. @throws ServiceError unavailable and so on, never "wrong key" */
  find(digest: Buffer): Promise<KeyGrant | null>;
  close(): void;
}

/** How long a look-up may be believed while changes are being told. */
const CACHE_MS = 30_000;
/** While they are not: with the silence that shows it, less than the second in which a revocation must hold. */
const BLIND_CACHE_MS = 250;
/** The account service gives a sign of life every 300 ms; a longer silence means that a change may be missed. */
const SILENCE_MS = 700;
const RECONNECT_MS = 250;
const KEYS_MAX = 100_000;

interface Remembered {
  grant: KeyGrant;
  at: number;
}

interface LookUp {
  answer: Promise<KeyGrant | null>;
  at: number;
}

/** Begins to hear of changes at once, and again whenever that is lost. */
export function createKeyRing(accounts: Accounts, log: Logger): KeyRing {
  const remembered = new LRUCache<string, Remembered>({ max: KEYS_MAX });
  const pending = new Map<string, LookUp>();
  const closed = new AbortController();
  let heardAt = Number.NEGATIVE_INFINITY;
  /** Grows with every change: a look-up that began before one is not remembered after it. */
  let generation = 0;

  const isFresh = ({ at }: Remembered) => {
    const now = performance.now();
    return now - at < (now - heardAt < SILENCE_MS ? CACHE_MS : BLIND_CACHE_MS);
  };

  const hear = ({ keyId, heartbeat }: WatchKeysResponse) => {
    heardAt = performance.now();
    if (heartbeat) return;
    generation++;
    pending.clear();
    if (keyId === "") remembered.clear();
    for (const [digest, { grant }] of remembered.entries()) if (grant.keyId === keyId) remembered.delete(digest);
  };

  const watch = async () => {
    let lost = false;
    while (!closed.signal.aborted) {
      try {
        const origin = { requestId: "watch-keys", signal: closed.signal };
        for await (const change of accounts.watchKeys({}, { origin })) {
          if (lost) log.info("key changes are heard again");
          lost = false;
          hear(change);
        }
      } catch (err) {
        if (!lost && !closed.signal.aborted)
          log.warn({ err }, "key changes are not heard, keys are looked up again and again");
        lost = true;
      }
      heardAt = Number.NEGATIVE_INFINITY;
      await Bun.sleep(RECONNECT_MS);
    }
  };
  void watch();

  const ask = async (digest: Buffer, key: string, at: number) => {
    const began = generation;
    const { grant } = await accounts.authenticateKey({ digest });
    if (grant && began === generation) remembered.set(key, { grant, at });
    return grant ?? null;
  };

  const lookUp = (digest: Buffer, key: string) => {
    const at = performance.now();
    const asked: LookUp = {
      answer: ask(digest, key, at).finally(() => pending.get(key) === asked && pending.delete(key)),
      at,
    };
    pending.set(key, asked);
    return asked.answer;
  };

  return {
    find(digest) {
      const key = digest.toString("latin1");
      const known = remembered.get(key);
      if (known && isFresh(known)) return Promise.resolve(known.grant);
      // An answer that is long in coming may be older than a change: only those who came early wait for it.
      const asked = pending.get(key);
      return asked && performance.now() - asked.at < BLIND_CACHE_MS ? asked.answer : lookUp(digest, key);
    },
    close: () => closed.abort(),
  };
}
