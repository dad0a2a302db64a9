import { afterAll, beforeEach, expect, test } from "bun:test";
import { PassThrough } from "node:stream";
import type {
  RunTurnsRequest,
  TurnNews,
  TurnStart,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { readStatus } from "@parley/shared/rpc/status";
import { eventually } from "@parley/testkit/eventually";
import type { ModelCall } from "@parley/testkit/scripted-model";
import {
  type ChatClient,
  createAgent,
  leavable,
  say,
  startFurtherChat,
  startTestChat,
  transcript,
  turn,
  turnStart,
} from "./kit.ts";

const service = await startTestChat();
const agent = await createAgent(service);
afterAll(() => service.stop());
beforeEach(() => {
  service.model.script = (call) => call.finish("Hello there.");
});

/** A stream of turns, and what it has reported so far. */
interface Stream {
  ask(request: Partial<RunTurnsRequest>): void;
  end(): void;
  leave(): void;
  messages: { replica: string; news: TurnNews[]; stopping: boolean }[];
  /** Settles when the stream has ended, with its error if it failed. */
  over: Promise<unknown>;
}

function openStream(chat: ChatClient = service.chat): Stream {
  const requests = new PassThrough({ objectMode: true });
  const { origin, leave } = leavable();
  const messages: Stream["messages"] = [];
  const read = async () => {
    for await (const message of chat.runTurns(requests, { origin })) messages.push(message);
  };
  return {
    ask: (request) => void requests.write({ starts: [], credits: [], cancels: [], ...request }),
    end: () => void requests.end(),
    leave,
    messages,
    over: read().catch((error: unknown) => error),
  };
}

function start(number: number, given: Partial<TurnStart> = {}): TurnStart {
  return turnStart(turn(agent), { number, ...given });
}

/** Everything that a turn has reported so far. */
function told({ messages }: Stream, number: number) {
  const news = messages.flatMap((message) => message.news).filter((each) => each.number === number);
  return {
    sessionId: news.find(({ started }) => started)?.started?.sessionId ?? "",
    text: news.map(({ text }) => text).join(""),
    end: news.find(({ end }) => end)?.end,
  };
}

const isOver = (stream: Stream, number: number) =>
  eventually(() => {
    const { end } = told(stream, number);
    expect(end).toBeDefined();
    return end;
  });

test("all turns of a stream are answered, and simultaneous events share a message", async () => {
  const stream = openStream();
  const numbers = Array.from({ length: 20 }, (_, at) => at + 1);
  service.model.script = (call) => {
    if (call.asked.isStream) for (const word of ["Hello ", "there, ", "all "]) call.piece(word);
    call.finish(call.asked.isStream ? "of you." : "Hello there, all of you.");
  };
  stream.ask({ starts: numbers.map((number) => start(number, { streamed: number % 2 === 0 })) });
  for (const number of numbers)
    expect(await isOver(stream, number)).toMatchObject({ error: undefined, refused: false });
  for (const number of numbers) {
    const { text, sessionId } = told(stream, number);
    expect(text).toBe("Hello there, all of you.");
    expect(await transcript(service, agent, sessionId)).toEqual(["user: Hi", "assistant: Hello there, all of you."]);
  }
  stream.end();
  expect(await stream.over).toBeUndefined();
  expect(stream.messages[0]).toMatchObject({ replica: expect.stringMatching(/./), news: [], stopping: false });
  expect(stream.messages.length).toBeLessThan(numbers.length * 4);
});

test("a failed turn returns its error with all details, and its stream continues", async () => {
  const stream = openStream();
  service.model.script = (call) => call.respond(401, "text/plain", "");
  stream.ask({ starts: [start(1), start(2, { turn: turn(agent, "Hi", { sessionId: "none" }) })] });
  const { error } = (await isOver(stream, 1)) ?? {};
  expect(error && readStatus(error)).toMatchObject({
    kind: "upstream_failed",
    detail: "The CUSTOM_LLM model provider refused the API key",
    metadata: { session_id: told(stream, 1).sessionId },
  });
  const invalid = (await isOver(stream, 2))?.error;
  expect(invalid && readStatus(invalid)).toMatchObject({ kind: "invalid", violations: [{ path: "session_id" }] });
  service.model.script = (call) => call.finish("Hello there.");
  stream.ask({ starts: [start(3)] });
  await isOver(stream, 3);
  expect(told(stream, 3).text).toBe("Hello there.");
  stream.leave();
  await stream.over;
});

/** Turns whose model has said a word and has not ended. */
async function underWay(stream: Stream, starts: TurnStart[]): Promise<ModelCall[]> {
  const calls: ModelCall[] = [];
  service.model.script = (call) => {
    calls.push(call);
    call.piece("Well, let");
  };
  stream.ask({ starts });
  await eventually(() => {
    for (const { number } of starts) expect(told(stream, number).text).toBe("Well, ");
  });
  return calls;
}

test("a cancelled turn aborts its model call and stores the reply so far, and the others continue", async () => {
  const stream = openStream();
  const [first] = await underWay(stream, [start(1)]);
  const [second] = await underWay(stream, [start(2)]);
  stream.ask({ cancels: [1] });
  await first?.left;
  second?.finish(" me see.");
  await isOver(stream, 2);
  expect(told(stream, 2).text).toBe("Well, let me see.");
  await eventually(async () =>
    expect(await transcript(service, agent, told(stream, 1).sessionId)).toEqual(["user: Hi", "assistant: Well, let"]),
  );
  stream.leave();
  await stream.over;
});

test("a turn with an idempotency key runs to its end when it is cancelled", async () => {
  const stream = openStream();
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32) };
  const [call] = await underWay(stream, [start(1, { turn: turn(agent, "Hi", { idempotency }) })]);
  stream.ask({ cancels: [1] });
  call?.finish(" me see.");
  const asked = turn(agent, "Hi", { idempotency });
  expect(await service.chat.completeTurn({ turn: asked })).toMatchObject({
    response: "Well, let me see.",
    replayed: true,
  });
  stream.leave();
  await stream.over;
});

