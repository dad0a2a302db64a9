import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../../context.ts";
import type { OpenReply, ReplySoFar } from "../../store/turns/finish-turns.ts";

/** The most characters that a turn writes per interval, on average: a longer reply is checkpointed less often. */
const CHARACTERS_EACH = 64 * 1024;

export interface ReplyCheckpoints {
  /** Whether a checkpoint may be stored. The finished reply then replaces it. */
  readonly begun: boolean;
  stop(): void;
}

/**
 * Stores the reply so far every `checkpointMs` until it is stopped, so that a process that dies loses no more than that.
 * @param soFar the reply at that moment
 */
export function checkpointReply(
  { turnStore, clock, limits: { checkpointMs } }: ConversationContext,
  turn: OpenReply,
  soFar: () => ReplySoFar,
  log: Logger,
): ReplyCheckpoints {
  let begun = false;
  let isWriting = false;
  let storedLength = 0;
  let intervals = 0;

  async function store(): Promise<void> {
    const reply = soFar();
    intervals++;
    if (isWriting || reply.content.length === storedLength) return;
    if (begun && intervals * CHARACTERS_EACH < reply.content.length) return;
    begun = true;
    isWriting = true;
    intervals = 0;
    try {
      await turnStore.storeCheckpoint({ ...turn, reply, now: clock.now() });
      storedLength = reply.content.length;
    } catch (err) {
      log.warn({ err }, "a checkpoint of a reply could not be stored; the next one will have its text");
    } finally {
      isWriting = false;
    }
  }

  const timer = setInterval(() => void store(), checkpointMs);
  return {
    get begun() {
      return begun;
    },
    stop: () => clearInterval(timer),
  };
}
