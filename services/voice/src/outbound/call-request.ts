import type { CallRequest } from "../call/port.ts";
import type { NewOutboundCall } from "../store/outbound-calls.ts";

/** The stored call as a call to hold, the same each time. */
export function callRequest(call: NewOutboundCall): CallRequest {
  return {
    ownerId: call.ownerId,
    agentId: call.agentId,
    agentVersion: call.agentVersion,
    conversationId: call.conversationId,
    channel: {
      type: "TELEPHONY",
      callingType: "OUTBOUND",
      toMobileNumber: call.toMobileNumber,
      fromMobileNumber: call.fromMobileNumber,
      telephonyProvider: call.provider === "SIP" ? undefined : call.provider,
    },
    dynamicVariables: call.dynamicVariables,
    metadata: call.metadata,
    isTestCall: call.isTestCall,
    isAskedAgain: true,
    maxDurationSeconds: call.maxDurationSeconds,
    leavesMessage: call.voicemail === "leave_message",
  };
}
