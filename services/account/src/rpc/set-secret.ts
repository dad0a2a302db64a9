import { notFound } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { toSecret } from "../convert.ts";
import { checkSecretValue } from "../secrets/rules.ts";
import { sealSecret } from "../secrets/sealed-secret.ts";
import { updateSecret } from "../store/secrets.ts";

/** Answers once no turn that begins uses the former value any more, unless its process cannot reach the agent service. */
export function setSecret({ db, sealer, clock, agents }: AccountContext): Handler<"setSecret"> {
  return async ({ ownerId, name, value }, call) => {
    checkSecretValue(value);
    const key = { ownerId, name };
    const row = await updateSecret(db, key, sealSecret(sealer, key, value), clock.now());
    if (!row) throw notFound("Secret");
    await agents.renewKeys({ ownerId }, { origin: call });
    return { secret: toSecret(row) };
  };
}
