import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { ConverseRequest, HeardReply } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import { storable } from "../store/storable.ts";
import { latencyOf } from "./latency.ts";
import { checkContent, timeOf } from "./transcript.ts";

/** How much of a reply was heard. */
export interface Heard {
  text: string;
  isFinal: boolean;
  latency: Partial<TurnLatency> | null;
  startedAt: Date | null;
  /** What the runtime said itself. */
  fillers: readonly string[];
}

/** Follows a runtime's reports while it speaks a reply. */
export interface Hearing {
  /** The latest report. */
  readonly heard: Heard;
  /** Resolves with the final report; rejects when the runtime disconnects or sends an impossible report. */
  over: Promise<void>;
}

export const NOTHING_HEARD: Heard = { text: "", isFinal: false, latency: null, startedAt: null, fillers: [] };

/** Of one reply. */
const FILLERS_MAX = 1_000;

/** Reads reports up to the final one. */
export function hearReply(requests: AsyncIterator<ConverseRequest>): Hearing {
  let heard = NOTHING_HEARD;
  const read = async () => {
    while (!heard.isFinal) {
      const { done, value } = await requests.next();
      if (done) throw invalid("heard", "The last message of a stream must have heard with is_final");
      if (value.turn) throw invalid("turn", "turn must be in the first message only");
      if (!value.heard) throw invalid("heard", "heard is required in every message but the first");
      heard = heardOf(value.heard);
    }
  };
  const over = read();
  // Awaited only after the model has finished.
  over.catch(() => {});
  return {
    get heard() {
      return heard;
    },
    over,
  };
}

/** @throws ServiceError invalid */
export function heardOf({ text, isFinal, latency, startedAt, fillers }: HeardReply): Heard {
  if (fillers.length > FILLERS_MAX) throw invalid("heard.fillers", `heard.fillers must be at most ${FILLERS_MAX}`);
  return {
    text: text === "" ? "" : checkContent("heard.text", text),
    isFinal,
    latency: latencyOf("heard.latency", latency),
    startedAt: timeOf("heard.started_at", startedAt) ?? null,
    fillers: fillers.map(storable),
  };
}
