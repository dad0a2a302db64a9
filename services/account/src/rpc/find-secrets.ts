import type { AccountContext, Handler } from "../context.ts";
import { findSealedSecrets } from "../store/secrets.ts";

export function findSecrets({ db }: AccountContext): Handler<"findSecrets"> {
  return async ({ ownerId, names }) => {
    const found = await findSealedSecrets(db, ownerId, names);
    return { names: found.map(({ name }) => name) };
  };
}
