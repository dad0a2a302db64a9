import { afterAll, expect, test } from "bun:test";
import { ConversationType, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  CompleteConversationRequest,
  type GetStatisticsResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { newOwner } from "@parley/testkit/owners";
import { listFigures } from "../src/store/figures/figures.ts";
import { figuresFold } from "../src/store/figures/fold-figures.ts";
import { startCall } from "./calls-kit.ts";
import { createAgent, say, startTestChat, type TestAgent } from "./kit.ts";

const DAY_MS = 86_400_000;

const service = await startTestChat();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
afterAll(async () => {
  await db.end();
  await service.stop();
});

const statistics = (ownerId: string, agentId = "") =>
  service.chat.getStatistics({ ownerId, agentId, from: new Date("2026-01-01"), to: new Date("2026-02-01") });

async function hold(agent: TestAgent, outcome: Outcome, durationSeconds: number): Promise<void> {
  const { conversationId } = await startCall(service.chat, agent);
  const end = { ownerId: agent.ownerId, conversationId, outcome, durationSeconds };
  await service.chat.completeConversation(CompleteConversationRequest.fromPartial(end));
}

/** Sets how long replies took, because a test cannot control it. */
async function note(ownerId: string, type: string, latencies: readonly number[]): Promise<void> {
  await db`
    insert into figure_changes (owner_id, day, agent_id, type, happened_at, latency_ms)
    select ${ownerId}, '2026-01-01', 'agt_any', ${type}, '2026-01-01', ms from unnest(${latencies as number[]}::integer[]) as given (ms)`;
}

test("conversations, outcomes, call time, replies and tokens are summed by day, channel, agent and model", async () => {
  const agent = await createAgent(service);
  const other = await createAgent(service, {}, agent.ownerId);
  await Promise.all([say(service, agent), say(service, agent), say(service, other)]);
  await hold(agent, Outcome.OUTCOME_SUCCESS, 61.5);
  await hold(agent, Outcome.OUTCOME_ERROR, 2);
  const counted = await statistics(agent.ownerId);
  const chats = counted.channels.find(({ type }) => type === ConversationType.CONVERSATION_TYPE_CHAT);
  expect(chats).toMatchObject({ day: "2026-01-01", figures: { begun: 3, completed: 0, replies: 3, callSeconds: 0 } });
  const calls = counted.channels.find(({ type }) => type !== ConversationType.CONVERSATION_TYPE_CHAT);
  expect(calls?.figures).toMatchObject({ begun: 2, completed: 1, failed: 1, callSeconds: 63.5, replies: 0 });
  expect(counted.agents.map(({ agentId, figures }) => [agentId, figures?.begun])).toEqual([
    [agent.agentId, 4],
    [other.agentId, 1],
  ]);
  expect(counted.models).toMatchObject([
    { providerName: "CUSTOM_LLM", modelName: "scripted", figures: { replies: 3 } },
  ]);
  const { days } = await service.chat.countUsage({
    ownerId: agent.ownerId,
    from: new Date("2026-01-01"),
    to: new Date("2026-01-02"),
  });
  expect(chats?.figures).toMatchObject({ inputTokens: days[0]?.inputTokens, outputTokens: days[0]?.outputTokens });
  expect((await statistics(agent.ownerId, other.agentId)).agents).toMatchObject([{ figures: { begun: 1 } }]);
});

test("folding changes no figure, whatever came before and comes after", async () => {
  const agent = await createAgent(service);
  const sorted = (answer: GetStatisticsResponse) => ({
    ...answer,
    channels: answer.channels.sort((one, two) => one.day.localeCompare(two.day)),
    latencies: answer.latencies.sort((one, two) => one.day.localeCompare(two.day)),
  });
  await say(service, agent);
  await note(agent.ownerId, "CHAT", [400, 800]);
  for (let fold = 0; fold < 2; fold++) {
    const before = sorted(await statistics(agent.ownerId));
    expect(await foldChanges(db, agent.ownerId, figuresFold())).toBeGreaterThan(0);
    expect(sorted(await statistics(agent.ownerId))).toEqual(before);
    service.clock.advance(DAY_MS);
    await say(service, agent);
  }
  const { channels } = sorted(await statistics(agent.ownerId));
  expect(channels.map(({ figures }) => figures?.begun)).toEqual([1, 1, 1]);
});

test("figures remain when conversations are deleted", async () => {
  const agent = await createAgent(service);
  await say(service, agent);
  const before = await statistics(agent.ownerId);
  await db`delete from messages where owner_id = ${agent.ownerId}`;
  await db`delete from conversations where owner_id = ${agent.ownerId}`;
  expect(await statistics(agent.ownerId)).toEqual(before);
});

test("latency is reported separately for calls and text, accurate to 5 %", async () => {
  const ownerId = newOwner();
  await note(
    ownerId,
    "CHAT",
    Array.from({ length: 100 }, (_, at) => (at + 1) * 10),
  );
  await note(ownerId, "TELEPHONY", [700, 750, 2_000]);
  const { latencies } = await statistics(ownerId);
  const of = (isCall: boolean) => latencies.find((each) => each.day === "" && each.isCall === isCall);
  const near = (ms: number | undefined, expected: number) => Math.abs((ms ?? 0) / expected - 1) <= 0.06;
  expect([near(of(false)?.p50Ms, 500), near(of(false)?.p95Ms, 950)]).toEqual([true, true]);
  expect([near(of(true)?.p50Ms, 750), near(of(true)?.p95Ms, 2_000)]).toEqual([true, true]);
  expect(latencies.filter(({ day }) => day === "2026-01-01")).toHaveLength(2);
});

test("the median of few replies is exact, of two their mean, before and after they are folded", async () => {
  const ownerId = newOwner();
  const medians = async () => {
    const { latencies } = await statistics(ownerId);
    return latencies.filter(({ day }) => day === "").map(({ replies, p50Ms }) => ({ replies, p50Ms }));
  };
  for (const [added, p50Ms] of [
    [[1_234], 1_234],
    [[400], 817],
    [[410], 410],
    [[1_300], 822],
  ] as const) {
    await note(ownerId, "TELEPHONY", [...added]);
    const replies = (await medians())[0]?.replies;
    expect(await medians()).toEqual([{ replies: replies ?? 0, p50Ms }]);
    await foldChanges(db, ownerId, figuresFold());
    expect(await medians()).toEqual([{ replies: replies ?? 0, p50Ms }]);
  }
});

test("of ever more agents and models, those with the most conversations and replies are read", async () => {
  const ownerId = newOwner();
  await db`
    insert into figure_changes (owner_id, day, agent_id, type, provider, model, happened_at, begun, replies)
    select ${ownerId}, '2026-01-01', 'agt_' || least(at, 5), 'CHAT', 'CUSTOM_LLM', 'model ' || least(at, 4), '2026-01-01', 1, 1
    from generate_series(1, 9) as given (at)`;
  const filter = { ownerId, agentId: "", first: "2026-01-01", last: "2026-01-31" };
  const rows = await listFigures(db, filter, 1);
  expect(rows.filter(({ agentId }) => agentId !== null)).toMatchObject([{ agentId: "agt_5", begun: 5 }]);
  expect(rows.filter(({ model }) => model !== null)).toMatchObject([{ model: "model 4", replies: 6 }]);
  expect(rows.filter(({ day }) => day !== null)).toMatchObject([{ begun: 9, replies: 9 }]);
});

test("a day names its first agents and models, and sums further ones as others, so that totals stay exact", async () => {
  const ownerId = newOwner();
  const add = (from: number, to: number, day = "2026-01-01") => db`
    insert into figure_changes (owner_id, day, agent_id, type, provider, model, happened_at, replies, latency_ms)
    select ${ownerId}, ${day}::date, 'agt_' || at, 'CHAT', 'CUSTOM_LLM', 'model ' || at, ${day}::date, 1, 100
    from generate_series(${from}::integer, ${to}::integer) as given (at)`;
  const named = async (table: string) => {
    const rows = await db<{ name: string; replies: number }[]>`
      select to_char(day, 'DD ') || agent_id as name, sum(replies)::integer as replies from ${db(table)}
      where owner_id = ${ownerId} group by name order by name`;
    return rows.map(({ name, replies }) => `${name}: ${replies}`);
  };
  const fold = () => foldChanges(db, ownerId, figuresFold({ figures: 3, latencies: 2, versions: 1 }));
  await add(1, 2);
  await fold();
  await add(1, 9);
  await add(9, 9, "2026-01-02");
  await db`
    insert into figure_changes (owner_id, day, agent_id, type, happened_at, begun)
    values (${ownerId}, '2026-01-01', 'agt_9', 'CHAT', '2026-01-01', 1)`;
  const before = await statistics(ownerId);
  await fold();
  await add(4, 4);
  await fold();
  expect(await named("figures")).toEqual(["01 OTHER: 7", "01 agt_1: 2", "01 agt_2: 2", "01 agt_3: 1", "02 agt_9: 1"]);
  expect(await named("figure_latencies")).toEqual(["01 OTHER: 8", "01 agt_1: 2", "01 agt_2: 2", "02 agt_9: 1"]);
  const { channels, models, latencies } = await statistics(ownerId);
  expect(channels.map(({ figures }) => [figures?.begun, figures?.replies])).toEqual([
    [1, 12],
    [0, 1],
  ]);
  expect(models.find(({ modelName }) => modelName === "OTHER")).toMatchObject({
    providerName: "OTHER",
    figures: { replies: 7 },
  });
  expect(latencies.map(({ replies }) => replies)).toEqual([12, 1, 13]);
  const times = (all: typeof latencies) => all.map(({ day, p50Ms, p95Ms }) => ({ day, p50Ms, p95Ms }));
  expect(times(latencies)).toEqual(times(before.latencies));
});

test("an owner without conversations has empty statistics", async () => {
  expect(await statistics(newOwner())).toEqual({ channels: [], agents: [], models: [], latencies: [] });
});
