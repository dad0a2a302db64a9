import type { Sql } from "@parley/shared/db/database";
import type { ThreadedChannel } from "../channels/channel.ts";
import { countMessages } from "../store/message-days.ts";

/** Counts messages of a channel towards an owner's day. @throws ServiceError rate_limited until the next UTC day */
export async function countDay(
  tx: Sql,
  { name: channel, perDay: { messages: max, refusal } }: ThreadedChannel,
  ownerId: string,
  messages: number,
  now: Date,
): Promise<void> {
  await countMessages(tx, { ownerId, channel, now }, { messages, max, refusal });
}
