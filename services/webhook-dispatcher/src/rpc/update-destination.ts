import { RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { checkName } from "@parley/shared/text/name";
import type { DispatcherContext, Handler } from "../context.ts";
import { fromRequestType, fromRetrySchedule, toDestination } from "../convert.ts";
import { enqueueDestinations } from "../delivery/queue.ts";
import { cancelled } from "../delivery/state.ts";
import { checkDestinationUrl, checkEvents } from "../rules.ts";
import { changePending } from "../store/deliveries.ts";
import { type DestinationRow, lockDestination, updateDestinationRow } from "../store/destinations.ts";
import { promiseWanted, tellWantedNow } from "../wanted/tell-wanted.ts";

/**
 * Fields left out stay unchanged. A change applies to future attempts; disabling cancels pending deliveries, many of them by the
 * lane (lane.ts).
 */
export function updateDestination(ctx: DispatcherContext): Handler<"updateDestination"> {
  const { db, clock, allowedHosts } = ctx;
  return async ({ ownerId, destinationId, name, url, requestType, enabled, retrySchedule, events }, { log }) => {
    if (name !== undefined) checkName("name", name);
    if (url !== undefined) checkDestinationUrl(url, allowedHosts);
    const given = requestType === RequestType.REQUEST_TYPE_UNSPECIFIED ? undefined : fromRequestType(requestType);
    const schedule = retrySchedule === undefined ? undefined : fromRetrySchedule(retrySchedule);
    const wanted = events && checkEvents(events);
    const now = clock.now();
    const { row, isNews } = await db.begin(async (tx) => {
      const current = await lockDestination(tx, { ownerId, destinationId });
      const next: DestinationRow = {
        ...current,
        name: name ?? current.name,
        url: url ?? current.url,
        requestType: given ?? current.requestType,
        retrySchedule: schedule ?? current.retrySchedule,
        enabled: enabled ?? current.enabled,
        updatedAt: now,
        events: wanted ?? current.events,
      };
      await updateDestinationRow(tx, next);
      if (!next.enabled) await changePending(tx, next, cancelled());
      // Wakes the lane so that it reads the change.
      await enqueueDestinations(tx, [next], now);
      return { row: next, isNews: await promiseWanted(tx, ownerId, [current, next], now) };
    });
    if (isNews) await tellWantedNow(ctx, ownerId, log);
    return { destination: toDestination(row, now) };
  };
}
