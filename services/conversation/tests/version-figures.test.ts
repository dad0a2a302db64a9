import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { newId, newUuid } from "@parley/shared/ids";
import { newOwner } from "@parley/testkit/owners";
import { figuresFold } from "../src/store/figures/fold-figures.ts";
import { startTestChat } from "./kit.ts";

const service = await startTestChat();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
afterAll(async () => {
  await db.end();
  await service.stop();
});

interface Held {
  version: number | null;
  day: string;
  type: "CHAT" | "WHATSAPP" | "TELEPHONY";
  status: "COMPLETED" | "FAILED";
  outcome: string | null;
  seconds: number | null;
  analysis: object[] | null;
  replies: { ms: number; cost: number | null }[];
  toolState: "SUCCEEDED" | "FAILED" | null;
  isTestCall: boolean;
  draftId: string | null;
  test: object | null;
}

/** Stores a conversation as the service does, from its beginning to its analysis. */
async function hold(ownerId: string, agentId: string, given: Partial<Held> = {}): Promise<string> {
  const held = { version: 1, day: "2026-01-01", type: "CHAT", status: "COMPLETED", replies: [], ...given };
  const conversationId = newUuid();
  const at = `${held.day}T12:00:00Z`;
  await db`
    insert into conversations (owner_id, conversation_id, id, agent_id, agent_version, type, status, is_test_call, draft_id,
      has_tool_calls, test, last_activity_at, created_at, updated_at)
    values (${ownerId}, ${conversationId}, ${newId("cnv")}, ${agentId}, ${held.version ?? null}, ${held.type}, 'IN_PROGRESS',
      ${given.isTestCall ?? false}, ${given.draftId ?? null}, ${given.toolState != null}, ${given.test ? db.json(given.test as never) : null}, ${at}, ${at}, ${at})`;
  for (const [seq, { ms, cost }] of held.replies.entries()) {
    await db`
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, provider, model, cost_usd_micros, first_word_ms,
        total_ms)
      values (${ownerId}, ${conversationId}, ${seq + 1}, 'assistant', 'Hello', ${at}, 'OPENAI', 'gpt', ${cost}, ${ms}, ${ms + 100})`;
  }
  if (given.toolState) {
    await db`
      insert into tool_calls (owner_id, conversation_id, tool_call_id, seq, round, place, kind, name, arguments, state)
      values (${ownerId}, ${conversationId}, ${newId("tcl")}, 1, 1, 0, 'http', 'order', '{}', ${given.toolState})`;
  }
  await db`
    update conversations set status = ${held.status}, outcome = ${given.outcome ?? null}, duration_seconds = ${given.seconds ?? null}
    where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  if (given.analysis) await analyze(ownerId, conversationId, given.analysis);
  return conversationId;
}

async function analyze(ownerId: string, conversationId: string, items: object[]): Promise<void> {
  await db`
    update conversations set analysis = ${db.json(items as never)}
    where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
}

const item = (name: string, value: unknown, type: string) => ({ name, value, type });

/** Before what has happened is folded, and after. */
async function bothWays<T>(ownerId: string, read: () => Promise<T>): Promise<T> {
  const before = await read();
  expect(await foldChanges(db, ownerId, figuresFold())).toBeGreaterThan(0);
  expect(await read()).toEqual(before);
  return before;
}

const figuresOf = async (ownerId: string, agentId: string, agentVersions: number[], from?: Date, to?: Date) =>
  (await service.chat.getVersionFigures({ ownerId, agentId, agentVersions, from, to })).figures;

