import type { AccountContext, Handler } from "../context.ts";
import { toSecret } from "../convert.ts";
import { getOwner } from "../store/owners.ts";
import { listSecretRows } from "../store/secrets.ts";

export function listSecrets({ db }: AccountContext): Handler<"listSecrets"> {
  return async ({ ownerId }) => {
    await getOwner(db, ownerId);
    const rows = await listSecretRows(db, ownerId);
    return { secrets: rows.map(toSecret) };
  };
}
