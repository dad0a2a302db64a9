import type { OperationExamples } from "../example.ts";
import { AGENT_ID, CREATED_AT, SESSION_ID } from "../values.ts";

export const WIDGET_EXAMPLES: OperationExamples = {
  createWidgetToken: {
    request: { agent_id: AGENT_ID },
    response: {
      token: "djEuq0pXYnJ3c2ZtQ1hCZ0p2dE5kS0xzUW9IeVRhZVI4",
      expires_at: CREATED_AT,
      session_id: SESSION_ID,
      agent_name: "Front desk",
      widget_config: { title: "Acme", greeting: "How can I help you?", primary_color: "#1F5EFF" },
    },
  },
  sendWidgetMessage: {
    request: { message: "When do you open on Friday?" },
    text: "We open at nine on Friday.",
  },
  watchWidget: {
    text: 'id: 1796000000123\nevent: message\ndata: {"seq":3,"role":"assistant","content":"Ada here. How can I help?","timestamp":"2026-01-31T09:30:00.000Z","by":"operator"}\n\n',
  },
};
