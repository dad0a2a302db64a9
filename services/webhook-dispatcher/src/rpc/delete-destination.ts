import type { DispatcherContext, Handler } from "../context.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { cancelled } from "../delivery/state.ts";
import { changePending } from "../store/deliveries.ts";
import { deleteDestinationRow, lockDestination } from "../store/destinations.ts";
import { promiseWanted } from "../wanted/tell-wanted.ts";

/** Its deliveries stay in the log; pending ones become cancelled, many of them by the lane (lane.ts). */
export function deleteDestination({ db, clock }: DispatcherContext): Handler<"deleteDestination"> {
  return async ({ ownerId, destinationId }) => {
    await db.begin(async (tx) => {
      const row = await lockDestination(tx, { ownerId, destinationId });
      await deleteDestinationRow(tx, row);
      await changePending(tx, row, cancelled());
      await enqueueDestinations(tx, [row], clock.now());
      await promiseWanted(tx, ownerId, [row, null], clock.now());
    });
    return {};
  };
}
