import { rotated } from "@parley/shared/signing-secrets";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import type { DispatcherContext, Handler } from "../context.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { sealSecret } from "../secrets.ts";
import { lockDestination, updateDestinationRow } from "../store/destinations.ts";

/** The response is the only one that shows the new secret; deliveries also carry the old secret's signature while that is valid. */
export function rotateSecret({ db, clock, sealer }: DispatcherContext): Handler<"rotateSecret"> {
  return async ({ ownerId, destinationId }) => {
    const secret = newSigningSecret();
    const now = clock.now();
    const oldSecretValidUntil = await db.begin(async (tx) => {
      const row = await lockDestination(tx, { ownerId, destinationId });
      const { secrets, validUntil } = rotated(row, sealSecret(sealer, row, secret), now);
      await updateDestinationRow(tx, { ...row, ...secrets, updatedAt: now });
      await enqueueDestinations(tx, [row], now);
      return validUntil;
    });
    return { secret, oldSecretValidUntil };
  };
}
