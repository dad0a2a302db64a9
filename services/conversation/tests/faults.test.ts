import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { eventually } from "@parley/testkit/eventually";
import type { ModelCall } from "@parley/testkit/scripted-model";
import {
  createAgent,
  failure,
  hear,
  leavable,
  listen,
  say,
  session,
  startFurtherChat,
  startTestChat,
  type TestChat,
  transcript,
  turn,
} from "./kit.ts";

const STALL_MS = 1_000;

const longest = String(64 * 1024 * 1024);
const service = await startTestChat({ PARLEY_LLM_ANSWER_MAX_BYTES: longest, PARLEY_REPLY_MAX_CHARACTERS: longest });
/** Only for models that are too slow: on a busy machine, any other model could look like one. */
const impatientToBegin = await startFurtherChat(service, { PARLEY_LLM_DEADLINE_MS: "400" });
const impatientInBetween = await startFurtherChat(service, {
  PARLEY_LLM_STALL_MS: String(STALL_MS),
  // Makes one owner's share of memory larger than the longest reply here.
  PARLEY_OWNER_TURNS_MAX: "16384",
});
const agent = await createAgent(service);

afterAll(async () => {
  await Promise.all([impatientToBegin.stop(), impatientInBetween.stop()]);
  await service.stop();
});

beforeEach(() => {
  service.model.script = (call) => call.finish("Hello there.");
});

/** The next call to the model, which the test answers. */
function nextCall(): Promise<ModelCall> {
  return new Promise((resolve) => {
    service.model.script = (call) => {
      service.model.script = (later) => later.finish("Hello there.");
      resolve(call);
    };
  });
}

/** The next turn is answered, and the earlier messages are still there. */
async function goesOn(sessionId: string, before: string[]): Promise<void> {
  await eventually(async () => {
    expect(await transcript(service, agent, sessionId)).toEqual(before);
    await say(service, agent, "Still there?", sessionId);
  });
  const after = [...before, "user: Still there?", "assistant: Hello there."];
  expect(await transcript(service, agent, sessionId)).toEqual(after);
}

async function isPartial(sessionId: string): Promise<boolean[]> {
  const rows = await service.sql<{ partial: boolean }[]>`
    select partial from messages where conversation_id = ${sessionId} and role = 'assistant' order by seq`;
  return rows.map(({ partial }) => partial);
}

describe("a client that disconnects", () => {
  test("in the middle of a stream ends the model's call, and the partial reply is stored", async () => {
    const { origin, leave } = leavable();
    const called = nextCall();
    const heard = listen(service.chat, turn(agent), { origin });
    const { sessionId = "" } = (await heard.next()).value as { sessionId?: string };
    const pending = heard.next();
    const call = await called;
    call.piece("Well, let me");
    expect((await pending).value).toEqual({ text: "Well, let " });
    leave();
    await call.left;
    await eventually(async () => expect(await isPartial(sessionId)).toEqual([true]));
    await goesOn(sessionId, ["user: Hi", "assistant: Well, let me"]);
    expect(await isPartial(sessionId)).toEqual([true, false]);
  });

  test("while it is not reading ends the model's call too", async () => {
    const called = nextCall();
    const heard = listen(service.chat, turn(agent));
    const { sessionId = "" } = (await heard.next()).value as { sessionId?: string };
    const call = await called;
    call.piece("One two ");
    // Otherwise the client may be gone before the model has said anything.
    expect((await heard.next()).value).toEqual({ text: "One " });
    call.piece("three");
    await heard.return(undefined);
    await call.left;
    await eventually(async () => expect(await transcript(service, agent, sessionId)).toHaveLength(2));
    expect((await transcript(service, agent, sessionId))[1]).toStartWith("assistant: One two");
    expect(await isPartial(sessionId)).toEqual([true]);
  });

  test.each([
    [
      "streamed",
      (origin: ReturnType<typeof leavable>["origin"]) => Array.fromAsync(listen(service.chat, turn(agent), { origin })),
    ],
    [
      "whole",
      (origin: ReturnType<typeof leavable>["origin"]) => service.chat.completeTurn({ turn: turn(agent) }, { origin }),
    ],
  ])("before the first word of a %s turn leaves its message stored and the session usable", async (_, take) => {
    const { origin, leave } = leavable();
    const called = nextCall();
    const taken = failure(Promise.resolve(take(origin)));
    const call = await called;
    const [row] = await service.sql<{ id: string }[]>`
      select conversation_id as id from conversations where owner_id = ${agent.ownerId} and turn_id is not null`;
    leave();
    expect(await taken).toMatchObject({ kind: "cancelled" });
    await call.left;
    await goesOn(row?.id ?? "", ["user: Hi"]);
  });

  test("at the last word leaves a complete reply", async () => {
    const heard = listen(service.chat, turn(agent));
    const { sessionId = "" } = (await heard.next()).value as { sessionId?: string };
    let text = "";
    while (text !== "Hello there.") text += (await heard.next()).value?.text;
    await heard.return(undefined);
    await eventually(async () => expect(await isPartial(sessionId)).toEqual([false]));
  });
});

