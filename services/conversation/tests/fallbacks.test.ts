import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { eventually } from "@parley/testkit/eventually";
import { type ModelCall, type Script, startScriptedModel } from "@parley/testkit/scripted-model";
import { createAgent, failure, hear, leavable, llmOf, say, session, startTestChat, transcript, turn } from "./kit.ts";

const [service, second] = await Promise.all([startTestChat(), startScriptedModel()]);
const agent = await createAgent(service, { llm: withFallback(llmOf(service.model)) });

afterAll(async () => {
  await service.stop();
  await second.stop();
});

beforeEach(() => {
  service.model.script = (call) => call.finish("Hello there.");
  second.script = (call) => call.finish("Here instead.");
});

function withFallback(main: LlmConfig): LlmConfig {
  return { ...main, fallbacks: [{ ...llmOf(second), modelName: "second" }] };
}

const WAYS: [string, (asked: ReturnType<typeof turn>) => Promise<{ sessionId: string; text: string }>][] = [
  [
    "streamed",
    async (asked) => {
      const { sessionId, chunks } = await hear(service.chat, asked);
      return { sessionId, text: chunks.join("") };
    },
  ],
  [
    "whole",
    async (asked) => {
      const { sessionId, response } = await service.chat.completeTurn({ turn: asked });
      return { sessionId, text: response };
    },
  ],
];

/** Answers the first calls like this, and later ones well. */
function first(times: number, script: Script): { calls(): number } {
  const from = service.model.calls.length;
  const calls = () => service.model.calls.length - from;
  service.model.script = (call) => (calls() <= times ? script(call) : call.finish("Hello there."));
  return { calls };
}

describe.each(WAYS)("a %s turn", (_, take) => {
  test("whose model keeps failing is answered by its fallback, and the reply is stored as the fallback's", async () => {
    const { calls } = first(9, (call) => call.respond(500, "text/plain", ""));
    const { sessionId, text } = await take(turn(agent));
    expect(text).toBe("Here instead.");
    expect(calls()).toBe(3);
    const [row] = await service.sql`
      select provider, model, partial, input_tokens, output_tokens, prompt_name, prompt_version from messages
      where conversation_id = ${sessionId} and role = 'assistant'`;
    expect(row).toEqual({
      provider: "CUSTOM_LLM",
      model: "second",
      partial: false,
      input_tokens: 11,
      output_tokens: 7,
      prompt_name: `agent-${agent.agentId}`,
      prompt_version: 1,
    });
    const { usage } = await session(service, agent, sessionId);
    expect(usage).toMatchObject({ replies: 1, inputTokens: 11, outputTokens: 7 });
  });

  test("whose main provider has no credential is answered by its fallback", async () => {
    const { llm } = await service.agents.listProviders({ ownerId: agent.ownerId });
    const { modelNames = [] } = llm.find(({ providerName }) => providerName === "GROQ") ?? {};
    const main = { providerName: "GROQ", modelName: modelNames[0] ?? "", params: undefined, fallbacks: [] };
    const unconfigured = await createAgent(service, { llm: withFallback(main) });
    expect((await take(turn(unconfigured))).text).toBe("Here instead.");
  });
});

test("a client that disconnects between two attempts ends them, and the session continues", async () => {
  const { origin, leave } = leavable();
  const called = Promise.withResolvers<ModelCall>();
  const alone = await createAgent(service);
  const { calls } = first(1, (call) => {
    call.respond(429, "text/plain", "", { "retry-after-ms": "2000" });
    called.resolve(call);
  });
  const taken = failure(service.chat.completeTurn({ turn: turn(alone) }, { origin }));
  await called.promise;
  leave();
  expect(await taken).toMatchObject({ kind: "cancelled" });
  const [row] = await eventually(async () => {
    const rows = await service.sql<{ id: string }[]>`
      select conversation_id as id from conversations where owner_id = ${alone.ownerId} and turn_id is null`;
    expect(rows).toHaveLength(1);
    return rows;
  });
  expect(calls()).toBe(1);
  await say(service, alone, "Still there?", row?.id);
  expect(await transcript(service, alone, row?.id ?? "")).toHaveLength(3);
});
