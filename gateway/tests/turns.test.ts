import { afterEach, expect, test } from "bun:test";
import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  ConversationServiceService,
  type RunTurnsRequest,
  type RunTurnsResponse,
  type ToolNews,
  type TurnNews,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { createClient } from "@parley/shared/rpc/client";
import { type Handlers, type RunningServer, type ServerSettings, serve } from "@parley/shared/rpc/server";
import { statusMessage } from "@parley/shared/rpc/status";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { createTurns, type Turns } from "../src/turns/turns.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A replica that answers turns as a test says. */
interface Replica extends RunningServer {
  /** The messages of the turns that began here. */
  began: string[];
  cancelled: number[];
  /** Messages that cancelled turns. */
  cancelling: number;
  credits: number[];
  tell(news: Partial<TurnNews>, stopping?: boolean): void;
  lose(): void;
}

type Answer = (message: string, number: number, replica: Replica) => void;

async function startReplica(name: string, answer: Answer, settings: Partial<ServerSettings> = {}): Promise<Replica> {
  const streams = new Set<(response: RunTurnsResponse | null) => void>();
  const handlers: Handlers<typeof ConversationServiceService> = {
    runTurns: (requests, call) => {
      const { readable, writable } = new TransformStream<RunTurnsResponse, RunTurnsResponse>();
      const writer = writable.getWriter();
      const send = (response: RunTurnsResponse | null) => {
        if (!response) return void writer.abort(new ServiceError("unavailable", "Lost"));
        writer.write(response).catch(() => {});
      };
      streams.add(send);
      send({ replica: name, news: [], stopping: false });
      const read = async () => {
        for await (const request of requests as AsyncIterable<RunTurnsRequest>) {
          for (const { number, turn } of request.starts) {
            replica.began.push(turn?.message ?? "");
            answer(turn?.message ?? "", number, replica);
          }
          replica.cancelled.push(...request.cancels);
          if (request.cancels.length > 0) replica.cancelling++;
          replica.credits.push(...request.credits.map(({ characters }) => characters));
        }
      };
      call.stopping.addEventListener("abort", () => send({ replica: "", news: [], stopping: true }));
      read()
        .catch(() => {})
        .finally(() => {
          streams.delete(send);
          void writer.close().catch(() => {});
        });
      return readable as unknown as AsyncIterable<RunTurnsResponse>;
    },
  };
  const server = await serve(ConversationServiceService, handlers, {
    address: "127.0.0.1:0",
    log: silentLogger,
    drainMs: 5_000,
    ...settings,
  });
  ends.push(server.stop);
  const replica: Replica = {
    ...server,
    began: [],
    cancelled: [],
    cancelling: 0,
    credits: [],
    tell(news, stopping = false) {
      const told = { number: 0, started: undefined, text: "", end: undefined, tools: [], ...news };
      for (const send of streams) send({ replica: "", news: [told], stopping });
    },
    lose() {
      for (const send of streams) send(null);
    },
  };
  return replica;
}

const DONE = { error: undefined, errorReplayed: false, refused: false, toolCalls: [] };
const STARTED = { sessionId: "s", replayed: false };
const answers: Answer = (message, number, { tell }) => {
  tell({ number, started: STARTED, text: `You said ${message}.`, end: DONE });
};

function clientOf(...replicas: { address: string }[]) {
  const address = `ipv4:${replicas.map((replica) => replica.address).join(",")}`;
  const client = createClient(ConversationServiceService, { peer: "conversation", address });
  ends.push(() => client.close());
  return client;
}

function turnsTo(...replicas: { address: string }[]): Turns {
  return createTurns(clientOf(...replicas));
}

interface Given {
  signal?: AbortSignal;
  timeoutMs?: number;
  onText?: (text: string) => Promise<void> | null;
  onReplayed?: () => void;
  onTool?: (tool: ToolNews) => void;
}

async function say(turns: Turns, message: string, { signal, timeoutMs = 10_000, ...given }: Given = {}) {
  let text = "";
  let sessionId = "";
  const turn = {
    ownerId: "o",
    agentId: "a",
    sessionId: undefined,
    message,
    metadata: undefined,
    idempotency: undefined,
    type: ConversationType.CONVERSATION_TYPE_CHAT,
    mayBegin: false,
    clientTools: false,
    toolResults: [],
    tellsTools: false,
  };
  await turns.run(turn, {
    origin: { requestId: "req", signal },
    timeoutMs,
    streamed: true,
    onStarted: (started) => {
      sessionId = started.sessionId;
    },
    onText: (piece) => {
      text += piece;
      return null;
    },
    ...given,
  });
  return { text, sessionId };
}

test("turns are answered, and spread evenly over all replicas", async () => {
  let isHolding = false;
  const answer: Answer = (message, number, replica) => isHolding || answers(message, number, replica);
  const replicas = await Promise.all(["a", "b", "c"].map((name) => startReplica(name, answer)));
  const turns = turnsTo(...replicas);
  const counts = () => replicas.map(({ began }) => began.length);
  await eventually(async () => {
    expect((await say(turns, "Hi")).text).toBe("You said Hi.");
    expect(counts().every((count) => count > 0)).toBe(true);
  });
  isHolding = true;
  for (const { began } of replicas) began.length = 0;
  const client = new AbortController();
  const held = Array.from({ length: 90 }, () => serviceErrorOf(say(turns, "Hi", { signal: client.signal })));
  await eventually(() => expect(counts()).toEqual([30, 30, 30]));
  client.abort();
  await Promise.all(held);
});

