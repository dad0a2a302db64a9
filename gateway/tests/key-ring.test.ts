import { afterEach, describe, expect, test } from "bun:test";
import { type KeyGrant, KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import type { WatchKeysResponse } from "@parley/proto/parley/account/v1/account_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { createKeyRing, type KeyRing } from "../src/auth/key-ring.ts";

/** Much shorter than the half minute after which a remembered key is looked up again; it takes less than a second. */
const SOON_MS = 10_000;
const DIGEST = Buffer.alloc(32, 1);

function grantOf(keyId: string): KeyGrant {
  return {
    keyId,
    ownerId: "own_1",
    scopes: ["*"],
    status: KeyStatus.KEY_STATUS_ACTIVE,
    expiresAt: undefined,
    rateLimitPerMinute: 100,
  };
}

/** An account service whose answers and change stream the test controls. */
function scriptedAccounts() {
  const state = {
    grant: grantOf("key_1") as KeyGrant | undefined,
    lookUps: 0,
    watching: 0,
    failure: null as ServiceError | null,
    beforeAnswer: async () => {},
    tell: (_change: Partial<WatchKeysResponse>) => {},
    cut: () => {},
    /** Stops the heartbeats, on a stream that stays open. */
    hush: () => {},
  };
  return {
    state,
    accounts: {
      authenticateKey: async () => {
        state.lookUps++;
        if (state.failure) throw state.failure;
        const { grant } = state;
        await state.beforeAnswer();
        return { grant };
      },
      watchKeys: async function* (): AsyncGenerator<WatchKeysResponse> {
        const waiting: WatchKeysResponse[] = [{ keyId: "", heartbeat: false }];
        let wake = () => {};
        let ended = false;
        state.watching++;
        state.tell = (change) => {
          waiting.push({ keyId: "", heartbeat: false, ...change });
          wake();
        };
        state.cut = () => {
          ended = true;
          wake();
        };
        // A heartbeat as often as the real service sends one.
        const beat = setInterval(() => state.tell({ heartbeat: true }), 200);
        state.hush = () => clearInterval(beat);
        try {
          while (!ended) {
            yield* waiting.splice(0);
            await new Promise<void>((resolve) => {
              wake = resolve;
              if (waiting.length > 0 || ended) resolve();
            });
          }
        } finally {
          clearInterval(beat);
          state.watching--;
        }
      },
    },
  };
}

describe("the key ring", () => {
  let ring: KeyRing | undefined;
  afterEach(() => ring?.close());

  async function started() {
    const scripted = scriptedAccounts();
    ring = createKeyRing(scripted.accounts, silentLogger);
    await eventually(() => expect(scripted.state.watching).toBe(1));
    return { ring, state: scripted.state };
  }

  test("looks up a repeatedly used key once", async () => {
    const { ring, state } = await started();
    for (let use = 0; use < 5; use++) expect((await ring.find(DIGEST))?.keyId).toBe("key_1");
    expect(state.lookUps).toBe(1);
  });

  test("looks up a key once for many concurrent requests", async () => {
    const { ring, state } = await started();
    await Promise.all(Array.from({ length: 50 }, () => ring.find(DIGEST)));
    expect(state.lookUps).toBe(1);
  });

  test("looks up a key again as soon as it has changed", async () => {
    const { ring, state } = await started();
    await ring.find(DIGEST);
    state.grant = undefined;
    state.tell({ keyId: "key_1" });
    await eventually(async () => expect(await ring.find(DIGEST)).toBeNull());
  });

  test("keeps a key when another one changes", async () => {
    const { ring, state } = await started();
    await ring.find(DIGEST);
    state.tell({ keyId: "key_2" });
    await Bun.sleep(0);
    await ring.find(DIGEST);
    expect(state.lookUps).toBe(1);
  });

  test("does not cache an answer that was in flight when the key changed", async () => {
    const { ring, state } = await started();
    const { promise: told, resolve: answer } = Promise.withResolvers<void>();
    state.beforeAnswer = () => told;
    const finding = ring.find(DIGEST);
    state.grant = undefined;
    state.tell({ keyId: "key_1" });
    await Bun.sleep(0);
    answer();
    await finding;
    expect(await ring.find(DIGEST)).toBeNull();
  });

  test("looks up a key again that changed while an answer was in flight", async () => {
    const { ring, state } = await started();
    const { promise: told, resolve: answer } = Promise.withResolvers<void>();
    state.beforeAnswer = () => told;
    const before = ring.find(DIGEST);
    state.grant = undefined;
    state.tell({ keyId: "key_1" });
    await Bun.sleep(0);
    const after = ring.find(DIGEST);
    answer();
    expect((await before)?.keyId).toBe("key_1");
    expect(await after).toBeNull();
  });

  test("drops every key when any may have changed", async () => {
    const { ring, state } = await started();
    await ring.find(DIGEST);
    state.grant = undefined;
    state.tell({ keyId: "" });
    await eventually(async () => expect(await ring.find(DIGEST)).toBeNull());
  });

  test("never caches that a key does not exist", async () => {
    const { ring, state } = await started();
    state.grant = undefined;
    expect(await ring.find(DIGEST)).toBeNull();
    state.grant = grantOf("key_1");
    expect((await ring.find(DIGEST))?.keyId).toBe("key_1");
  });

  test("notices a change soon while changes are not received", async () => {
    const { ring, state } = await started();
    await ring.find(DIGEST);
    state.cut();
    state.grant = undefined;
    await eventually(async () => expect(await ring.find(DIGEST)).toBeNull(), SOON_MS);
  });

  test("notices a change soon while the stream is open but silent", async () => {
    const { ring, state } = await started();
    await ring.find(DIGEST);
    state.hush();
    state.grant = undefined;
    await eventually(async () => expect(await ring.find(DIGEST)).toBeNull(), SOON_MS);
    expect(state.watching).toBe(1);
  });

  test("reports a failed look-up instead of treating the key as wrong", async () => {
    const { ring, state } = await started();
    state.failure = new ServiceError("unavailable", "The account service is unreachable. Try again.");
    await expect(ring.find(DIGEST)).rejects.toThrow("unreachable");
    state.failure = null;
    expect((await ring.find(DIGEST))?.keyId).toBe("key_1");
  });
});
