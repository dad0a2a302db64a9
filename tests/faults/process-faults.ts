import { describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type Load, startLoad, storedOf, type Turn, wholeOf } from "../kit/load.ts";
import { downPostgres } from "../kit/outage.ts";
import { echoOf } from "../kit/scripted-model.ts";
import type { ProcessName } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createKey } from "../kit/test-owner.ts";
import { agentId, api, model, stack } from "./chat-stack.ts";

const UNKNOWN_KEY = `vk_${"a".repeat(43)}`;

const messagesOf = (sessionId: string) => storedOf(api, { sessionId, message: "", status: 200, reply: "" });
const others = (name: ProcessName) => {
  const { [name]: _, ...rest } = stack.pids();
  return rest;
};

/** Kills a process under a load, and ends the load once it is served again. */
async function killUnder(load: Load, name: ProcessName): Promise<void> {
  await eventually(() => expect(load.answered()).toBeGreaterThan(10));
  await stack.kill(name).back;
  const answered = load.answered();
  await eventually(() => expect(load.answered()).toBeGreaterThan(answered + 10));
  await load.stop();
}

function statusesOf({ turns, reads }: Load): Set<number | null> {
  return new Set([...turns.map(({ status }) => status), ...reads]);
}

/** A turn that was answered is stored in full; a turn that was accepted has at least its user message stored. */
async function isKept(turn: Turn): Promise<void> {
  if (turn.sessionId === "") return;
  const stored = await storedOf(api, turn);
  if (turn.reply === null) expect(stored[0]).toBe(`user: ${turn.message}`);
  else expect({ reply: turn.reply, stored }).toEqual({ reply: echoOf(turn.message), stored: wholeOf(turn) });
}

describe("Postgres killed", () => {
  test("makes every request 503 with Retry-After until it is back, and the stack recovers by itself", async () => {
    const unused = await createKey(stack.accounts, stack.owners[0].ownerId);
    const { body } = await api.post("/chat", { agent_id: agentId, message: "Before", streaming: false });
    const before = others("postgres");
    await using outage = await downPostgres(stack);

    const chat = { agent_id: agentId, message: "During" };
    const asked = () => [
      api.get("/agents"),
      api.get(`/agents/${agentId}`),
      api.get("/prompts"),
      api.get("/conversations"),
      api.get(`/chat/sessions/${body.session_id}`),
      api.get(`/agents/${agentId}/first-message`),
      api.post("/prompts", { prompt_name: "p", prompt_content: "c" }),
      api.post("/prompts", { prompt_name: "p", prompt_content: "c" }, { "idempotency-key": "during" }),
      api.post("/agents", { agent_name: "A", agent_type: "INBOUND", prompt_content: "c" }),
      api.post("/chat", chat),
      api.post("/chat", { ...chat, streaming: false }),
      api.post("/chat", { ...chat, session_id: body.session_id }),
      stack.api(unused.apiKey).get("/agents"),
      stack.api(UNKNOWN_KEY).get("/agents"),
    ];
    for (let round = 0; round < 3; round++) {
      for (const answer of await Promise.all(asked())) {
        expect({ status: answer.status, detail: answer.body.detail }).toMatchObject({ status: 503 });
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
        expect(answer.body).toEqual({ detail: expect.any(String) });
      }
    }

    await outage.up();
    const heals = async () => {
      const again = await api.post("/chat", {
        agent_id: agentId,
        session_id: body.session_id,
        message: "After",
        streaming: false,
      });
      expect(again.status).toBe(200);
    };
    await eventually(heals);
    expect(await messagesOf(body.session_id)).toEqual([
      "user: Before",
      `assistant: ${echoOf("Before")}`,
      "user: After",
      `assistant: ${echoOf("After")}`,
    ]);
    expect((await stack.api(unused.apiKey).get("/agents")).status).toBe(200);
    expect((await stack.api(UNKNOWN_KEY).get("/agents")).status).toBe(401);
    expect(others("postgres")).toEqual(before);
  });

  test("under load loses no accepted message", async () => {
    const load = startLoad(api, agentId);
    await killUnder(load, "postgres");
    for (const status of statusesOf(load)) expect([200, 503]).toContain(status as number);
    await Promise.all(load.turns.map(isKept));
  });
});

describe("a process killed under load", () => {
  const names = ["gateway", "account", "agent", "prompt", "conversation", "webhook-dispatcher"] as const;
  test.each(names)(
    "%s: each response is a regular one or 502 or 503, and what was accepted is stored",
    async (name) => {
      const before = others(name);
      const load = startLoad(api, agentId);
      await killUnder(load, name);
      // Clients lose their connection only when the gateway itself dies.
      const decided: (number | null)[] = name === "gateway" ? [200, null] : [200, 502, 503];
      for (const status of statusesOf(load)) expect(decided).toContain(status);
      await Promise.all(load.turns.map(isKept));
      expect(others(name)).toEqual(before);
    },
  );
});

test("the result of a call that a client makes goes on with its turn, although the conversation process died in between", async () => {
  const tool = { name: "show_seats", description: "Shows the plan", type: "client" };
  const { body: made } = await api.post("/tools", tool);
  const withTool = await createAgent(api, model, { custom_tools: [{ tool_id: made.id }] });
  const asked = { agent_id: withTool, client_tools: true, streaming: false };
  model.next((exchange) => {
    exchange.toolCall("show_seats", {});
    exchange.finish();
  });
  const { body } = await api.post("/chat", { ...asked, message: "Seats?" });
  await stack.kill("conversation").back;
  const tool_results = [{ tool_call_id: body.tool_calls[0].tool_call_id, result: "14C is free" }];
  await eventually(async () => {
    const given = await api.post("/chat", { ...asked, session_id: body.session_id, tool_results });
    expect(given.status).toBe(200);
    expect(given.body.response).toContain("14C is free");
  });
});
