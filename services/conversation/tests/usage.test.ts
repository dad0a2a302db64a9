import { afterAll, beforeAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { MIGRATIONS } from "../src/migrations.ts";
import { listUsage } from "../src/store/usage.ts";
import { append, said, startCall } from "./calls-kit.ts";
import { createAgent, failure, say, startTestChat, type TestChat } from "./kit.ts";

const DAY_MS = 86_400_000;

let service: TestChat;
beforeAll(async () => {
  service = await startTestChat();
});
afterAll(() => service.stop());

const usage = (ownerId: string, from: string, to: string) =>
  service.chat.countUsage({ ownerId, from: new Date(from), to: new Date(to) });
const nothing = { conversations: 0, replies: 0, inputTokens: 0, outputTokens: 0, costUsdMicros: 0, unpricedReplies: 0 };

test("conversations count on the day of their start, replies and tokens on the day of the reply, in every kind of turn", async () => {
  const agent = await createAgent(service, { firstMessagePrompt: "Welcome!" });
  service.clock.advance(DAY_MS - 1);
  const { sessionId } = await service.chat.startChat({ ...agent, metadata: undefined });
  await say(service, agent, "Today", sessionId);
  service.clock.advance(1);
  await Promise.all(Array.from({ length: 12 }, () => say(service, agent, "Tomorrow")));
  await say(service, agent, "Tomorrow", sessionId);
  // Messages that a runtime reports do not come from our models, so they are not counted as replies.
  const call = await startCall(service.chat, agent);
  await append(service.chat, [said(call, 1), said(call, 2)]);
  await service.sql`
    update messages set input_tokens = 0 where owner_id = ${agent.ownerId}`; // Counted when it was given, whatever becomes of it.
  const [tokens] = await service.sql<[{ input: number; output: number }]>`
    select max(input_tokens) as input, max(output_tokens) as output from messages where owner_id = ${agent.ownerId}`;
  const { days } = await usage(agent.ownerId, "2026-01-01", "2026-01-04");
  expect(days.map(({ day, conversations, replies }) => ({ day, conversations, replies }))).toEqual([
    { day: "2026-01-01", conversations: 1, replies: 1 },
    { day: "2026-01-02", conversations: 13, replies: 13 },
    { day: "2026-01-03", conversations: 0, replies: 0 },
  ]);
  const [one, many] = days;
  expect(many?.outputTokens).toBe(13 * Number(tokens.output));
  expect(many?.inputTokens).toBeGreaterThan(one?.inputTokens ?? 0);
  await service.sql`delete from messages where owner_id = ${agent.ownerId}`;
  await service.sql`delete from conversations where owner_id = ${agent.ownerId}`;
  expect((await usage(agent.ownerId, "2026-01-01", "2026-01-04")).days).toEqual(days);
});

test("an upgrade keeps what was used before the figures were counted, and counts nothing twice", async () => {
  const database = await createTestDatabase(EMPTY_TEMPLATE);
  const db = openDatabase({ url: database.urls.conversation, name: "test" });
  try {
    const until = (name: string) =>
      MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex((migration) => migration.name === name),
      );
    await migrate(db, until("0017_figures"));
    const use = (day: string, column: "draft_id" | "name" = "name") => db`
      with begun as (
        insert into conversations (owner_id, conversation_id, id, agent_id, type, status, message_count, ${db(column)}, created_by,
          last_activity_at, created_at, updated_at)
        select 'own_1', given.id, given.id::text, 'agt_1', 'CHAT', 'COMPLETED', 1, 'any', 'own_1', now(), ${day}::timestamptz, now()
        from (select gen_random_uuid() as id) as given
        returning owner_id, conversation_id, created_at
      )
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, provider, model, input_tokens, output_tokens)
      select owner_id, conversation_id, 1, 'assistant', 'Hello', created_at, 'OPENAI', 'gpt', 5, 7 from begun`;
    await use("2026-01-01Z");
    await use("2026-01-02Z");
    await migrate(db, until("0021_usage_of_figures"));
    await use("2026-01-02Z");
    // What the job of that release did.
    await db`
      with folded as (delete from figure_changes where owner_id = 'own_1' returning *)
      insert into figures (owner_id, day, agent_id, type, provider, model, begun, completed, disconnected, failed,
        call_seconds, replies, input_tokens, output_tokens)
      select owner_id, day, agent_id, type, provider, model, sum(begun), count(*) filter (where ended = 'COMPLETED'), 0, 0,
        0, sum(replies), sum(input_tokens), sum(output_tokens)
      from folded group by 1, 2, 3, 4, 5, 6`;
    await use("2026-01-02Z");
    await use("2026-01-03Z");
    const used = () => listUsage(db, "own_1", "2026-01-01", "2026-01-04");
    const before = await used();
    const of = (day: string, times: number) => ({
      ...{ day, conversations: times, replies: times, inputTokens: 5 * times, outputTokens: 7 * times },
      ...{ costUsdMicros: 0, unpricedReplies: times },
    });
    expect(before).toEqual([of("2026-01-01", 1), of("2026-01-02", 3), of("2026-01-03", 1), of("2026-01-04", 0)]);
    await migrate(db, MIGRATIONS);
    expect(await used()).toEqual(before);
    await use("2026-01-04Z");
    await use("2026-01-04Z", "draft_id");
    expect((await used()).at(-1)).toEqual(of("2026-01-04", 1));
  } finally {
    await db.end();
    await database.drop();
  }
});

test("every requested day is returned, up to 366, without another owner's usage", async () => {
  const agent = await createAgent(service);
  await say(service, agent);
  const { days } = await usage(newOwner(), "2025-06-01", "2026-06-02");
  expect(days).toHaveLength(366);
  expect([days[0], days.at(-1)]).toEqual([
    { day: "2025-06-01", ...nothing },
    { day: "2026-06-01", ...nothing },
  ]);
  expect(new Set(days.map(({ conversations }) => conversations))).toEqual(new Set([0]));
});

test.each([
  ["2026-01-02", "2026-01-01", "to must be 1 to 366 days after from"],
  ["2026-01-01", "2026-01-01", "to must be 1 to 366 days after from"],
  ["2025-01-01", "2026-01-03", "to must be 1 to 366 days after from"],
  ["2026-01-01T00:00:01Z", "2026-01-03", "from must be midnight UTC"],
  ["2026-01-01", "2026-01-03T12:00:00Z", "to must be midnight UTC"],
])("from %s to %s is refused", async (from, to, detail) => {
  expect(await failure(usage(newOwner(), from, to))).toMatchObject({ kind: "invalid", detail });
});