test("turns whose stream is lost are aborted with their replies so far stored, and their sessions continue", async () => {
  const stream = openStream();
  const calls = await underWay(stream, [start(1), start(2)]);
  stream.leave();
  await Promise.all(calls.map(({ left }) => left));
  expect(await stream.over).toMatchObject({ kind: "cancelled" });
  service.model.script = (call) => call.finish("Yes.");
  const { sessionId } = told(stream, 1);
  await eventually(async () => expect((await say(service, agent, "Still there?", sessionId)).response).toBe("Yes."));
  expect((await transcript(service, agent, sessionId))[1]).toBe("assistant: Well, let");
});

test("a turn without credit holds back its model, and no other turn, until it gets some", async () => {
  const stream = openStream();
  let sent = 0;
  service.model.script = async (call) => {
    let gone = false;
    call.left.then(() => {
      gone = true;
    });
    for (; sent < 40_000_000 && !gone; sent += 4_000) if (!call.piece("word ".repeat(800))) await call.drained();
    call.finish("end.");
  };
  stream.ask({ starts: [start(1, { credit: 1_000 })] });
  await eventually(() => expect(told(stream, 1).text).not.toBe(""));
  const held = told(stream, 1).text.length;
  service.model.script = (call) => call.finish("Hello there.");
  for (let number = 2; number < 10; number++) {
    stream.ask({ starts: [start(number)] });
    await isOver(stream, number);
  }
  expect(told(stream, 1).text).toHaveLength(held);
  expect(sent).toBeLessThan(40_000_000);
  stream.ask({ credits: [{ number: 1, characters: held }] });
  await eventually(() => expect(told(stream, 1).text.length).toBeGreaterThan(held));
  stream.leave();
  await stream.over;
});

test("a stopping process says so, refuses new turns, and finishes those that it has", async () => {
  const further = await startFurtherChat(service, {});
  const stream = openStream(further.chat);
  const [call] = await underWay(stream, [start(1)]);
  const stopped = further.stop();
  await eventually(() => expect(stream.messages.at(-1)?.stopping).toBe(true));
  stream.ask({ starts: [start(2)] });
  expect(await isOver(stream, 2)).toMatchObject({ refused: true });
  call?.finish(" me see.");
  await isOver(stream, 1);
  expect(told(stream, 1).text).toBe("Well, let me see.");
  stream.end();
  expect(await stream.over).toBeUndefined();
  await stopped;
});
