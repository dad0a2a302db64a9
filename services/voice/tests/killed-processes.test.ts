import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentType } from "@parley/proto/parley/agent/v1/agent.ts";
import { AgentServiceService, CreateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { createClient } from "@parley/shared/rpc/client";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import { startScriptedModel } from "@parley/testkit/scripted-model";
import { sharedAgents } from "@parley/testkit/shared-agents";
import { readOggOpus } from "../src/audio/ogg.ts";
import { MIGRATIONS } from "../src/migrations.ts";

const CALLS = Number(process.env.PARLEY_TEST_CALLS ?? 6);
const TIMEOUT_MS = 120_000;

const [database, calls, model] = await Promise.all([
  createTestDatabase(),
  createTestDatabase(EMPTY_TEMPLATE),
  startScriptedModel(),
]);
model.script = (call) => call.finish("That is a good question, and the answer is yes.");
const own = openDatabase({ url: calls.urls.prompt, max: 1, name: "test" });
await migrate(own, MIGRATIONS);
await own.end();
const folder = await mkdtemp(join(tmpdir(), "parley-killed-"));
const sql = openDatabase({ url: database.urls.conversation, max: 1, name: "test" });
let conversation: ServiceProcess = await startConversation();
const agent = await createAgent();
afterAll(async () => {
  await sql.end();
  await conversation.stop();
  await Promise.all([model.stop(), database.drop(), calls.drop(), rm(folder, { recursive: true, force: true })]);
});

/** Always at the same address. */
function startConversation(): Promise<ServiceProcess> {
  return startServiceProcess("conversation", {
    PARLEY_LISTEN: `unix:${join(folder, "conversation.sock")}`,
    DATABASE_URL: database.urls.conversation,
    PARLEY_ACCOUNT_ADDRESS: "127.0.0.1:1",
    PARLEY_AGENT_ADDRESS: sharedAgents().agentAddress,
    PARLEY_PROMPT_ADDRESS: sharedAgents().promptAddress,
    // Nothing listens there, so events wait and can be counted.
    PARLEY_WEBHOOK_ADDRESS: "127.0.0.1:1",
    PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
    PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
    PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
    PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
  });
}

async function createAgent() {
  const client = createClient(AgentServiceService, { peer: "agent", address: sharedAgents().agentAddress });
  const ownerId = newOwner();
  const params = { baseUrl: model.baseUrl, apiKey: "sk-customer-0000", apiType: undefined, temperature: undefined };
  const created = await client.createAgent({
    ...CreateAgentRequest.fromPartial({ ownerId, agentName: "Front desk", agentType: AgentType.AGENT_TYPE_INBOUND }),
    recording: true,
    llm: { providerName: "CUSTOM_LLM", modelName: "scripted", params, fallbacks: [] },
  });
  client.close();
  return { OWNER_ID: ownerId, AGENT_ID: created.agent?.agentId ?? "" };
}

/** A process with this many calls. */
async function startCalls(number: number) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "kit/calling-process.ts")], {
    env: {
      ...process.env,
      ...agent,
      DATABASE_URL: calls.urls.prompt,
      CONVERSATION_ADDRESS: conversation.address,
      CALLS: String(number),
      RECORDINGS: join(folder, "recordings"),
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ids: string[] = [];
  const ready = Promise.withResolvers<void>();
  const read = async () => {
    let text = "";
    for await (const bytes of child.stdout) {
      text += Buffer.from(bytes).toString();
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines.map((each) => JSON.parse(each))) {
        if (line.call) ids.push(line.call);
        if (line.ready) ready.resolve();
      }
    }
  };
  void read();
  await ready.promise;
  return {
    ids,
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
    hangUp: async () => {
      child.stdin.end();
      expect(await child.exited).toBe(0);
    },
  };
}

/** Each call's status, notes, number of events and lines. */
async function stored(ids: readonly string[]) {
  return sql<
    {
      status: string;
      notes: string | null;
      recordingUrl: string | null;
      events: number;
      lines: { seq: number; role: string; content: string }[];
    }[]
  >`
    select status, notes, recording_url,
      (select count(*)::integer from owner_events as event
       where event.owner_id = conversations.owner_id and event.conversation_id = conversations.conversation_id) as events,
      (select coalesce(json_agg(json_build_object('seq', seq, 'role', role, 'content', content) order by seq), '[]')
       from messages where messages.owner_id = conversations.owner_id
         and messages.conversation_id = conversations.conversation_id) as lines
    from conversations where owner_id = ${agent.OWNER_ID} and conversation_id = any(${ids as string[]}::uuid[])`;
}

async function untilTalking(ids: readonly string[], linesMin: number): Promise<void> {
  await eventually(async () => {
    for (const { lines } of await stored(ids)) expect(lines.length).toBeGreaterThanOrEqual(linesMin);
  }, TIMEOUT_MS);
}

/** A possible transcript: no message twice, no gap, and every question once. */
function expectWhole(lines: readonly { seq: number; role: string; content: string }[]): void {
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1));
  const questions = lines.filter(({ role }) => role === "user").map(({ content }) => content);
  expect(questions).toEqual(questions.map((_, at) => `What about number ${at + 1}?`));
}

/** Each call has a recording that can be played, and the recording's address. */
async function expectRecordings(ids: readonly string[]): Promise<void> {
  for (const { recordingUrl } of await stored(ids)) expect(recordingUrl).toStartWith("https://api.example/");
  const own = openDatabase({ url: calls.urls.prompt, max: 1, name: "test" });
  await eventually(async () => {
    const rows = await own`select state from recordings where conversation_id = any(${ids as string[]}::uuid[])`;
    expect(rows.map(({ state }) => state)).toEqual(ids.map(() => "ready"));
  });
  await own.end();
  for (const id of ids) {
    const file = await Bun.file(join(folder, "recordings", agent.OWNER_ID, `${id}.ogg`)).bytes();
    expect([...readOggOpus(file).packets].length).toBeGreaterThan(0);
  }
}

test("calls outlive a conversation service that is killed, with every word stored once, and end as they should", async () => {
  const running = await startCalls(CALLS);
  await untilTalking(running.ids, 3);
  const before = await stored(running.ids);
  await conversation.stop("SIGKILL");
  conversation = await startConversation();
  await untilTalking(running.ids, Math.max(...before.map(({ lines }) => lines.length)) + 4);
  await running.hangUp();
  const after = await stored(running.ids);
  expect(after).toHaveLength(CALLS);
  for (const { status, events, lines } of after) {
    expect({ status, events }).toEqual({ status: "COMPLETED", events: 1 });
    expectWhole(lines);
  }
});

test("the calls of a killed voice process end as failed with a note, each with one event and what was recorded", async () => {
  const running = await startCalls(CALLS);
  await untilTalking(running.ids, 2);
  await running.kill();
  const other = await startCalls(0);
  await eventually(async () => {
    const ended = await stored(running.ids);
    expect(ended.map(({ status }) => status)).toEqual(running.ids.map(() => "FAILED"));
  }, TIMEOUT_MS);
  for (const { notes, events, lines } of await stored(running.ids)) {
    expect({ notes, events }).toEqual({ notes: "The process that held this call stopped unexpectedly", events: 1 });
    expectWhole(lines);
  }
  await expectRecordings(running.ids);
  await other.hangUp();
});
