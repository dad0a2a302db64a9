import { storable } from "../../store/storable.ts";
import { tokenCount } from "../cost.ts";
import type { TokenUsage, ToolCall } from "../port.ts";
import { type CalledTools, calledTools } from "./called-tools.ts";
import type { Heard } from "./protocol.ts";

/** What has been heard of an answer. */
interface Collected extends Heard {
  tools: CalledTools;
  /** Returns the words since the last call. */
  take(): string;
  toolCalls(): ToolCall[];
  readonly counts: TokenUsage;
  /** Whether any event meant something. */
  readonly isKnown: boolean;
  readonly hasEnded: boolean;
  /** Whether nothing more follows. */
  readonly isOver: boolean;
  /** Why the answer is not whole, in the provider's words; null if it is. */
  readonly partialReason: string | null;
  /** The error that the provider reported, if any. */
  readonly reported: { error: unknown } | null;
}

/** The ends of whole answers, in lower case and of all protocols. Any other is an answer that was cut short. */
const WHOLE: ReadonlySet<string> = new Set([
  ...["stop", "end", "done", "complete", "completed", "end_turn", "end_of_turn", "eos", "eos_token", "eos_found"],
  ...["stop_sequence", "stop_str", "tool_calls", "tool_call", "tool-calls", "tool_use", "function_call"],
]);
/** What some servers send in place of no reason. */
const NO_REASONS: readonly string[] = ["", "null", "none"];
const REASON_MAX = 100;

export function collect(): Collected {
  const tools = calledTools();
  const counts: TokenUsage = { inputTokens: undefined, outputTokens: undefined };
  let said = "";
  let hasSaid = false;
  let isKnown = false;
  let reason: string | null = null;
  let isOver = false;
  let reported: { error: unknown } | null = null;

  return {
    tools,
    counts,
    text(given) {
      if (typeof given !== "string" || given === "") return;
      isKnown = true;
      hasSaid = true;
      said += given;
    },
    get hasBegun() {
      return hasSaid || tools.size > 0;
    },
    usage(given) {
      for (const [name, count] of Object.entries(given) as [keyof TokenUsage, unknown][]) {
        const known = tokenCount(count);
        if (known === undefined) continue;
        isKnown = true;
        counts[name] = known;
      }
    },
    end(given) {
      const text = typeof given === "string" ? storable(given).trim() : "";
      if (NO_REASONS.includes(text.toLowerCase())) return;
      isKnown = true;
      reason = text.slice(0, REASON_MAX).toWellFormed();
    },
    over() {
      isKnown = true;
      isOver = true;
    },
    fail(error) {
      reported ??= { error };
    },
    take() {
      const text = storable(said);
      said = "";
      return text;
    },
    toolCalls: tools.list,
    get isKnown() {
      return isKnown || tools.size > 0;
    },
    get hasEnded() {
      return isOver || reason !== null;
    },
    get isOver() {
      return isOver;
    },
    get partialReason() {
      return reason === null || WHOLE.has(reason.toLowerCase()) ? null : reason;
    },
    get reported() {
      return reported;
    },
  };
}
