import { RETRY_SCHEDULES } from "@parley/shared/domain/api-names";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isId, newId } from "@parley/shared/ids";
import { DEFAULT_EVENTS } from "@parley/shared/portable/events";
import { checkName } from "@parley/shared/text/name";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import type { DispatcherContext, Handler } from "../context.ts";
import { fromRequestType, fromRetrySchedule, toDestination } from "../convert.ts";
import { checkDestinationUrl, checkEvents, DESTINATIONS_MAX } from "../rules.ts";
import { sealSecret } from "../secrets.ts";
import { countDestinations, type DestinationRow, insertDestination, lockDestinations } from "../store/destinations.ts";
import { promiseWanted, tellWantedNow } from "../wanted/tell-wanted.ts";

const { standard: STANDARD } = RETRY_SCHEDULES;

/** The response is the only one that shows this secret; a rotation makes a new one. */
export function createDestination(ctx: DispatcherContext): Handler<"createDestination"> {
  const { db, clock, sealer, allowedHosts } = ctx;
  return async ({ ownerId, name, url, requestType, enabled, retrySchedule = STANDARD, events }, { log }) => {
    if (!isId("own", ownerId)) throw invalid("owner_id", "owner_id must be the id of an owner");
    checkName("name", name);
    checkDestinationUrl(url, allowedHosts);
    const now = clock.now();
    const key = { ownerId, destinationId: newId("whd") };
    const secret = newSigningSecret();
    const row: DestinationRow = {
      ...key,
      name,
      url,
      requestType: fromRequestType(requestType),
      retrySchedule: fromRetrySchedule(retrySchedule),
      enabled,
      sealedSecret: sealSecret(sealer, key, secret),
      oldSecrets: [],
      createdAt: now,
      updatedAt: now,
      events: events ? checkEvents(events) : [...DEFAULT_EVENTS],
    };
    const isNews = await db.begin(async (tx) => {
      await lockDestinations(tx, ownerId);
      if ((await countDestinations(tx, ownerId)) >= DESTINATIONS_MAX)
        throw new ServiceError("conflict", `There are ${DESTINATIONS_MAX} destinations already: delete one first`);
      await insertDestination(tx, row);
      return promiseWanted(tx, ownerId, [null, row], now);
    });
    if (isNews) await tellWantedNow(ctx, ownerId, log);
    return { destination: toDestination(row, now), secret };
  };
}
