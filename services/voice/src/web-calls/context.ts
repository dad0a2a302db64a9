import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Sealer } from "@parley/shared/sealing";
import type { CallSignals } from "../call/signals.ts";
import type { CallHolder } from "../call/start-call.ts";
import type { BrowserCalls } from "./browser-calls.ts";
import type { IceServer, TurnUse } from "./ice-servers.ts";

/** What web calls need from the rest of the service. */
export interface WebCallContext {
  db: Database;
  clock: Clock;
  /** Refuses a call that could not be held because of its agent. */
  checkAgent: CallHolder["check"];
  browsers: BrowserCalls;
  signals: Pick<CallSignals, "tell">;
  /** The ICE servers for the browser of a call. */
  iceServersFor(use: TurnUse): IceServer[];
  /** Seals tokens that are stored for repetitions. */
  sealer: Sealer;
}
