import { afterAll, describe, expect, test } from "bun:test";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const DAY_MS = 24 * 60 * 60 * 1000;

/** Oldest first. */
const sessions: string[] = [];
const [stack, model] = await Promise.all([sharedStack(), startScriptedModel()]);
const api = stack.api(stack.owners[0].apiKey);
const foreign = stack.api(stack.owners[1].apiKey);
const agentId = await createAgent(api, model, { first_message_prompt: "Welcome!" });
const otherAgentId = await createAgent(api, model);
sessions.push((await api.get(`/agents/${agentId}/first-message`)).body.session_id);
for (const message of ["Where is my parcel?", "I want a REFUND of 100%"]) {
  const metadata = { ticket: `T-${sessions.length}`, dynamic_variables: { "customer name": "Zoë" } };
  // Fields that a client cannot set.
  const ours = { last_activity: "never", session_status: "whatever" };
  const chat = { agent_id: agentId, message, streaming: false, metadata: { ...metadata, ...ours } };
  sessions.push((await api.post("/chat", chat)).body.session_id);
}
const elsewhere = { agent_id: otherAgentId, message: "Elsewhere", streaming: false };
sessions.push((await api.post("/chat", elsewhere)).body.session_id);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

const found = async (query: string) => {
  const { status, body } = await api.get(`/conversations?${query}`);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body.data.map((conversation: { conversation_id: string }) => sessions.indexOf(conversation.conversation_id));
};

