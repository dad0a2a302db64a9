import { expect, test } from "bun:test";
import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import type { TurnEnd } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import type { TurnCall } from "../src/turns/turn-stream.ts";
import { ownGateway } from "./own-gateway.ts";

const DONE: TurnEnd = { error: undefined, errorReplayed: false, refused: false, toolCalls: [] };
const GRANT = { keyId: "key_1", ownerId: "own_1", scopes: ["*"], expiresAt: undefined, rateLimitPerMinute: 100 };

/** Ends the turn that has said its first words. */
let end = (_end: TurnEnd) => {};
/** Whether the connection may be idle. */
let isHeld = false;
const services = {
  turns: {
    run: (_turn: unknown, { onStarted, onText }: TurnCall) => {
      const ended = Promise.withResolvers<TurnEnd>();
      end = ended.resolve;
      onStarted({ sessionId: "s", replayed: false });
      onText("One moment. ");
      return ended.promise;
    },
  },
  messaging: {
    openWidgetToken: async () => ({ ownerId: "own_1", agentId: "agt_1", sessionId: newUuid() }),
    countWidgetMessage: async () => ({}),
  },
  agents: {
    getWidget: async () => {
      throw new ServiceError("unavailable", "The agent service is unreachable");
    },
  },
};
const app = ownGateway(services, async () => ({ ...GRANT, status: KeyStatus.KEY_STATUS_ACTIVE }), {
  holdOpen: () => {
    isHeld = true;
    return () => {
      isHeld = false;
    };
  },
});

function post(path: string, headers: Record<string, string>, body: object): Promise<Response> {
  const json = { "content-type": "application/json", ...headers };
  return app.handle(
    new Request(`http://parley.test${path}`, { method: "POST", headers: json, body: JSON.stringify(body) }),
  );
}

test.each(["text/plain", "text/event-stream"])(
  "the connection of a reply as %s may be idle between two words, until the turn ends",
  async (accept) => {
    const key = `vk_${"a".repeat(43)}`;
    const body = { agent_id: "agt_1", message: "When do you open?" };
    const answer = await post("/v1/public/chat", { "x-api-key": key, accept }, body);
    expect({ status: answer.status, isHeld }).toEqual({ status: 200, isHeld: true });
    end(DONE);
    expect(await answer.text()).toContain("One moment. ");
    await eventually(() => expect(isHeld).toBe(false));
  },
);

test("a visitor whose agent cannot be read takes no place among the replies to an owner's visitors", async () => {
  const headers = { authorization: "Bearer token", accept: "text/event-stream" };
  for (let visitor = 0; visitor < 40; visitor++) {
    const answer = await post("/v1/public/widget-messages", headers, { message: "Hello" });
    expect({ visitor, status: answer.status }).toEqual({ visitor, status: 503 });
  }
});
