import { afterAll, describe, expect, test } from "bun:test";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Message } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { eventually } from "@parley/testkit/eventually";
import { endChats } from "./alone-kit.ts";
import { speakTurn, startWebCall } from "./converse-kit.ts";
import { ANTHROPIC } from "./forms/anthropic.ts";
import { CHAT_COMPLETIONS } from "./forms/chat-completions.ts";
import { type Form, type Meaning, SAID } from "./forms/form.ts";
import { GEMINI } from "./forms/gemini.ts";
import { RESPONSES } from "./forms/responses.ts";
import { createAgent, failure, hear, inline, llmOf, startTestChat, type TestAgent, turn } from "./kit.ts";

const FALLBACK = "Hello there.";
/** A turn sees only what an answer means, so one form of each kind; `answer-forms.test.ts` reads all of them. */
const PROTOCOLS = {
  CHAT_COMPLETIONS: oneOfEachKind(CHAT_COMPLETIONS),
  RESPONSES: oneOfEachKind(RESPONSES),
  ANTHROPIC: oneOfEachKind(ANTHROPIC),
  GEMINI: oneOfEachKind(GEMINI),
};
type ProtocolName = keyof typeof PROTOCOLS;
const NAMES = Object.keys(PROTOCOLS) as ProtocolName[];

/** Answers a request for `/<protocol>/…` with the form that its user asks for, and one with the result of a tool in plain words. */
const server = Bun.serve({
  port: 0,
  fetch: async (request) => {
    const forms: readonly Form[] = PROTOCOLS[new URL(request.url).pathname.split("/")[1] as ProtocolName];
    const asked = await request.text();
    const number = asked.includes("There is no such tool") ? 0 : Number(/form (\d+)/.exec(asked)?.[1]);
    const body = forms[number]?.body ?? "";
    const type = isWholeJson(body) ? "application/json" : "text/event-stream";
    return new Response(body, { headers: { "content-type": type } });
  },
});
const addressOf = (protocol: ProtocolName) => `http://127.0.0.1:${server.port}/${protocol}/v1`;

const agents = new Map<ProtocolName, TestAgent>();

const service = await startTestChat({
  ANTHROPIC_API_KEY: "sk-ours",
  ANTHROPIC_BASE_URL: addressOf("ANTHROPIC"),
  GOOGLE_API_KEY: "sk-ours",
  GOOGLE_BASE_URL: addressOf("GEMINI"),
});
for (const name of NAMES) {
  const llm = { ...(await modelOf(name)), fallbacks: [llmOf(service.model)] };
  const analysis = { enabled: true, prompt: inline("Sum it up."), schema: undefined };
  agents.set(name, await createAgent(service, { llm, analysis }));
}

afterAll(async () => {
  await service.stop();
  await server.stop(true);
});

async function modelOf(name: ProtocolName): Promise<LlmConfig> {
  const apiType = name === "RESPONSES" ? "RESPONSES" : "CHAT_COMPLETION";
  const params = { baseUrl: addressOf(name), apiKey: "sk-theirs", apiType, temperature: undefined };
  if (apiType === "RESPONSES" || name === "CHAT_COMPLETIONS")
    return { providerName: "CUSTOM_LLM", modelName: "m", params, fallbacks: [] };
  const providerName = name === "GEMINI" ? "GOOGLE" : name;
  const { llm } = await service.agents.listProviders({ ownerId: "own_1" });
  const { modelNames = [] } = llm.find((provider) => provider.providerName === providerName) ?? {};
  return { providerName, modelName: modelNames[0] ?? "", params: undefined, fallbacks: [] };
}

/** The first of the forms that have the same end, have words or not, have as many calls, and come as events or in one piece. */
function oneOfEachKind(forms: readonly Form[]): readonly Form[] {
  const kindOf = ({ body, means: { text, calls = [], partial, fails } }: Form) =>
    JSON.stringify([isWholeJson(body), text !== undefined, calls.length, partial, fails]);
  return [...Map.groupBy(forms, kindOf).values()].flatMap(([first]) => first ?? []);
}

