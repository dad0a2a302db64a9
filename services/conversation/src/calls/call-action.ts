import type {
  CallAction as CallActionMessage,
  HandOver,
  ToolRules as ToolRulesMessage,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { CallAction, ToolRules } from "../tools/tool.ts";

/** The action that a runtime has to do. */
export function toAction(action: CallAction): NonNullable<CallActionMessage["action"]> {
  switch (action.type) {
    case "end_call":
      return { $case: "endCall", value: {} };
    case "transfer_call":
      return { $case: "transferCall", value: { phoneNumber: action.phoneNumber, warm: action.warm } };
    case "send_dtmf":
      return { $case: "sendDtmf", value: { keys: action.keys } };
    case "set_language":
      return { $case: "setLanguage", value: { language: action.language } };
    case "schedule_call":
      return { $case: "scheduleCall", value: { at: new Date(action.call.at), reason: action.call.reason } };
    case "hand_over":
      return { $case: "handOver", value: handOverOf(action) };
  }
}

function handOverOf(action: Extract<CallAction, { type: "hand_over" }>): HandOver {
  const { agentId, voiceAgentId, voiceAgentVersion, contextFrom = 0, message = "", greets = false } = action;
  return { agentId, voiceAgentId, voiceAgentVersion: voiceAgentVersion ?? undefined, contextFrom, message, greets };
}

/** How a runtime waits for a tool. */
export function toRules({
  speech: { before, delayed, sound },
  interruption,
  run,
  timeoutMs,
}: ToolRules): ToolRulesMessage {
  return {
    timeoutMs,
    isCancellable: interruption === "cancel",
    isBackground: run === "background",
    before: typeof before === "object" ? before.text : undefined,
    delayed: [...delayed],
    sound,
  };
}