test("a conversation of a chat shows what was said and what the client gave", async () => {
  const { status, body } = await api.get(`/conversations/${sessions[1]}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    id: expect.stringMatching(/^cnv_[0-9a-z]{26}$/),
    conversation_id: sessions[1],
    agent_id: agentId,
    agent_version: 1,
    agent_path: [{ agent_id: agentId, agent_version: 1, from_seq: 1 }],
    conversation_type: "CHAT",
    conversation_status: "IN_PROGRESS",
    conversation_analysis: null,
    notes: null,
    conversation_transcript: [
      { role: "user", content: "Where is my parcel?", timestamp: TIME },
      { role: "assistant", content: "You said: Where is my parcel?", timestamp: TIME },
    ],
    created_by: stack.owners[0].ownerId,
    conversation_metadata: {
      ticket: "T-1",
      dynamic_variables: { "customer name": "Zoë" },
      last_activity: TIME,
      session_status: "IN_PROGRESS",
    },
    created_at: TIME,
    updated_at: TIME,
  });
  const session = await api.get(`/chat/sessions/${sessions[1]}`);
  expect(session.body.metadata).toEqual(body.conversation_metadata);
});

describe("listing conversations", () => {
  test("gives the envelope, newest first, with figures that agree", async () => {
    const { body } = await api.get("/conversations?page_size=3");
    expect(body).toMatchObject({
      status: "success",
      message: expect.any(String),
      pagination: { total: 4, page: 1, page_size: 3, total_pages: 2, has_next: true, has_previous: false },
    });
    expect(await found("")).toEqual([3, 2, 1, 0]);
    expect(await found("page_size=3&page=2")).toEqual([0]);
    expect(await found("page=9")).toEqual([]);
  });

  test("in the flat shape has the same data under other names", async () => {
    const { body } = await api.get("/conversations?shape=flat&page_size=3&page=2");
    expect(body).toMatchObject({
      total: 4,
      page: 2,
      page_size: 3,
      total_pages: 2,
      has_next: false,
      has_previous: true,
    });
    expect(body.conversations).toHaveLength(1);
    expect(Object.keys(body)).not.toContain("data");
  });

  test("of nothing is empty, with no pages", async () => {
    expect((await foreign.get("/conversations")).body).toMatchObject({
      data: [],
      pagination: { total: 0, total_pages: 0, has_next: false, has_previous: false },
    });
  });

  test.each([
    [0, 10],
    [-7, 10],
    [101, 100],
    [5000, 100],
    ["9".repeat(30), 100],
    [1, 1],
    [100, 100],
  ])("takes page_size %p as %d", async (asked, taken) => {
    expect((await api.get(`/conversations?page_size=${asked}`)).body.pagination.page_size).toBe(taken);
  });

  test.each<[string, number[]]>([
    ["search=parcel", [1]],
    ["search=refund", [2]],
    ["search=100%25", [2]],
    ["search=100_", []],
    ["search=T-2", [2]],
    ["search=zo%C3%AB", [2, 1]],
    ["search=IN_PROGRESS", []],
    ["search=welcome", [0]],
    ["search=", [3, 2, 1, 0]],
    ["conversation_type=CHAT", [3, 2, 1, 0]],
    ["conversation_type=TELEPHONY", []],
    ["calling_type=INBOUND", []],
    ["conversation_status=IN_PROGRESS", [3, 2, 1, 0]],
    ["conversation_status=COMPLETED", []],
    ["conversation_id=no-uuid", []],
    ["from_date=2020-01-01", [3, 2, 1, 0]],
    ["to_date=2020-01-01T00:00:00Z", []],
    ["from_date=2030-01-01&to_date=2020-01-01", []],
    ["from_time=00:00&to_time=23:59", [3, 2, 1, 0]],
    ["agent_id=THIS&agent_version=1", [2, 1, 0]],
    ["agent_id=THIS&agent_version=1&search=refund&conversation_type=CHAT&from_date=2020-01-01&is_test_call=false", [2]],
    ["agent_id=THIS&agent_version=2&search=refund", []],
  ])("by %s finds what matches", async (query, expected) => {
    expect(await found(query.replace("THIS", agentId))).toEqual(expected);
  });

  test("by time of day includes both minutes, wraps around midnight, and applies the offset", async () => {
    const now = new Date((await api.get(`/conversations/${sessions[0]}`)).body.created_at);
    const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString().slice(11, 16);
    const within = async (query: string) => (await found(query)).includes(0);
    expect(await within(`from_time=${at(0)}&to_time=${at(5)}&timezone_offset=0`)).toBe(true);
    expect(await within(`from_time=${at(1)}&to_time=${at(5)}&timezone_offset=0`)).toBe(false);
    expect(await within(`from_time=${at(-700)}&to_time=${at(0)}&timezone_offset=0`)).toBe(true);
    expect(await within(`from_time=${at(700)}&to_time=${at(-1)}&timezone_offset=0`)).toBe(false);
    expect(await within(`from_time=${at(-300)}&to_time=${at(-295)}&timezone_offset=-300`)).toBe(true);
    expect(await within(`from_time=${at(330)}&to_time=${at(335)}`)).toBe(true);
  });

  test("by only one end of a time of day extends to the end of the day", async () => {
    const now = new Date((await api.get(`/conversations/${sessions[0]}`)).body.created_at);
    const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
    // The offsets at which it was made at 00:00 and at 23:59.
    const midnight = minute <= 720 ? -minute : 24 * 60 - minute;
    const within = async (time: string, offset: number) =>
      (await found(`${time}&timezone_offset=${offset}`)).includes(0);
    expect(await within("to_time=00:00", midnight)).toBe(true);
    expect(await within("from_time=00:01", midnight)).toBe(false);
    expect(await within("from_time=23:59", midnight - 1)).toBe(true);
    expect(await within("to_time=23:58", midnight - 1)).toBe(false);
  });

  test("by dates includes both ends, with any offset", async () => {
    const { created_at } = (await api.get(`/conversations/${sessions[1]}`)).body;
    const exact = encodeURIComponent(created_at);
    const shifted = encodeURIComponent(
      `${new Date(Date.parse(created_at) + 2 * 60 * 60_000).toISOString().slice(0, 23)}+02:00`,
    );
    expect(await found(`from_date=${exact}&to_date=${exact}`)).toContain(1);
    expect(await found(`from_date=${shifted}&to_date=${exact}`)).toContain(1);
    const day = (days: number) => new Date(Date.parse(created_at) + days * DAY_MS).toISOString().slice(0, 10);
    expect(await found(`from_date=${day(0)}&to_date=${day(0)}`)).toContain(1);
    expect(await found(`to_date=${day(-1)}`)).not.toContain(1);
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString();
    expect(await found(`from_date=${encodeURIComponent(tomorrow)}`)).toEqual([]);
  });

  test.each([
    "page=0",
    "page_size=ten",
    "from_time=24:00",
    "to_time=7:00",
    "timezone_offset=841",
    "timezone_offset=1.5",
    "from_date=yesterday",
    "from_date=2026-02-31T00:00:00Z",
    "conversation_type=chat",
    "conversation_status=DONE",
    `search=${"x".repeat(201)}`,
  ])("refuses %s, naming the field", async (query) => {
    const { status, body } = await api.get(`/conversations?${query}`);
    expect(status).toBe(422);
    expect(body.detail).toStartWith(`${query.split("=")[0]} must`);
  });
});

test("chat sessions are listed with their names and Unix times", async () => {
  const { body } = await api.get(`/chat/sessions?agent_id=${agentId}&page_size=2`);
  expect(body).toMatchObject({ object: "list", has_more: true, total: 3, page: 1, page_size: 2, total_pages: 2 });
  expect(body.data[0]).toEqual({
    id: sessions[2],
    object: "chat.session",
    created_at: expect.any(Number),
    updated_at: expect.any(Number),
    agent_id: agentId,
    conversation_name: "I want a REFUND of 100%",
    message_count: 2,
    metadata: expect.objectContaining({ ticket: "T-2", session_status: "IN_PROGRESS" }),
  });
  expect(Math.abs(body.data[0].created_at - Date.now() / 1000)).toBeLessThan(600);
  const { body: last } = await api.get(`/chat/sessions?agent_id=${agentId}&page_size=2&page=2`);
  expect(last).toMatchObject({ has_more: false, data: [{ conversation_name: "New chat", message_count: 1 }] });
});

test("chat sessions show their greeting as the first message of the agent", async () => {
  const { body } = await api.get(`/chat/sessions/${sessions[0]}`);
  expect(body.messages).toEqual([{ role: "assistant", content: "Welcome!", timestamp: TIME }]);
  expect(body).toMatchObject({ session_id: sessions[0], status: "IN_PROGRESS", message_count: 1 });
});
