import { ServiceError } from "@parley/shared/errors";
import { actorText } from "@parley/shared/rpc/actor";
import type { AccountContext, Handler } from "../context.ts";
import { toSecret } from "../convert.ts";
import { checkSecretName, checkSecretValue } from "../secrets/rules.ts";
import { sealSecret } from "../secrets/sealed-secret.ts";
import { lockOwner } from "../store/owners.ts";
import { countSecrets, insertSecret, type SecretRow } from "../store/secrets.ts";

/** Limit per owner: they are listed without pages. */
const SECRETS_MAX = 200;

export function createSecret(ctx: AccountContext): Handler<"createSecret"> {
  return async ({ ownerId, name, value }, { actor }) => {
    checkSecretName(name);
    checkSecretValue(value);
    const now = ctx.clock.now();
    const row: SecretRow = { ownerId, name, version: 1, createdBy: actorText(actor), createdAt: now, updatedAt: now };
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      const isNew = await insertSecret(tx, row, sealSecret(ctx.sealer, row, value));
      if (!isNew) throw new ServiceError("conflict", `There is a secret with the name ${name} already`);
      if ((await countSecrets(tx, ownerId)) > SECRETS_MAX)
        throw new ServiceError("conflict", `There are ${SECRETS_MAX} secrets already: delete one first`);
    });
    return { secret: toSecret(row) };
  };
}
