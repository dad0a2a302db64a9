import { afterAll, beforeEach, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { eventually } from "@parley/testkit/eventually";
import { figuresFold } from "../src/store/figures/fold-figures.ts";
import { speakTurn, startWebCall } from "./converse-kit.ts";
import {
  createAgent,
  hear,
  leavable,
  listen,
  llmOf,
  say,
  session,
  startTestChat,
  type TestAgent,
  turn,
} from "./kit.ts";

const service = await startTestChat({ PARLEY_REPLY_CHECKPOINT_MS: "10" });
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
beforeEach(() => {
  service.model.script = (call) => call.finish("We open at nine. Do come.");
});
afterAll(async () => {
  await db.end();
  await service.stop();
});

const PRICE = { input: 2, output: 8, source: "", date: "" };
/** Of the 11 tokens that the scripted model reads and the 7 that it says. */
const COST = 11 * 2 + 7 * 8;

const priced = () => createAgent(service, { llm: { ...llmOf(service.model), price: PRICE } });

/** The stored costs of an owner's replies, oldest first. */
async function costsOf({ ownerId }: TestAgent): Promise<(number | null)[]> {
  const rows = await db<{ costUsdMicros: number | null }[]>`
    select cost_usd_micros from messages where owner_id = ${ownerId} and provider is not null order by created_at, seq`;
  return rows.map(({ costUsdMicros }) => costUsdMicros);
}

/** What usage, statistics by agent and by model, before and after they are folded, say of an owner's costs. */
async function countedOf({ ownerId }: TestAgent) {
  const period = { from: new Date("2025-12-01"), to: new Date("2026-02-01") };
  const { days } = await service.chat.countUsage({ ownerId, ...period });
  const usage = {
    costUsdMicros: days.reduce((sum, day) => sum + day.costUsdMicros, 0),
    unpricedReplies: days.reduce((sum, day) => sum + day.unpricedReplies, 0),
  };
  const figures = async () => {
    const { channels, agents, models } = await service.chat.getStatistics({ ownerId, ...period, agentId: "" });
    return [channels, agents, models].map(([row]) => ({
      costUsdMicros: row?.figures?.costUsdMicros,
      unpricedReplies: row?.figures?.unpricedReplies,
    }));
  };
  const pending = await figures();
  await foldChanges(db, ownerId, figuresFold());
  return [usage, ...pending, ...(await figures())];
}

const always = (costUsdMicros: number, unpricedReplies: number) => Array(7).fill({ costUsdMicros, unpricedReplies });

test("a reply keeps its cost at the price of that moment, and its session and conversation show the sum", async () => {
  const agent = await priced();
  const { sessionId } = await say(service, agent);
  await hear(service.chat, turn(agent, "And on Sunday?", { sessionId }));
  const totals = { replies: 2, costUsdMicros: 2 * COST, unpricedReplies: 0 };
  expect(await costsOf(agent)).toEqual([COST, COST]);
  const { usage, messages } = await session(service, agent, sessionId);
  expect(usage).toMatchObject(totals);
  expect(messages.map(({ reply }) => reply?.costUsdMicros)).toEqual([undefined, COST, undefined, COST]);
  const key = { ownerId: agent.ownerId, conversationId: sessionId };
  const read = async (withUsage: boolean) => (await service.chat.getConversation({ ...key, withUsage })).conversation;
  expect((await read(true))?.usage).toMatchObject(totals);
  expect((await read(false))?.usage).toBeUndefined();
  expect(await countedOf(agent)).toEqual(always(2 * COST, 0));
});

test("turns that are stored together have a cost each", async () => {
  const agent = await priced();
  await Promise.all(Array.from({ length: 24 }, () => say(service, agent)));
  expect(await costsOf(agent)).toEqual(Array(24).fill(COST));
  expect(await countedOf(agent)).toEqual(always(24 * COST, 0));
});

test("the cost of a model without a price is unknown and counted as that, while a free one costs zero", async () => {
  const unpriced = await createAgent(service);
  await Promise.all(Array.from({ length: 4 }, () => say(service, unpriced)));
  expect(await costsOf(unpriced)).toEqual([null, null, null, null]);
  expect(await countedOf(unpriced)).toEqual(always(0, 4));
  const llm = { ...llmOf(service.model), price: { ...PRICE, input: 0, output: 0 } };
  const free = await createAgent(service, { llm });
  await say(service, free);
  expect(await costsOf(free)).toEqual([0]);
  expect(await countedOf(free)).toEqual(always(0, 0));
});

test("a reply with tool calls costs what all its calls of the model cost", async () => {
  const agent = await createAgent(service, {
    llm: { ...llmOf(service.model), price: PRICE },
    tools: { set_language: true },
  });
  service.model.script = (call) => {
    if (call.asked.messages.length > 1) call.finish("Hola.");
    else call.callTool("set_language", '{"language":"es"}');
  };
  await say(service, agent);
  expect(await costsOf(agent)).toEqual([2 * COST]);
});

test("the provider's cached tokens cost their own price", async () => {
  const agent = await createAgent(service, { llm: { ...llmOf(service.model), price: { ...PRICE, cachedInput: 0.5 } } });
  service.model.script = (call) =>
    call.respond(
      200,
      "application/json",
      JSON.stringify({
        choices: [{ message: { content: "Nine." }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1_000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 800 } },
      }),
    );
  await say(service, agent);
  expect(await costsOf(agent)).toEqual([200 * 2 + 800 * 0.5 + 10 * 8]);
});

test("a fallback's reply costs the fallback's price", async () => {
  const first = { ...llmOf(service.model), modelName: "first", price: { ...PRICE, output: 1_000 } };
  const agent = await createAgent(service, {
    llm: { ...first, fallbacks: [{ ...llmOf(service.model), price: PRICE }] },
  });
  service.model.script = (call) => {
    if (call.asked.model === "first") call.respond(500, "text/plain", "");
    else call.finish("Here instead.");
  };
  await say(service, agent);
  expect(await costsOf(agent)).toEqual([COST]);
});

test("a reply stored while it is made counts its cost once, at its end", async () => {
  const agent = await priced();
  service.model.script = async (call) => {
    call.piece("We open ");
    call.piece("at ");
    await eventually(async () => expect(await costsOf(agent)).toEqual([null]));
    call.finish("nine.");
  };
  await hear(service.chat, turn(agent));
  expect(await costsOf(agent)).toEqual([COST]);
  expect(await countedOf(agent)).toEqual(always(COST, 0));
});

test("a reply that its client does not wait for has an unknown cost, because the provider did not report its tokens", async () => {
  const agent = await priced();
  const { origin, leave } = leavable();
  service.model.script = (call) => call.piece("We open at nine, and on Sundays ");
  for await (const heard of listen(service.chat, turn(agent), { origin })) if ("text" in heard) break;
  leave();
  await eventually(async () => {
    const open = await db`select from conversations where owner_id = ${agent.ownerId} and turn_id is not null`;
    expect(open).toHaveLength(0);
  });
  expect(await costsOf(agent)).toEqual([null]);
  expect(await countedOf(agent)).toEqual(always(0, 1));
});

test("a spoken reply costs what the model used, also if less was heard, and is unknown if the model was cut off", async () => {
  const agent = await priced();
  const call = await startWebCall(service.chat, agent);
  const whole = speakTurn(service.chat, call, 1);
  await whole.reply();
  whole.heard("We open at");
  expect(await whole.stored()).toBe(2);
  service.model.script = (asked) => asked.piece("We open at nine, and on Sundays ");
  const interrupted = speakTurn(service.chat, call, 3);
  await interrupted.next();
  interrupted.heard("We open");
  expect(await interrupted.stored()).toBe(4);
  expect(await costsOf(agent)).toEqual([COST, null]);
  expect(await countedOf(agent)).toEqual(always(COST, 1));
});
