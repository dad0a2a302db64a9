import type { Sql } from "@parley/shared/db/database";
import type { DeliveryState } from "./deliveries.ts";

export interface ForgottenDelivery {
  deliveryId: string;
  destinationId: string;
  eventId: string;
  wasPending: boolean;
}

/**
 * Marks the deliveries of conversations as forgotten: they cannot be resent, and their responses are no longer stored.
 * Pending ones get the given state.
 * @returns the deliveries newly marked
 */
export async function forgetDeliveries(
  tx: Sql,
  ownerId: string,
  conversationIds: readonly string[],
  { status, attemptsLeft, nextAttemptAt }: Omit<DeliveryState, "attempts">,
): Promise<ForgottenDelivery[]> {
  const areWanted = tx`
    owner_id = ${ownerId} and conversation_id = any(${[...conversationIds]}::text[]) and not forgotten`;
  return tx<ForgottenDelivery[]>`
    with taken as materialized (
      select delivery_id, destination_id, event_id, status = 'pending' as was_pending from deliveries
      where ${areWanted} order by delivery_id for update
    ), marked as (
      update deliveries
      set forgotten = true,
        status = case when status = 'pending' then ${status} else status end,
        attempts_left = case when status = 'pending' then ${attemptsLeft} else attempts_left end,
        next_attempt_at = case when status = 'pending' then ${nextAttemptAt}::timestamptz else next_attempt_at end
      -- Looks for them again, once all are locked, because a join may look through all of them for each.
      where ${areWanted} and (select count(*) from taken) > 0
    )
    select delivery_id, destination_id, event_id, was_pending from taken`;
}

/** Removes response excerpts, which may quote the payload. A separate statement, so that it sees attempts logged up to the mark. */
export async function forgetExcerpts(
  tx: Sql,
  ownerId: string,
  deliveries: readonly ForgottenDelivery[],
): Promise<void> {
  await tx`
    update attempts set response_excerpt = null
    where owner_id = ${ownerId} and delivery_id = any(${deliveries.map(({ deliveryId }) => deliveryId)}::text[])
      and response_excerpt is not null`;
}

/** Removes the payloads. The events stay as long as their deliveries, so that they are not accepted again. */
export async function forgetEvents(tx: Sql, ownerId: string, deliveries: readonly ForgottenDelivery[]): Promise<void> {
  await tx`
    update events set payload = null
    where owner_id = ${ownerId} and event_id = any(${[...new Set(deliveries.map(({ eventId }) => eventId))]}::text[])`;
}