test("a version's figures sum its conversations, outcomes, call time, latency, cost and tool failures, folded or not", async () => {
  const [ownerId, agentId] = [newOwner(), newId("agt")];
  await hold(ownerId, agentId, { replies: [{ ms: 400, cost: 10 }], toolState: "FAILED" });
  await hold(ownerId, agentId, { replies: [{ ms: 600, cost: 20 }], toolState: "SUCCEEDED", status: "FAILED" });
  await hold(ownerId, agentId, { type: "WHATSAPP", replies: [{ ms: 900, cost: null }], day: "2026-01-02" });
  const replies = [{ ms: 800, cost: 5 }];
  await hold(ownerId, agentId, { type: "TELEPHONY", outcome: "SUCCESS", seconds: 60, replies });
  await hold(ownerId, agentId, { type: "TELEPHONY", outcome: "BUSY", seconds: 30 });
  const [figures] = await bothWays(ownerId, () => figuresOf(ownerId, agentId, [1]));
  expect(figures).toEqual({
    agentVersion: 1,
    conversations: 5,
    outcomes: { n: 5, shares: { COMPLETED: 0.8, FAILED: 0.2 } },
    callOutcomes: { n: 2, shares: { SUCCESS: 0.5, BUSY: 0.5 } },
    toolFailures: { n: 5, share: 0.2 },
    callSeconds: { n: 2, mean: 45 },
    textLatency: { replies: 3, p50Ms: 600, p95Ms: 900 },
    callLatency: { replies: 1, p50Ms: 800, p95Ms: 800 },
    replies: 4,
    costUsdMicros: 35,
    unpricedReplies: 1,
    analysis: {},
  });
  const [second] = await figuresOf(ownerId, agentId, [1], new Date("2026-01-02"), new Date("2026-01-03"));
  expect(second).toMatchObject({ conversations: 1, unpricedReplies: 1, textLatency: { p50Ms: 900 } });
});

test("an analysis counts by shares of booleans and words and by means of numbers, and one made again replaces the one before", async () => {
  const [ownerId, agentId] = [newOwner(), newId("agt")];
  const analysis = (solved: boolean, mood: string | null, score: number) => [
    item("solved", solved, "bool"),
    item("mood", mood, 'Optional[Literal["calm","angry"]]'),
    item("score", score, "float"),
    item("summary", "All was well.", "str"),
    item("wishes", ["a refund"], "list[str]"),
    { ...item("broken", null, "bool"), error: "the model left it out" },
    item("huge", 1e300, "float"),
  ];
  await hold(ownerId, agentId, { analysis: analysis(true, "calm", 8) });
  await hold(ownerId, agentId, { analysis: analysis(true, null, 9.5) });
  const again = await hold(ownerId, agentId, { analysis: analysis(true, "calm", 1_000_000) });
  await foldChanges(db, ownerId, figuresFold());
  await analyze(ownerId, again, analysis(false, "angry", 2));
  const [figures] = await bothWays(ownerId, () => figuresOf(ownerId, agentId, [1]));
  expect(figures?.analysis).toEqual({
    solved: { figure: { $case: "share", value: { n: 3, share: 2 / 3 } } },
    mood: { figure: { $case: "shares", value: { n: 2, shares: { calm: 0.5, angry: 0.5 } } } },
    score: { figure: { $case: "mean", value: { n: 3, mean: 6.5 } } },
  });
});

test("drafts, tests, test calls, other versions, agents and owners count in no figure of a version", async () => {
  const [ownerId, agentId] = [newOwner(), newId("agt")];
  await hold(ownerId, agentId);
  const none = { analysis: [item("solved", true, "bool")], replies: [{ ms: 1, cost: 1 }] };
  await hold(ownerId, agentId, { ...none, version: 2 });
  await hold(ownerId, agentId, { ...none, version: null, draftId: "drf_1" });
  await hold(ownerId, agentId, { ...none, test: { runId: "run_1" } });
  await hold(ownerId, agentId, { ...none, isTestCall: true });
  await hold(ownerId, newId("agt"), none);
  await hold(newOwner(), agentId, none);
  const [first, second, third] = await bothWays(ownerId, () => figuresOf(ownerId, agentId, [1, 2, 3]));
  expect(first).toMatchObject({ agentVersion: 1, conversations: 1, replies: 0, analysis: {} });
  expect(second).toMatchObject({ agentVersion: 2, conversations: 1, replies: 1 });
  expect(third).toMatchObject({
    agentVersion: 3,
    conversations: 0,
    outcomes: { n: 0 },
    callSeconds: { n: 0, mean: undefined },
  });
});

