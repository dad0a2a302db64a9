import type { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import type { Feature } from "@parley/shared/process/feature";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import type { ThreadedChannel } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import { sendText } from "../rpc/send-text.ts";
import { deliveryQueue } from "./delivery-queue.ts";
import { oldMessages } from "./sweep.ts";
import { threadQueue } from "./thread-queue.ts";

const MIB = 1024 * 1024;
/** Room for two notes of one owner at a time, and a dozen in all. */
const NOTES = { what: "voice messages", totalBytes: 24 * MIB, ownerBytes: 4 * MIB, waitingMax: 1_000 };

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
    sweeps: [oldMessages(ctx.db)],
    stop: observeHeldBytes("voice notes", () => noteShares.heldBytes()),
  };
}
