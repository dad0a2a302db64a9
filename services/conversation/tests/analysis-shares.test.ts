import { afterAll, expect, test } from "bun:test";
import { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { openDatabase } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { enqueueJobs } from "@parley/shared/jobs/store";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import type { ModelCall } from "@parley/testkit/scripted-model";
import { analysisJob } from "../src/analysis/ask.ts";
import { analysisRequest, transcriptBounds } from "../src/analysis/request.ts";
import type { ConversationRow } from "../src/store/conversations.ts";
import { type EndMessage, readTranscriptEnds } from "../src/store/transcript-ends.ts";
import { createAgent, inline, llmOf, startTestChat, type TestAgent } from "./kit.ts";

// What one owner's analyses may take from other owners.

const service = await startTestChat();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });

afterAll(async () => {
  await db.end();
  await service.stop();
});

const ANSWER = "It went well.";

/** @param apiKey distinguishes the agent's model calls from others */
function analyzing(apiKey: string): Promise<TestAgent> {
  const llm = llmOf(service.model);
  return createAgent(service, {
    llm: { ...llm, params: { baseUrl: service.model.baseUrl, apiType: undefined, temperature: undefined, apiKey } },
    tools: { end_call: true },
    analysis: { enabled: true, prompt: inline("Sum it up."), schema: undefined },
  });
}

/** Ended chats whose analyses are requested and whose events have been sent. */
async function endChats({ ownerId, agentId }: TestAgent, count: number): Promise<void> {
  const now = service.clock.now();
  const ids = Array.from({ length: count }, newUuid);
  await db.begin(async (tx) => {
    await tx`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
      select ${ownerId}, id, 'cnv_' || id, ${agentId}, 'CHAT', 'COMPLETED', ${now}, ${now}, ${now}
      from unnest(${ids}::uuid[]) as id`;
    await tx`
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select ${ownerId}, id, 1, 'user', 'Hello.', ${now} from unnest(${ids}::uuid[]) as id`;
    await tx`delete from owner_events where owner_id = ${ownerId}`;
    await enqueueJobs(
      tx,
      ids.map((conversationId) => analysisJob({ ownerId, conversationId }, now)),
    );
  });
}

async function analyzedOf({ ownerId }: TestAgent): Promise<number> {
  const [row] = await service.sql<[{ analyzed: number }]>`
    select count(analysis)::integer as analyzed from conversations where owner_id = ${ownerId}`;
  return row.analyzed;
}

test("an owner whose model hangs delays nobody else's analysis", async () => {
  const [hanging, other] = [await analyzing("sk-hanging"), await analyzing("sk-answering")];
  const held: ModelCall[] = [];
  service.model.script = (call) => {
    if (call.authorization.endsWith("sk-hanging")) held.push(call);
    else call.finish(ANSWER);
  };
  await endChats(hanging, 50);
  await eventually(() => expect(held.length).toBeGreaterThanOrEqual(4));
  await endChats(other, 6);
  await eventually(async () => expect(await analyzedOf(other)).toBe(6));
  expect(await analyzedOf(hanging)).toBe(0);
  expect(held).toHaveLength(4);
  service.model.script = (call) => call.finish(ANSWER);
  for (const call of held) call.finish(ANSWER);
  await eventually(async () => expect(await analyzedOf(hanging)).toBe(50));
});

test("an analysis reads at most 2 MiB of its model's answer", async () => {
  const agent = await analyzing("sk-long");
  const asked = Promise.withResolvers<ModelCall>();
  service.model.script = asked.resolve;
  await endChats(agent, 1);
  (await asked.promise).finish("x".repeat(3 * 1024 * 1024));
  await eventually(async () => {
    const [job] = await service.sql`select last_error from jobs where owner_id = ${agent.ownerId}`;
    expect(job?.last_error).toContain("longer than 2097152 bytes");
  });
  expect(await analyzedOf(agent)).toBe(0);
  await service.sql`delete from jobs where owner_id = ${agent.ownerId}`;
});

const CONTEXT_TOKENS = 4_000;
const CONTEXT_BYTES = 4 * CONTEXT_TOKENS;

const TRANSCRIPTS: [string, (at: number) => string, number][] = [
  ["a short transcript", (at) => `Message ${at}.`, 20],
  ["thousands of short messages", (at) => `${at} ${"word ".repeat(at % 7)}`, 5_000],
  ["a transcript of empty messages", () => "", 5_000],
  ["messages of many bytes a character", (at) => "한글 😀 ".repeat(at % 20), 500],
];

async function storeTranscript(contentOf: (at: number) => string, count: number) {
  const key = { ownerId: newOwner(), conversationId: newUuid() };
  const messages: EndMessage[] = Array.from({ length: count }, (_, at) => {
    return { seq: at + 1, role: at % 2 === 0 ? "user" : "assistant", content: contentOf(at) };
  });
  await service.sql`
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select ${key.ownerId}, ${key.conversationId}, seq, role, content, now()
    from unnest(${messages.map(({ seq }) => seq)}::integer[], ${messages.map(({ role }) => role)}::text[],
      ${messages.map(({ content }) => content)}::text[]) as given (seq, role, content)`;
  return { key, messages };
}

function requestOf(messages: readonly EndMessage[]): string {
  const analysisPrompt = { promptName: "p", promptVersion: 1, promptContent: "Sum it up." };
  const conversation = { type: "CHAT", status: "COMPLETED", createdAt: new Date(0), variables: {} };
  const agent = AgentRuntime.fromPartial({ analysisPrompt });
  const request = analysisRequest(agent, [], conversation as unknown as ConversationRow, messages, CONTEXT_TOKENS);
  return request.messages[0]?.content ?? "";
}

for (const [what, contentOf, count] of TRANSCRIPTS) {
  test(`the analysis request for ${what} is the same as with the whole transcript read`, async () => {
    const { key, messages } = await storeTranscript(contentOf, count);
    const read = await readTranscriptEnds(service.sql, key, transcriptBounds(CONTEXT_TOKENS));
    expect(requestOf(read)).toBe(requestOf(messages));
    expect(Buffer.byteLength(read.map(({ content }) => content).join(""))).toBeLessThan(1.3 * CONTEXT_BYTES);
  });
}

test("an analysis reads the beginning and the end of long messages", async () => {
  const { key, messages } = await storeTranscript((at) => `Begin ${at} ${"word ".repeat(50_000)} end ${at}`, 20);
  const read = await readTranscriptEnds(service.sql, key, transcriptBounds(CONTEXT_TOKENS));
  const [asked, askedOfAll] = [requestOf(read), requestOf(messages)];
  const numbers = (text: string) => Array.from(text.matchAll(/Begin (\d+)|end (\d+)|\d+ messages left out/g), String);
  expect(numbers(asked)).toEqual(numbers(askedOfAll));
  expect(Math.abs(asked.length - askedOfAll.length)).toBeLessThan(200);
  expect(Buffer.byteLength(JSON.stringify(read))).toBeLessThan(1.3 * CONTEXT_BYTES);
});
