import { ServiceError } from "@parley/shared/errors";
import type { Handler } from "../../../context.ts";
import { countMessages, countSenders, leftMsOf } from "../../../store/message-days.ts";
import type { WidgetContext } from "../context.ts";

const REFUSAL = "Visitors have sent this account's agents the maximum number of messages for one day";
const ADDRESS_REFUSAL = "Visitors of this address have sent the maximum number of messages for one day";

/**
 * Counts a message towards the day's limits: outside of a browser an origin proves nothing, and replies cost the owner. An address has
 * a share, so that none uses up the day of the others.
 */
export function countMessage(ctx: WidgetContext): Handler<"countWidgetMessage"> {
  const { db, clock, messagesPerDay, messagesPerAddress } = ctx;
  return async ({ ownerId, address }) => {
    const now = clock.now();
    await db.begin(async (tx) => {
      const day = { ownerId, channel: "widget", now };
      const senders = [{ sender: digestOf(address), messages: 1 }];
      const over = await countSenders(tx, day, { senders, max: messagesPerAddress });
      if (over.size > 0) throw new ServiceError("rate_limited", ADDRESS_REFUSAL, { retryAfterMs: leftMsOf(now) });
      await countMessages(tx, day, { messages: 1, max: messagesPerDay, refusal: REFUSAL });
    });
    return {};
  };
}

/** Visitors' addresses are stored nowhere. */
function digestOf(address: string): string {
  return new Bun.CryptoHasher("sha256").update(address).digest("base64url");
}
