import type { Database } from "@parley/shared/db/database";
import { listenForNotifications } from "@parley/shared/db/notifications";
import type { Logger } from "@parley/shared/log";
import type { CallKey } from "../store/calls.ts";

const SIGNALS = ["hang_up", "machine_answered", "machine_ready"] as const;

/** A signal to a call from outside: to end, or that a machine has answered. */
export type CallSignal = (typeof SIGNALS)[number];

/** Signals reach the process that holds the call through the database; a signal for a call that no process holds is lost. */
export interface CallSignals {
  tell(call: CallKey, signal: CallSignal): Promise<void>;
  stop(): Promise<void>;
}

const RETRY_MS = 1_000;

/**
 * @param direct a connection that receives notifications
 * @param heard called with the signals for all calls, whichever process holds them
 */
export function listenForSignals(
  { db, direct, log }: { db: Database; direct: Database; log: Logger },
  heard: (call: CallKey, signal: CallSignal) => void,
): CallSignals {
  const { tell, stop } = listenForNotifications({
    db,
    direct,
    channel: "call_signals",
    retryMs: RETRY_MS,
    heard: (text) => {
      const [ownerId = "", conversationId = "", word] = text.split(" ");
      const signal = SIGNALS.find((each) => each === word);
      if (signal) heard({ ownerId, conversationId }, signal);
    },
    onAway: (err) => log.warn({ err }, "calls receive no signals while the database is unreachable"),
  });
  return { tell: ({ ownerId, conversationId }, signal) => tell(`${ownerId} ${conversationId} ${signal}`), stop };
}
