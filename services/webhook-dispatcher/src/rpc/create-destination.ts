import { RETRY_SCHEDULES } from "@parley/shared/domain/api-names";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isId, newId } from "@parley/shared/ids";
import { checkName } from "@parley/shared/text/name";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import type { DispatcherContext, Handler } from "../context.ts";
import { fromRequestType, fromRetrySchedule, toDestination } from "../convert.ts";
import { checkDestinationUrl, DESTINATIONS_MAX } from "../rules.ts";
import { sealSecret } from "../secrets.ts";
import { countDestinations, type DestinationRow, insertDestination, lockDestinations } from "../store/destinations.ts";

const { standard: STANDARD } = RETRY_SCHEDULES;

/** The response is the only one that shows this secret; a rotation makes a new one. */
export function createDestination({
  db,
  clock,
  sealer,
  allowedHosts,
}: DispatcherContext): Handler<"createDestination"> {
  return async ({ ownerId, name, url, requestType, enabled, retrySchedule = STANDARD }) => {
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
    };
    await db.begin(async (tx) => {
      await lockDestinations(tx, ownerId);
      if ((await countDestinations(tx, ownerId)) >= DESTINATIONS_MAX)
        throw new ServiceError("conflict", `There are ${DESTINATIONS_MAX} destinations already: delete one first`);
      await insertDestination(tx, row);
    });
    return { destination: toDestination(row, now), secret };
  };
}