describe("a model that fails", () => {
  test("after the first word breaks the stream, and the partial reply is stored", async () => {
    const breaks: [Pick<TestChat, "chat">, (call: ModelCall) => unknown, string][] = [
      [service, (call) => call.end(), "upstream_failed"],
      [service, (call) => call.reset(), "upstream_failed"],
      [service, (call) => call.event("{oops"), "upstream_failed"],
      [impatientInBetween, () => {}, "upstream_timeout"],
    ];
    for (const [{ chat }, end, kind] of breaks) {
      const called = nextCall();
      const heard = listen(chat, turn(agent));
      const { sessionId = "" } = (await heard.next()).value as { sessionId?: string };
      const pending = heard.next();
      const call = await called;
      call.piece("Well, let me");
      expect((await pending).value).toEqual({ text: "Well, let " });
      end(call);
      expect(await failure(Array.fromAsync(heard))).toMatchObject({ kind, sessionId });
      expect(await isPartial(sessionId)).toEqual([true]);
      await goesOn(sessionId, ["user: Hi", "assistant: Well, let me"]);
    }
  });

  test("before the first word, or by timeout, leaves the message stored and names the session", async () => {
    const faults: [Pick<TestChat, "chat">, (call: ModelCall) => unknown, string, string][] = [
      [service, (call) => call.respond(500, "text/plain", "x"), "upstream_failed", "answered with status 500: x"],
      [service, (call) => call.reset(), "upstream_failed", "is unreachable"],
      [impatientToBegin, () => {}, "upstream_timeout", "did not answer in time"],
    ];
    for (const [by, fail, kind, detail] of faults) {
      for (const take of [() => hear(by.chat, turn(agent)), () => say(by, agent)]) {
        service.model.script = fail;
        const { sessionId, ...failed } = await failure(take());
        service.model.script = (call) => call.finish("Hello there.");
        expect(failed).toEqual({ kind, detail: `The CUSTOM_LLM model provider ${detail}` });
        await goesOn(sessionId ?? "", ["user: Hi"]);
      }
    }
  });
});

