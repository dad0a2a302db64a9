import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { AskForJsonRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { createAgent, failure, llmOf, startTestChat, type TestAgent } from "./kit.ts";

const service = await startTestChat();
afterAll(() => service.stop());
beforeEach(() => {
  service.model.script = (call) => call.finish("Hello there.");
});

describe("asking a model for JSON", () => {
  const schema = {
    type: "object",
    properties: { verdict: { type: "string", enum: ["yes", "no"] } },
    required: ["verdict"],
    additionalProperties: false,
  };
  const ask = (agent: TestAgent, given: Partial<AskForJsonRequest> = {}) => {
    const question = { ...agent, agentVersion: 1, system: "You judge.", message: "user: Hi", schema };
    return service.chat.askForJson(AskForJsonRequest.fromPartial({ ...question, ...given } as object));
  };

  test("asks the agent's own model at temperature 0 and answers an object that fits the schema", async () => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish('```json\n{"verdict":"yes"}\n```');
    expect(await ask(agent)).toEqual({ json: '{"verdict":"yes"}', costUsd: undefined, hasPrice: false });
    const { body, asked } = service.model.calls.at(-1) ?? {};
    expect(body).toMatchObject({ temperature: 0, response_format: { json_schema: { schema } } });
    expect(asked?.system).toStartWith("You judge.");
  });

  test("asks the given model instead, as it is configured, and tells what that cost", async () => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish('{"verdict":"no"}');
    const llm = LlmConfig.fromPartial({ ...llmOf(service.model), modelName: "judge", price: { input: 2, output: 10 } });
    expect(await ask(agent, { llm })).toEqual({ json: '{"verdict":"no"}', costUsd: 0.000092, hasPrice: true });
    expect(service.model.calls.at(-1)?.body).toMatchObject({ model: "judge", temperature: 0.5 });
  });

  test.each([
    ["is no JSON", "I cannot say."],
    ["does not fit the schema", '{"verdict":"perhaps"}'],
  ])("fails when the model's answer %s", async (_, text) => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish(text);
    expect(await failure(ask(agent))).toMatchObject({
      kind: "upstream_failed",
      detail: "The CUSTOM_LLM model's answer does not fit the schema",
    });
  });

  test("refuses a question that is empty or too long, and never asks a private address", async () => {
    const agent = await createAgent(service);
    expect(await failure(ask(agent, { system: "" }))).toMatchObject({ kind: "invalid" });
    expect(await failure(ask(agent, { message: "m".repeat(1_000_001) }))).toMatchObject({ kind: "invalid" });
    expect(await failure(ask(agent, { schema: { title: "t".repeat(16 * 1024) } }))).toMatchObject({ kind: "invalid" });
    const llm = LlmConfig.fromPartial({
      providerName: "CUSTOM_LLM",
      modelName: "m",
      params: { baseUrl: "http://10.0.0.1/v1" },
    });
    expect(await failure(ask(agent, { llm }))).toMatchObject({ kind: "upstream_failed" });
  });
});
