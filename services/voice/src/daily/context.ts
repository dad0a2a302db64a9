import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { Sealer } from "@parley/shared/sealing";
import type { FewAtOnce } from "@parley/shared/shares/few-at-once";
import type { StartCall } from "../call/port.ts";
import type { CallSignals } from "../call/signals.ts";
import type { CallHolder } from "../call/start-call.ts";
import type { Conversations } from "../call/transcript.ts";
import type { DialSip } from "../sip-calls/dial-sip.ts";
import type { DailyConnections } from "./connections.ts";

/** What sessions in Daily rooms need from the rest of the service. */
export interface DailyContext {
  db: Database;
  clock: Clock;
  log: Logger;
  connections: DailyConnections;
  /** Whether this installation can call by SIP. */
  hasSip: boolean;
  dialSip: DialSip;
  /** @throws ServiceError when the call could not be held because of its agent */
  checkAgent: CallHolder["check"];
  startCall: StartCall;
  conversations: Pick<Conversations, "startConversation" | "completeConversation">;
  signals: Pick<CallSignals, "tell">;
  /** Webhooks that are being verified. */
  verifyFewAtOnce: FewAtOnce;
  /** Seals tokens that are stored for repetitions. */
  sealer: Sealer;
  /** PARLEY_PUBLIC_URL; "" if Daily cannot call back, so that rooms are polled instead. */
  publicUrl: string;
}

export const QUEUES = { session: "daily-sessions", webhook: "daily-webhooks" } as const;