test("a conversation that its start webhook gives to another agent counts with that agent's version only", async () => {
  const [ownerId, asked, named] = [newOwner(), newId("agt"), newId("agt")];
  const at = "2026-01-01T12:00:00Z";
  const conversationId = newUuid();
  await db`
    insert into conversations (owner_id, conversation_id, id, agent_id, agent_version, type, status, last_activity_at, created_at,
      updated_at)
    values (${ownerId}, ${conversationId}, ${newId("cnv")}, ${asked}, 3, 'CHAT', 'IN_PROGRESS', ${at}, ${at}, ${at})`;
  await db`
    update conversations set agent_id = ${named}, agent_version = 7
    where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  const began = () => Promise.all([figuresOf(ownerId, asked, [3]), figuresOf(ownerId, named, [7])]);
  const [[ofAsked], [ofNamed]] = await bothWays(ownerId, began);
  expect([ofAsked?.conversations, ofNamed?.conversations]).toEqual([0, 1]);
});

test("two versions are compared with intervals and verdicts, over the days asked for", async () => {
  const [ownerId, agentId] = [newOwner(), newId("agt")];
  await db`
    insert into figure_changes (owner_id, day, agent_id, type, happened_at, agent_version, begun, ended)
    select ${ownerId}, '2026-01-05', ${agentId}, 'CHAT', '2026-01-05', version, 1, case when at <= completed then 'COMPLETED' else 'FAILED' end
    from (values (1, 30), (2, 58)) as given (version, completed), generate_series(1, 60) as at`;
  const compare = (first: string, end: string) =>
    service.chat.compareVersions({ ownerId, agentId, a: 1, b: 2, from: new Date(first), to: new Date(end) });
  const { a, b, differences } = await bothWays(ownerId, () => compare("2026-01-01", "2026-02-01"));
  expect([a?.conversations, b?.outcomes?.shares.COMPLETED]).toEqual([60, 58 / 60]);
  const completed = differences.find(({ figure }) => figure === "outcomes.COMPLETED");
  expect(completed).toMatchObject({ verdict: "better" });
  expect([completed?.low, completed?.high].map((bound) => bound?.toFixed(3))).toEqual(["0.320", "0.592"]);
  const before = await compare("2025-12-01", "2026-01-01");
  expect(before.differences.find(({ figure }) => figure === "tool_failures")?.verdict).toBe("too_few");
});

test("a number that never varies has the same mean and no difference, however many conversations have it", async () => {
  const [ownerId, agentId] = [newOwner(), newId("agt")];
  await db`
    insert into figure_changes (owner_id, day, agent_id, type, happened_at, agent_version, analyses, analysis)
    select ${ownerId}, '2026-01-05', ${agentId}, 'CHAT', '2026-01-05', version, 1, ${db.json([item("fee", 0.1, "float")] as never)}
    from (values (1, 30), (2, 33)) as given (version, conversations), generate_series(1, conversations)`;
  const days = { from: undefined, to: undefined };
  const compare = () => service.chat.compareVersions({ ownerId, agentId, a: 1, b: 2, ...days });
  const { differences } = await bothWays(ownerId, compare);
  expect(differences.find(({ figure }) => figure === "analysis.fee")).toEqual({
    figure: "analysis.fee",
    ...{ difference: 0, low: 0, high: 0, verdict: "same" },
  });
});

test("a day counts the first versions that an owner's agents have conversations with, and their further ones", async () => {
  const [ownerId, agentId] = [newOwner(), newId("agt")];
  const fold = () => foldChanges(db, ownerId, figuresFold({ figures: 9, latencies: 9, versions: 2 }));
  for (const version of [1, 2, 3]) await hold(ownerId, agentId, { version });
  await fold();
  for (const version of [4, 3, 1]) await hold(ownerId, agentId, { version });
  await hold(ownerId, agentId, { version: 4, day: "2026-01-02" });
  await fold();
  const figures = await figuresOf(ownerId, agentId, [1, 2, 3, 4]);
  expect(figures.map(({ conversations }) => conversations)).toEqual([2, 1, 0, 1]);
});

test("figures of no version, or of more than a hundred, are refused", async () => {
  const refused = (agentVersions: number[]) =>
    figuresOf(newOwner(), newId("agt"), agentVersions).catch((error: Error) => error.message);
  const message = "agent_versions must be 1 to 100";
  expect(await refused([])).toBe(message);
  expect(await refused(Array.from({ length: 101 }, (_, at) => at + 1))).toBe(message);
});
