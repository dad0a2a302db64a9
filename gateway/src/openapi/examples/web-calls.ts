import type { OperationExamples } from "./example.ts";
import { SDP_ANSWER, SDP_OFFER } from "./sdp.ts";
import { AGENT_ID, CREATED_AT, SESSION_ID } from "./values.ts";

export const WEB_CALL_EXAMPLES: OperationExamples = {
  createWebCall: {
    request: { agent_id: AGENT_ID, dynamic_variables: { customer_name: "Ada" }, metadata: { page: "/pricing" } },
    response: {
      conversation_id: SESSION_ID,
      url: `https://parley.example.com/v1/public/web-calls/${SESSION_ID}`,
      token: "kqXh0FvYzZ3Yk0sQ9dJ1mP7uR2wT5xB8cN4vL6aE0iG",
      ice_servers: [{ urls: ["turn:turn.example.com:3478"], username: "parley", credential: "secret" }],
      expires_at: CREATED_AT,
    },
  },
  connectWebCall: { request: SDP_OFFER, text: SDP_ANSWER },
  endWebCall: {},
};
