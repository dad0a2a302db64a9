import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { ConversationContext } from "../context.ts";
import { closeSilentCalls, closeSilentChats, closeSilentThreads } from "../store/conversations.ts";

const BATCH = 200;
const EVERY_MAX_MS = 15_000;

/** Ends chats that have been silent for `PARLEY_CHAT_IDLE_MINUTES`. */
export function silentChats({ db, limits }: ConversationContext): Sweep {
  return silenceSweep("close-silent-chats", limits.chatIdleMinutes, (silentSince, now) =>
    closeSilentChats(db, silentSince, now, BATCH),
  );
}

/**
 * Ends WhatsApp conversations that have been silent for `PARLEY_WHATSAPP_IDLE_HOURS`, those that voice runtimes report
 * included.
 */
export function silentThreads({ db, limits }: ConversationContext): Sweep {
  return silenceSweep("close-silent-threads", limits.threadIdleMinutes, (silentSince, now) =>
    closeSilentThreads(db, silentSince, now, BATCH),
  );
}

/** Ends, as FAILED, calls whose voice runtime has gone silent (docs/voice-runtimes.md). */
export function silentCalls({ db, limits }: ConversationContext): Sweep {
  const minutes = limits.callIdleMinutes;
  const notes = `Nothing was heard from the voice runtime for ${minutes} min, so the conversation was closed.`;
  return silenceSweep("close-silent-calls", minutes, (silentSince, now) =>
    closeSilentCalls(db, silentSince, notes, now, BATCH),
  );
}

/** @param close closes at most one batch and returns the number closed */
function silenceSweep(name: string, minutes: number, close: (silentSince: Date, now: Date) => Promise<number>): Sweep {
  const idleMs = minutes * 60_000;
  return {
    name,
    everyMs: Math.min(EVERY_MAX_MS, idleMs / 4),
    run: async (now, stopping) => {
      const silentSince = new Date(now.getTime() - idleMs);
      while ((await close(silentSince, now)) === BATCH && !stopping.aborted);
    },
  };
}
