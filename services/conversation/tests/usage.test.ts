import { afterAll, expect, test } from "bun:test";
import { newOwner } from "@parley/testkit/owners";
import { append, said, startCall } from "./calls-kit.ts";
import { createAgent, failure, say, startTestChat } from "./kit.ts";

const DAY_MS = 86_400_000;

const service = await startTestChat();
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
