import type { Database } from "@parley/shared/db/database";
import { listenForNotifications } from "@parley/shared/db/notifications";
import type { Logger } from "@parley/shared/log";
import type { CallKey } from "../store/calls.ts";
import type { PersonCall } from "../store/person-calls.ts";
import type { NotConnected } from "./port.ts";

const SIGNALS = ["hang_up", "carrier_ended", "machine_answered", "machine_ready"] as const;

/** A signal to a call from outside: to end, that its carrier reports its end, or that a machine has answered. */
export type CallSignal = (typeof SIGNALS)[number];

const UNANSWERED = ["no_answer", "busy", "cancelled", "failed", "left"] as const satisfies NotConnected["how"][];

/** How a call to a person has ended before its audio was connected. */
export type Unanswered = (typeof UNANSWERED)[number];
export type PersonCallKey = Pick<PersonCall, "ownerId" | "callId">;

/** Signals reach the process that holds the call through the database; a signal for a call that no process holds is lost. */
export interface CallSignals {
  tell(call: CallKey, signal: CallSignal): Promise<void>;
  /** Tells the process that waits for a person. */
  tellUnanswered(call: PersonCallKey, how: Unanswered): Promise<void>;
  stop(): Promise<void>;
}

const RETRY_MS = 1_000;

/**
 * @param direct a connection that receives notifications
 * @param heard called with the signals for all calls, whichever process holds them
 * @param unanswered called for all calls to persons, whichever process waits for them
 */
export function listenForSignals(
  { db, direct, log }: { db: Database; direct: Database; log: Logger },
  heard: (call: CallKey, signal: CallSignal) => void,
  unanswered: (call: PersonCallKey, how: Unanswered) => void = () => {},
): CallSignals {
  const { tell, stop } = listenForNotifications({
    db,
    direct,
    channel: "call_signals",
    retryMs: RETRY_MS,
    heard: (text) => {
      const [ownerId = "", id = "", word] = text.split(" ");
      const signal = SIGNALS.find((each) => each === word);
      if (signal) heard({ ownerId, conversationId: id }, signal);
      const how = UNANSWERED.find((each) => each === word);
      if (how) unanswered({ ownerId, callId: id }, how);
    },
    onAway: (err) => log.warn({ err }, "calls receive no signals while the database is unreachable"),
  });
  return {
    tell: ({ ownerId, conversationId }, signal) => tell(`${ownerId} ${conversationId} ${signal}`),
    tellUnanswered: ({ ownerId, callId }, how) => tell(`${ownerId} ${callId} ${how}`),
    stop,
  };
}
