import type { OperationExamples } from "../example.ts";
import { AGENT_ID, CREATED_AT, SESSION_ID } from "../values.ts";

export const DAILY_EXAMPLES: OperationExamples = {
  createDailySession: {
    request: {
      agent_id: AGENT_ID,
      dynamic_variables: { customer_name: "Ada" },
      metadata: { page: "/pricing" },
      expires_in_seconds: 1_800,
    },
    response: {
      conversation_id: SESSION_ID,
      room_url: `https://acme.daily.co/parley-${SESSION_ID}`,
      room_name: `parley-${SESSION_ID}`,
      token: "eyJhbGciOiJIUzI1NiJ9.eyJyIjoicGFybGV5In0.x7Qm2vT9",
      expires_at: CREATED_AT,
    },
  },
};
