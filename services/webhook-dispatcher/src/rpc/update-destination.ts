import { RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { checkName } from "@parley/shared/text/name";
import type { DispatcherContext, Handler } from "../context.ts";
import { fromRequestType, fromRetrySchedule, toDestination } from "../convert.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { cancelled } from "../delivery/state.ts";
import { checkDestinationUrl } from "../rules.ts";
import { changePending } from "../store/deliveries.ts";
import { type DestinationRow, lockDestination, updateDestinationRow } from "../store/destinations.ts";

/**
 * Fields left out stay unchanged. A change applies to future attempts; disabling cancels pending deliveries, many of them by the
 * lane (lane.ts).
 */
export function updateDestination({ db, clock, allowedHosts }: DispatcherContext): Handler<"updateDestination"> {
  return async ({ ownerId, destinationId, name, url, requestType, enabled, retrySchedule }) => {
    if (name !== undefined) checkName("name", name);
    if (url !== undefined) checkDestinationUrl(url, allowedHosts);
    const given = requestType === RequestType.REQUEST_TYPE_UNSPECIFIED ? undefined : fromRequestType(requestType);
    const schedule = retrySchedule === undefined ? undefined : fromRetrySchedule(retrySchedule);
    const now = clock.now();
    const row = await db.begin(async (tx) => {
      const current = await lockDestination(tx, { ownerId, destinationId });
      const next: DestinationRow = {
        ...current,
        name: name ?? current.name,
        url: url ?? current.url,
        requestType: given ?? current.requestType,
        retrySchedule: schedule ?? current.retrySchedule,
        enabled: enabled ?? current.enabled,
        updatedAt: now,
      };
      await updateDestinationRow(tx, next);
      if (!next.enabled) await changePending(tx, next, cancelled());
      // Wakes the lane so that it reads the change.
      await enqueueDestinations(tx, [next], now);
      return next;
    });
    return { destination: toDestination(row, now) };
  };
}
