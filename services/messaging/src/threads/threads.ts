import type { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { expiredKeys } from "@parley/shared/idempotency/keys";
import { IDEMPOTENCY_KEYS } from "@parley/shared/idempotency/store";
import { oldRows } from "@parley/shared/jobs/old-rows";
import type { Feature } from "@parley/shared/process/feature";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import type { ThreadedChannel } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import { sendText } from "../rpc/send-text.ts";
import { OLD_INCOMING } from "../store/incoming.ts";
import { OLD_DAYS } from "../store/message-days.ts";
import { OLD_OUTGOING } from "../store/outgoing.ts";
import { SILENT_THREADS } from "../store/threads.ts";
import { deliveryQueue } from "./delivery-queue.ts";
import { threadQueue } from "./thread-queue.ts";

const MIB = 1024 * 1024;
/** Room for two notes of one owner at a time, and a dozen in all. */
const NOTES = { what: "voice messages", totalBytes: 24 * MIB, ownerBytes: 4 * MIB, waitingMax: 1_000 };

/** What is no longer needed to recognize repeated messages and statuses. */
const OLD_ROWS = [OLD_INCOMING, OLD_OUTGOING, SILENT_THREADS, ...OLD_DAYS];

/** Answers people's messages, and sends what is to be sent to them, on every channel. @param stopping ends turns early */
export function threads(
  given: Omit<ThreadContext, "noteShares" | "channelOf">,
  channels: readonly ThreadedChannel[],
  stopping: AbortSignal,
): Feature<typeof MessagingServiceService> {
  const noteShares = byteShares(NOTES);
  const byName = new Map(channels.map((channel) => [channel.name, channel]));
  const channelOf = (name: string) => {
    const channel = byName.get(name);
    if (!channel) throw new Error(`There is no channel ${name}`);
    return channel;
  };
  const ctx: ThreadContext = { ...given, noteShares, channelOf };
  return {
    handlers: { sendText: sendText(ctx) },
    queues: { ...threadQueue(ctx, stopping), ...deliveryQueue(ctx) },
    sweeps: [oldRows(ctx.db, "delete-old-messages", 10 * 60_000, OLD_ROWS), expiredKeys(ctx.db, [IDEMPOTENCY_KEYS])],
    stop: observeHeldBytes("voice notes", () => noteShares.heldBytes()),
  };
}
