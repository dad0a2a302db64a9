import { afterAll, expect, test } from "bun:test";
import { AgentType, type LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { GetCallSetupResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ADMITTED, refusePeer } from "@parley/shared/rpc/tls/peers";
import { newOwner } from "@parley/testkit/owners";
import { createAgent, failure, inline, llmOf, startTestChat, type TestAgent } from "./kit.ts";

const STT = { providerName: "DEEPGRAM", modelName: "nova-3", language: "en-GB", endpoint: undefined };
const TTS = {
  providerName: "OPENAI",
  modelName: "tts-1",
  language: "en-US",
  voiceId: "alloy",
  speed: 1.25,
  endpoint: undefined,
};
const STS = { providerName: "OPENAI", modelName: "voice", language: "es-ES", voiceId: "v", params: { a: [1] } };

const service = await startTestChat();
afterAll(() => service.stop());

const setup = (agent: TestAgent, dynamicVariables: object = {}) =>
  service.chat.getCallSetup({ ...agent, dynamicVariables: { ...dynamicVariables } });

test("a runtime gets an agent's voice settings, and its prompt and greeting with variables filled", async () => {
  const agent = await createAgent(service, {
    agentName: "Front desk",
    agentType: AgentType.AGENT_TYPE_OUTBOUND,
    prompt: inline("You call {{customer name}} of {{company | Acme}}."),
    firstMessagePrompt: "Hello {{customer_name}}!",
    stt: STT,
    tts: TTS,
    tools: { end_call: true },
  });
  expect(await setup(agent, { "Customer Name": "Ada", unused: { deep: 1 } })).toMatchObject({
    agentName: "Front desk",
    agentType: AgentType.AGENT_TYPE_OUTBOUND,
    prompt: "You call Ada of Acme.",
    greeting: "Hello Ada!",
    stt: STT,
    tts: TTS,
    sts: undefined,
    tools: { end_call: true },
    toolDefinitions: [{ name: "end_call", parameters: { type: "object" } }],
    language: "en-US",
  });
  expect(await setup(agent)).toMatchObject({ prompt: "You call  of Acme.", greeting: "Hello !" });
});

test("an agent's language comes from speech-to-speech, its voice or speech recognition", async () => {
  const languageOf = async (given: object) => (await setup(await createAgent(service, given))).language;
  expect(await languageOf({ stt: STT, tts: TTS, sts: STS })).toBe("es-ES");
  expect(await languageOf({ stt: STT, tts: { ...TTS, language: undefined } })).toBe("en-GB");
  expect(await languageOf({})).toBeUndefined();
});

test("a runtime gets no model key, neither the agent's nor a fallback's", async () => {
  const llm = llmOf(service.model);
  const agent = await createAgent(service, { llm: { ...llm, fallbacks: [llmOf(service.model)] } });
  const answer = await setup(agent);
  expect(answer.llm).toMatchObject({ modelName: "scripted", params: { baseUrl: service.model.baseUrl } });
  expect(answer.llm?.fallbacks).toHaveLength(1);
  expect(Buffer.from(GetCallSetupResponse.encode(answer).finish()).toString("latin1")).not.toContain("sk-customer");
});

test("another owner's agent is refused, and one that does not exist is not found", async () => {
  const { agentId } = await createAgent(service);
  const refused = (ownerId: string, id: string) => failure(setup({ ownerId, agentId: id }));
  expect(await refused(newOwner(), agentId)).toMatchObject({ kind: "forbidden" });
  for (const id of ["agt_00000000000000000000000000", "x", ""]) {
    expect(await refused(newOwner(), id)).toMatchObject({ kind: "not_found", detail: "Agent not found" });
  }
});

test("variables that make a prompt too long, or are too large themselves, are refused", async () => {
  const agent = await createAgent(service, { prompt: inline("{{v}}".repeat(20)) });
  expect(await failure(setup(agent, { v: "x".repeat(60_000) }))).toMatchObject({ kind: "condition" });
  expect(await failure(setup(agent, { v: "x".repeat(1024 * 1024) }))).toMatchObject({
    kind: "invalid",
    detail: "dynamic_variables must be at most 1 MiB",
  });
});

test("only voice runtimes may call it", () => {
  const callBy = (name: string) =>
    ({ getAuthContext: () => ({ sslPeerCertificate: { subjectaltname: `DNS:${name}` } }) }) as Parameters<
      typeof refusePeer
    >[2];
  const path = "/parley.conversation.v1.ConversationService/GetCallSetup";
  expect(refusePeer(ADMITTED.conversation, path, callBy("voice-runtime"))).toBeNull();
  expect(refusePeer(ADMITTED.conversation, path, callBy("gateway"))).not.toBeNull();
});

test("a model that cannot be asked is known before the call, with the variable to set, unless a fallback can be asked", async () => {
  const keyless = {
    providerName: "ANTHROPIC",
    modelName: "claude-opus-5-5",
    params: undefined,
    fallbacks: [],
    price: undefined,
  };
  const fault = "LLM provider ANTHROPIC is not configured: the operator has to set ANTHROPIC_API_KEY";
  const faultOf = async (llm: LlmConfig | undefined) => (await setup(await createAgent(service, { llm }))).llmFault;
  expect(await faultOf(keyless)).toBe(fault);
  expect(await faultOf({ ...keyless, fallbacks: [llmOf(service.model)] })).toBeUndefined();
  expect(await faultOf(undefined)).toBeUndefined();
});