test("a stopping replica finishes its turns, and the turns that it refuses run elsewhere", async () => {
  const stopping = await startReplica("stopping", (message, number, { tell }) => {
    if (message !== "early") tell({ number, end: { ...DONE, refused: true } }, true);
  });
  const turns = turnsTo(stopping);
  const early = say(turns, "early");
  await eventually(() => expect(stopping.began).toEqual(["early"]));
  const staying = await startReplica("staying", answers);
  const both = turnsTo(stopping, staying);
  const all = Array.from({ length: 10 }, (_, n) => say(both, `${n}`));
  for (const [n, said] of (await Promise.all(all)).entries()) expect(said.text).toBe(`You said ${n}.`);
  stopping.tell({ number: 1, started: STARTED, text: "Bye.", end: DONE });
  expect((await early).text).toBe("Bye.");
});

test("turns continue when connections reach their maximum age, and a lost stream fails its own turns but no later one", async () => {
  const replica = await startReplica(
    "a",
    (message, number, self) => message !== "slow" && answers(message, number, self),
    {
      connectionAgeMs: 50,
    },
  );
  const turns = turnsTo(replica);
  const slow = say(turns, "slow");
  const until = performance.now() + 1_000;
  for (let n = 0; performance.now() < until; n++) expect((await say(turns, `${n}`)).text).toBe(`You said ${n}.`);
  replica.tell({ number: 1, text: "Slowly.", end: DONE });
  expect((await slow).text).toBe("Slowly.");
  const lost = serviceErrorOf(say(turns, "slow"));
  await eventually(() => expect(replica.began.filter((message) => message === "slow")).toHaveLength(2));
  replica.lose();
  expect(await lost).toMatchObject({ kind: "unavailable" });
  expect((await say(turns, "again")).text).toBe("You said again.");
});

test("tools are told between the words that they stand between", async () => {
  const called = (offset: number, toolCallId: string) => ({
    ...{ offset, toolCallId },
    event: { $case: "called" as const, value: { name: "look_up", arguments: "{}" } },
  });
  const replica = await startReplica("a", (_, number, { tell }) => {
    tell({ number, started: STARTED, text: "One two three", tools: [called(4, "a"), called(4, "b")] });
    tell({ number, tools: [called(0, "c")], end: DONE });
  });
  const heard: string[] = [];
  await say(turnsTo(replica), "Hi", {
    onText: (text) => {
      heard.push(text);
      return null;
    },
    onTool: ({ toolCallId }) => void heard.push(toolCallId),
  });
  expect(heard).toEqual(["One ", "a", "b", "two three", "c"]);
});

test("an error arrives with its details, and whether it is a replay", async () => {
  const error = new ServiceError("condition", "Session has ended", { metadata: { session_id: "s" } });
  const replica = await startReplica("a", (_, number, { tell }) => {
    tell({ number, end: { ...DONE, error: statusMessage(error), errorReplayed: true } });
  });
  let replays = 0;
  const onReplayed = () => {
    replays++;
  };
  expect(await serviceErrorOf(say(turnsTo(replica), "Hi", { onReplayed }))).toMatchObject({
    kind: "condition",
    detail: "Session has ended",
    metadata: { session_id: "s" },
  });
  expect(replays).toBe(1);
});

test("a turn whose client disconnects or whose deadline passes is cancelled at its replica", async () => {
  const replica = await startReplica("a", () => {});
  const turns = turnsTo(replica);
  const client = new AbortController();
  const left = serviceErrorOf(say(turns, "left", { signal: client.signal }));
  await eventually(() => expect(replica.began).toEqual(["left"]));
  client.abort();
  expect(await left).toMatchObject({ kind: "cancelled" });
  expect(await serviceErrorOf(say(turns, "late", { timeoutMs: 100 }))).toMatchObject({
    kind: "deadline",
    detail: "The conversation service did not answer in time",
  });
  await eventually(() => expect(replica.cancelled).toEqual([1, 2]));
});

test("credit is given for what the reader has taken, not for what waits to be read", async () => {
  const replica = await startReplica("a", (_, number, { tell }) => tell({ number, text: "x".repeat(10_000) }));
  const reader = Promise.withResolvers<void>();
  const said = say(turnsTo(replica), "Hi", { onText: () => reader.promise });
  await eventually(() => expect(replica.began).toHaveLength(1));
  replica.tell({ number: 1, text: "y" });
  expect(replica.credits).toEqual([]);
  reader.resolve();
  await eventually(() => expect(replica.credits).toEqual([10_000]));
  replica.tell({ number: 1, end: DONE });
  await said;
});

test("without a replica a turn fails as a call does", async () => {
  const replica = await startReplica("a", answers);
  await replica.stop();
  expect(await serviceErrorOf(say(turnsTo(replica), "Hi"))).toMatchObject({
    kind: "unavailable",
    detail: "The conversation service is unreachable. Try again.",
  });
});
