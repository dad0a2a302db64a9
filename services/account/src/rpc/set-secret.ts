import { notFound } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { toSecret } from "../convert.ts";
import { checkSecretValue } from "../secrets/rules.ts";
import { sealSecret } from "../secrets/sealed-secret.ts";
import { updateSecret } from "../store/secrets.ts";

export function setSecret({ db, sealer, clock }: AccountContext): Handler<"setSecret"> {
  return async ({ ownerId, name, value }) => {
    checkSecretValue(value);
    const key = { ownerId, name };
    const row = await updateSecret(db, key, sealSecret(sealer, key, value), clock.now());
    if (!row) throw notFound("Secret");
    return { secret: toSecret(row) };
  };
}
