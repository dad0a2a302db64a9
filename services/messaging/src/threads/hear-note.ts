import { CarrierRefusal } from "@parley/shared/carriers/errors";
import { ServiceError } from "@parley/shared/errors";
import type { Connection } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import type { IncomingContent } from "../store/incoming.ts";

/** The most bytes that the voice service accepts: a quarter of an hour. */
const BYTES_MAX = 2 * 1024 * 1024;
const TIMEOUT_MS = 130_000;
const RETRY_MS = 10_000;
/** After this time the agent is only told that there was a voice message. */
const GIVE_UP_MS = 2 * 60_000;
const UNHEARD = "[a voice message that could not be transcribed]";

/**
 * The words of a voice message, by the agent's own speech recognition.
 * @returns when to try again, while a provider is down
 */
export async function hearNote(
  { voices, clock, log, noteShares }: ThreadContext,
  connection: Connection,
  agentId: string,
  note: { mediaId: string; receivedAt: Date },
  gone: AbortSignal,
): Promise<IncomingContent | Date> {
  const { ownerId } = connection;
  const hold = await noteShares.hold(ownerId, BYTES_MAX, gone);
  try {
    const audio = Buffer.from(await connection.download(note.mediaId, BYTES_MAX));
    const origin = { requestId: note.mediaId, signal: gone };
    const { text } = await voices.transcribe({ ownerId, agentId, audio }, { origin, timeoutMs: TIMEOUT_MS });
    return { type: "heard", text: text.trim() || "[a voice message without words]" };
  } catch (error) {
    if (gone.aborted) throw error;
    const retryAt = new Date(clock.now().getTime() + RETRY_MS);
    if (isTransient(error) && retryAt.getTime() - note.receivedAt.getTime() < GIVE_UP_MS) return retryAt;
    log.warn({ owner_id: ownerId, agent_id: agentId, err: error }, "a voice message was not transcribed");
    return { type: "text", text: UNHEARD };
  } finally {
    hold.release();
  }
}

/** Whether it is worth another attempt: the provider's faults, but not what the owner has to repair. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ServiceError) return !["condition", "invalid", "not_found", "forbidden"].includes(error.kind);
  return !(error instanceof CarrierRefusal);
}
