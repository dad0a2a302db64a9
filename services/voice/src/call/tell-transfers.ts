import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { type EventTaker, handOverNow, keepEvent } from "@parley/shared/owner-events/hand-over";
import { passingTime } from "@parley/shared/shares/passing-time";
import type { StartCallOptions } from "./prepare-call.ts";
import { untilAnswered } from "./transcript.ts";

/** Tells owners of transfers, at once, so that the end of the conversation is told later. */
export function tellTransfers({
  db,
  clock,
  log,
  conversations,
}: {
  db: Database;
  clock: Clock;
  log: Logger;
  conversations: EventTaker;
}): NonNullable<StartCallOptions["transferEnded"]> {
  return async (call, transfer) => {
    const event = transfer.outcome === "accepted" ? "transfer.completed" : "transfer.failed";
    try {
      const happened = { ...call, event, object: transfer, happenedAt: clock.now() } as const;
      const kept = await untilAnswered(passingTime, () => keepEvent(db, happened));
      await handOverNow(conversations, kept);
    } catch (err) {
      log.warn({ err, conversation_id: call.conversationId }, "could not keep the event of a transfer");
    }
  };
}
