import { latencyOf } from "../../ui/numbers.ts";
import { audibleAfter, partsOf, type SpokenLatency, UNFINISHED_NOTE } from "../conversations/waits.ts";
import type { Captioned } from "./captions.ts";

interface StoredMessage {
  role: string;
  content: string;
  latency?: SpokenLatency | undefined;
}

/** Adds to each line of the agent the latency of the stored message that has its words; both are in the order of the call. */
export function withLatencies(lines: readonly Captioned[], messages: readonly StoredMessage[]): readonly Captioned[] {
  const replies = messages.filter(({ role }) => role !== "user");
  let next = 0;
  return lines.map((line) => {
    // What is still being said has no message yet.
    if (line.from !== "agent" || !line.isFinal) return line;
    const at = replies.findIndex(({ content }, index) => index >= next && content === line.text);
    if (at < 0) return line;
    next = at + 1;
    const latency = replies[at]?.latency;
    return latency ? { ...line, latency: describe(latency) } : line;
  });
}

function describe(latency: SpokenLatency): string {
  const total = audibleAfter({ latency });
  const parts = partsOf(latency).map(({ label, ms }) => `${label} ${latencyOf(ms)}`);
  const told = [total === null ? null : latencyOf(total), ...parts].filter((part) => part !== null).join(" · ");
  return latency.unfinished ? `${told}. ${UNFINISHED_NOTE}` : told;
}
