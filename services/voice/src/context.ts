import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Sealer } from "@parley/shared/sealing";
import type { CallSignals } from "./call/signals.ts";
import type { CallHolder } from "./call/start-call.ts";
import type { RecordingFiles } from "./recording/files/files.ts";
import type { Recordings } from "./recording/recordings.ts";
import type { VoiceNotes } from "./voice-notes/voice-notes.ts";
import type { IceServer, TurnUse } from "./web-calls/ice-servers.ts";
import type { WebCalls } from "./web-calls/web-calls.ts";

export interface VoiceContext {
  db: Database;
  /** Refuses a call that could not be held because of its agent. */
  checkAgent: CallHolder["check"];
  webCalls: WebCalls;
  voiceNotes: VoiceNotes;
  signals: CallSignals;
  recordings: Pick<Recordings, "remove">;
  /** Null: calls are not recorded here. */
  recordingFiles: RecordingFiles | null;
  /** The ICE servers for the browser of a call. */
  iceServersFor(use: TurnUse): IceServer[];
  /** Seals tokens that are stored for repetitions. */
  sealer: Sealer;
  clock: Clock;
}