describe("a reader that is slow", () => {
  async function openAi(): Promise<LlmConfig> {
    const { llm } = await service.agents.listProviders({ ownerId: agent.ownerId });
    const { modelNames = [] } = llm.find(({ providerName }) => providerName === "OPENAI") ?? {};
    return { providerName: "OPENAI", modelName: modelNames[0] ?? "", params: undefined, fallbacks: [] };
  }

  test("does not count as a stalled model, and bounds how far ahead the model is read", async () => {
    const total = 40 * 1024 * 1024;
    const piece = "word ".repeat(3_000);
    const called = nextCall();
    const agentOfOpenAi = await createAgent(service, { llm: await openAi() });
    const heard = listen(impatientInBetween.chat, turn(agentOfOpenAi));
    await heard.next();
    const pending = heard.next();
    const call = await called;
    let sent = 0;
    let gone = false;
    call.left.then(() => {
      gone = true;
    });
    const sending = (async () => {
      for (; sent < total && !gone; sent += piece.length) if (!call.piece(piece)) await call.drained();
      call.finish();
    })();
    const first = await pending;
    // Longer than a model may stall.
    for (let before = -1; before !== sent; await Bun.sleep(1.5 * STALL_MS)) before = sent;
    expect(gone).toBe(false);
    // The model has to wait. The system's buffers, which grow to tens of megabytes, decide how soon.
    expect(sent).toBeLessThan(total);
    let received = (first.done ? "" : (first.value.text ?? "")).length;
    for await (const { text = "" } of heard) received += text.length;
    await sending;
    expect(received).toBeGreaterThanOrEqual(total);
  });
});

test("a reply that comes after the session continued is refused, even if the next reply has the same words", async () => {
  const { sessionId } = await say(service, agent, "Hi");
  const called = nextCall();
  const answer = failure(say(service, agent, "One", sessionId));
  const overtaken = await called;
  service.model.script = (call) => call.finish("The same.");
  await eventually(() => {
    service.clock.advance(15_001);
    return say(service, agent, "Two", sessionId);
  });
  overtaken.finish("The same.");
  expect(await answer).toMatchObject({ kind: "conflict" });
  expect((await transcript(service, agent, sessionId)).slice(2)).toEqual([
    "user: One",
    "user: Two",
    "assistant: The same.",
  ]);
});

describe("a database that fails", () => {
  /** Locks a session's row, so that anything that would write it waits. */
  async function hold(sessionId: string): Promise<{ release(): Promise<void> }> {
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const holding = service.admin.begin(async (tx) => {
      await tx`select 1 from conversation.conversations where conversation_id = ${sessionId} for update`;
      held.resolve();
      await released.promise;
    });
    await held.promise;
    return {
      release: async () => {
        released.resolve();
        await holding;
      },
    };
  }

  test.each([
    ["breaks the connection", "pg_terminate_backend"],
    ["runs out of time", "pg_cancel_backend"],
  ])("while a reply is stored, and %s, loses neither the reply nor the response", async (_, end) => {
    const { sessionId } = await say(service, agent, "Hi");
    const called = nextCall();
    const answer = say(service, agent, "And?", sessionId);
    const call = await called;
    const { release } = await hold(sessionId);
    call.finish("Kept.");
    const terminated = await eventually(async () => {
      const rows = await service.sql`
        select ${service.sql(end)}(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and application_name = 'parley-conversation' and query like '%finished%'`;
      expect(rows.length).toBeGreaterThan(0);
      return rows.length;
    });
    expect(terminated).toBe(1);
    await release();
    expect((await answer).response).toBe("Kept.");
    expect((await transcript(service, agent, sessionId)).slice(2)).toEqual(["user: And?", "assistant: Kept."]);
  });

  test("permanently is reported at once, with the session, and the turn is free when its lease ends", async () => {
    await service.admin.unsafe("alter table conversation.messages add constraint no_moon check (content <> 'Moon')");
    service.model.script = (call) => call.finish("Moon");
    for (const take of [() => hear(service.chat, turn(agent)), () => say(service, agent)]) {
      expect(await failure(take())).toMatchObject({ kind: "internal" });
    }
    await service.admin.unsafe("alter table conversation.messages drop constraint no_moon");
    const [row] = await service.sql<{ id: string }[]>`
      select conversation_id as id from conversations where owner_id = ${agent.ownerId} and turn_id is not null`;
    service.clock.advance(15_001);
    service.model.script = (call) => call.finish("Hello there.");
    await goesOn(row?.id ?? "", ["user: Hi"]);
    const { messageCount } = await session(service, agent, row?.id ?? "");
    expect(messageCount).toBe(3);
  });
});
