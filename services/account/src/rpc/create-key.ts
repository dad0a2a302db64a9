import { newId } from "@parley/shared/ids";
import { newApiKey } from "../api-key.ts";
import type { AccountContext, Handler } from "../context.ts";
import { toApiKey } from "../convert.ts";
import { checkExpiry } from "../key-state.ts";
import { scopesOf } from "../scopes.ts";
import { insertKey, type KeyRow } from "../store/api-keys.ts";
import { getOwner } from "../store/owners.ts";
import { checkName } from "../text-rules.ts";

/** The answer is the only place where the key itself ever appears. */
export function createKey(ctx: AccountContext): Handler<"createKey"> {
  return async ({ ownerId, name, scopes, expiresAt }) => {
    const now = ctx.clock.now();
    if (name !== "") checkName(name);
    if (expiresAt) checkExpiry(expiresAt, now);
    const granted = scopesOf(scopes);
    await getOwner(ctx.db, ownerId);
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
    };
    await insertKey(ctx.db, row, digest);
    return { key: toApiKey(row, now), apiKey };
  };
}
