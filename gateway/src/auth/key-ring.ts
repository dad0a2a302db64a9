import type { KeyGrant } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService, WatchKeysResponse } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Logger } from "@parley/shared/log";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { LRUCache } from "lru-cache";

type Accounts = Pick<ServiceClient<typeof AccountServiceService>, "authenticateKey" | "watchKeys">;

/** Looks up API keys, caches the valid ones, and drops one as soon as it changes. */
export interface KeyRing {
  /** The grant of a key, by its SHA-256; null for none. @throws ServiceError such as unavailable, never "wrong key" */
  find(digest: Buffer, through?: LookThrough): Promise<KeyGrant | null>;
  close(): void;
}

/** Looks a key up, at once or after a wait. @param key distinguishes it from others */
export type LookThrough = (key: string, find: () => Promise<KeyGrant | null>) => Promise<KeyGrant | null>;

/** How long a look-up is cached while changes are received. */
const CACHE_MS = 30_000;
/**
 * The same while they are not: with the silence that reveals it, less than the second within which a revocation must
 * apply.
 */
const BLIND_CACHE_MS = 250;
/** The account service sends a heartbeat every 300 ms; a longer silence means that a change may have been missed. */
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

/** Watches for changes at once, and again whenever the stream is lost. */
export function createKeyRing(accounts: Accounts, log: Logger): KeyRing {
  const remembered = new LRUCache<string, Remembered>({ max: KEYS_MAX });
  const pending = new Map<string, LookUp>();
  const closed = new AbortController();
  let heardAt = Number.NEGATIVE_INFINITY;
  /** Increases with every change: a look-up that began earlier is not cached. */
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
          if (lost) log.info("key changes are received again");
          lost = false;
          hear(change);
        }
      } catch (err) {
        if (!lost && !closed.signal.aborted)
          log.warn({ err }, "key changes are not received, so keys are looked up at least every 250 ms");
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
    find(digest, through = (_, find) => find()) {
      const key = digest.toString("latin1");
      const known = remembered.get(key);
      if (known && isFresh(known)) return Promise.resolve(known.grant);
      // A slow answer may be older than a change, so only requests from before the change may wait for it.
      const asked = pending.get(key);
      if (asked && performance.now() - asked.at < BLIND_CACHE_MS) return asked.answer;
      return through(key, () => lookUp(digest, key));
    },
    close: () => closed.abort(),
  };
}
