import { STARTING_MS } from "@parley/shared/domain/start-webhook";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { FirstMessage } from "../../schemas/chat.ts";
import { TestChatBody } from "../../schemas/manage/test-chats.ts";
import { draftIdOf } from "../draft.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function testChatRoutes(gate: GateContext, { agents, conversations }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/test-chats" }).post(
    "/",
    ...route(
      {
        id: "startTestChat",
        summary: "Open a test chat with the agent's greeting",
        description:
          "Opens a chat that tries the agent with unsaved changes. Its messages follow through `POST /v1/public/chat` with `session_id`, and with `draft` in each of them.",
        body: TestChatBody,
        response: FirstMessage,
        namesChat: true,
        refuses: ["not_found", "condition", "conflict", "start"],
      },
      async (admitted) => {
        const { ownerId, body, origin, headers } = admitted;
        // Without changes too: a draft makes the chat a test.
        const draftId = await draftIdOf(agents, { ...admitted, body: { ...body, draft: body.draft ?? {} } });
        const metadata = { dynamic_variables: body.dynamic_variables ?? {} };
        const request = { ownerId, agentId: body.agent_id, metadata, draftId };
        const { sessionId, firstMessage } = await conversations.startChat(request, { origin, timeoutMs: STARTING_MS });
        headers.set("X-Session-ID", sessionId);
        return { session_id: sessionId, first_message: firstMessage, agent_id: body.agent_id };
      },
    ),
  );
}