function isWholeJson(body: string): boolean {
  return /^\s*[{[]/.test(body);
}

/** The reply of a turn: once the model has called tools, it is asked again, and then says something. */
function replyTo({ text = "", calls, fails }: Meaning): string {
  if (calls) return text === "" ? SAID : `${text} ${SAID}`;
  return fails === undefined ? text : FALLBACK;
}

function agentOf(name: ProtocolName): TestAgent {
  const agent = agents.get(name);
  if (!agent) throw new Error(`no agent for ${name}`);
  return agent;
}

async function replyIn({ ownerId }: TestAgent, conversationId: string): Promise<Message | undefined> {
  const { conversation } = await service.chat.getConversation({ ownerId, conversationId, withToolCalls: true });
  return conversation?.transcript?.messages.at(-1);
}

function expectReply(message: Message | undefined, text: string, { calls = [], partial }: Meaning): void {
  expect(message?.content).toBe(text);
  expect(message?.toolCalls.map(({ name, arguments: json }) => `${name} ${json}`)).toEqual([...calls]);
  expect(message?.reply).toMatchObject({ isPartial: partial !== undefined, partialReason: partial });
}

interface AskedForm extends Form {
  agent: TestAgent;
  /** The message that asks for it. */
  asks: string;
}

async function streams({ agent, asks, means }: AskedForm): Promise<void> {
  const { sessionId, chunks } = await hear(service.chat, turn(agent, asks));
  expect(chunks.join("")).toBe(replyTo(means));
  expectReply(await replyIn(agent, sessionId), replyTo(means), means);
}

async function isWhole({ agent, asks, means }: AskedForm): Promise<void> {
  const { sessionId, response } = await service.chat.completeTurn({ turn: turn(agent, asks) });
  expect(response).toBe(replyTo(means));
  expectReply(await replyIn(agent, sessionId), replyTo(means), means);
}

async function isSpoken({ agent, asks, means }: AskedForm): Promise<void> {
  const call = await startWebCall(service.chat, agent);
  const spoken = speakTurn(service.chat, call, 1, asks);
  const { text, event } = await spoken.reply();
  expect({ text, event: event?.$case }).toEqual({ text: replyTo(means), event: "complete" });
  spoken.heard(text);
  await spoken.stored();
  expectReply(await replyIn(agent, call.conversationId), replyTo(means), means);
}

describe.each(NAMES)("an answer of %s", (name) => {
  const forms = PROTOCOLS[name].map((form, number) => ({
    ...form,
    asks: `form ${number}`,
    get agent() {
      return agentOf(name);
    },
  }));
  const broken = forms.filter(({ means }) => means.fails !== undefined && means.text !== undefined);
  const others = forms.filter((form) => !broken.includes(form));
  const rows = (some: typeof forms) => some.map((form) => [form.name, form] as const);

  test.each(rows(others))("becomes a reply in every kind of turn, or the fallback's: %s", async (_, form) => {
    await Promise.all([streams(form), isWhole(form), isSpoken(form)]);
  });

  test.each(rows(broken))("that breaks off is stored as far as it came: %s", async (_, { agent, asks, means }) => {
    const { detail, sessionId = "" } = await failure(hear(service.chat, turn(agent, asks)));
    expect(detail).toEndWith(`model provider ${means.fails}`);
    const message = await replyIn(agent, sessionId);
    expect(message?.content).toBe(means.text as string);
    expect(message?.reply).toMatchObject({ isPartial: true, partialReason: undefined });
    const { conversation } = await service.chat.getConversation({ ownerId: agent.ownerId, conversationId: sessionId });
    expect(conversation?.notes).toBe(`Reply 2 failed: ${detail}`);
  });

  test("becomes an analysis, or the fallback's", async () => {
    const { ownerId } = agentOf(name);
    const analyzed = forms.filter(({ means }) => means.calls === undefined);
    const sessions = await Promise.all(
      analyzed.map(async ({ agent, asks, means }) => {
        const { sessionId } = await service.chat.completeTurn({ turn: turn(agent, asks) });
        return { conversationId: sessionId, summary: replyTo(means) };
      }),
    );
    const ids = sessions.map(({ conversationId }) => conversationId);
    await endChats(service.sql, ids, service.clock.now());
    for (const { conversationId, summary } of sessions) {
      await eventually(async () => {
        const { conversation } = await service.chat.getConversation({ ownerId, conversationId });
        expect(conversation?.analysis?.items).toMatchObject([{ name: "summary", value: summary }]);
      });
    }
  });
});
