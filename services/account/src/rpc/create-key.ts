import { ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { checkName } from "@parley/shared/text/name";
import type { AccountContext, Handler } from "../context.ts";
import { toApiKey } from "../convert.ts";
import { newApiKey } from "../keys/api-key.ts";
import { checkExpiry } from "../keys/key-state.ts";
import { scopesOf } from "../scopes.ts";
import { countKeys, insertKey, type KeyRow } from "../store/api-keys.ts";
import { lockOwner } from "../store/owners.ts";

/** Limit per owner, in any state: they are listed without pages, and each has its own rate limit. */
const KEYS_MAX = 200;

/** The response is the only place where the key itself appears. */
export function createKey(ctx: AccountContext): Handler<"createKey"> {
  return async ({ ownerId, name, scopes, expiresAt }) => {
    const now = ctx.clock.now();
    if (name !== "") checkName("name", name);
    if (expiresAt) checkExpiry(expiresAt, now);
    const granted = scopesOf(scopes);
    const { apiKey, prefix, digest } = newApiKey();
    const row: KeyRow = {
      ownerId,
      keyId: newId("key"),
      name: name || null,
      prefix,
      scopes: granted,
      active: true,
      expiresAt: expiresAt ?? null,
      createdAt: now,
      lastUsedAt: null,
    };
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      if ((await countKeys(tx, ownerId)) >= KEYS_MAX)
        throw new ServiceError("conflict", `There are ${KEYS_MAX} API keys already: delete one first`);
      await insertKey(tx, row, digest);
    });
    return { key: toApiKey(row, now), apiKey };
  };
}
