import type { CallAction as CallActionMessage } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { CallAction } from "../tools/tool.ts";

/** The action that a runtime has to do. */
export function toAction(action: CallAction): NonNullable<CallActionMessage["action"]> {
  switch (action.type) {
    case "end_call":
      return { $case: "endCall", value: {} };
    case "transfer_call":
      return { $case: "transferCall", value: { phoneNumber: action.phoneNumber } };
    case "set_language":
      return { $case: "setLanguage", value: { language: action.language } };
    case "schedule_call":
      return { $case: "scheduleCall", value: { at: new Date(action.call.at), reason: action.call.reason } };
  }
}
