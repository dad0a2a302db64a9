import type { RevealedSecret } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Call } from "@parley/shared/rpc/call";
import type { AccountContext, Handler } from "../context.ts";
import { openSecret } from "../secrets/sealed-secret.ts";
import { findSealedSecrets, type SealedSecret } from "../store/secrets.ts";

/** A value that cannot be opened is left out, like one that is gone, so that only its tool fails. */
export function revealSecrets({ db, sealer }: AccountContext): Handler<"revealSecrets"> {
  const revealed = (sealed: SealedSecret, { log }: Call): RevealedSecret[] => {
    try {
      return [{ name: sealed.name, value: openSecret(sealer, sealed) }];
    } catch (err) {
      log.error({ err, owner_id: sealed.ownerId, secret: sealed.name }, "a secret cannot be read");
      return [];
    }
  };
  return async ({ ownerId, names }, call) => {
    const found = await findSealedSecrets(db, ownerId, names);
    return { secrets: found.flatMap((sealed) => revealed(sealed, call)) };
  };
}
