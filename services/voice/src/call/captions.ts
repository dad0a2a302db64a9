import type { CommonParts } from "./held-call.ts";
import type { CallNews } from "./port.ts";

/** What watchers of a call learn. */
export interface Captions {
  /** Reports what a party says: the words so far, or the whole text. */
  tell(who: "agent" | "user", text: string, isFinal: boolean): void;
  /** Reports what the agent does now, when that changes. At the beginning of a call, it listens. */
  state(state: AgentState): void;
  /** Reports a tool call or its result, if watchers learn of them. */
  tool(news: Extract<CallNews, { type: "tool_call" | "tool_result" }>): void;
  /** Begins to run `report` every second, the first time at once. */
  follow(report: () => void): void;
  stop(): void;
}

type AgentState = Extract<CallNews, { type: "state" }>["state"];

/** How often what is heard is reported. */
const REPORT_MS = 1_000;

export function captions({ clock, watch, tellsTools }: Pick<CommonParts, "clock" | "watch" | "tellsTools">): Captions {
  let told: AgentState = "listening";
  let stopReports = () => {};
  const follow = (report: () => void) => {
    // Set before the report, which may end the call.
    stopReports = clock.after(REPORT_MS, () => follow(report));
    report();
  };
  return {
    tell: (type, text, isFinal) => watch?.({ type, text, isFinal }),
    state: (state) => {
      if (state === told) return;
      told = state;
      watch?.({ type: "state", state });
    },
    tool: (news) => {
      if (tellsTools) watch?.(news);
    },
    follow,
    stop: () => stopReports(),
  };
}
