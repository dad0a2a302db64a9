import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../context.ts";
import { type OpenReply, type ReplySoFar, storeCheckpoint } from "../store/turns.ts";

/** Of a longer reply a checkpoint is due less often, so that one turn never writes more than this many characters each interval. */
const CHARACTERS_EACH = 64 * 1024;

export interface ReplyCheckpoints {
  /** Whether any may be stored: the finished reply then takes its place. */
  readonly begun: boolean;
  stop(): void;
}

/**
 * Stores what there is of a reply every `checkpointMs` until it is stopped, so that a process that dies takes no more of it along.
 * @param soFar the reply at that moment
 */
export function checkpointReply(
  { db, clock, limits: { checkpointMs } }: ConversationContext,
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
      await storeCheckpoint(db, turn, reply, clock.now());
      storedLength = reply.content.length;
    } catch (err) {
      log.warn({ err }, "a checkpoint of a reply could not be stored, the next one makes up for it");
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
