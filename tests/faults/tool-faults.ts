import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type ModelRequest, startScriptedModel } from "../kit/scripted-model.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";
import { connectWhatsApp, controlWhatsApp } from "../kit/whatsapp.ts";
import { stack } from "./text-stack.ts";

/** The long run: PARLEY_TEST_TOOL_CALLS=500 bun run test tests/faults/text-faults. */
const CALLS = Number(process.env.PARLEY_TEST_TOOL_CALLS ?? 24);
/** Repeats a run's choices, as far as its timing allows. */
const SEED = Number(process.env.PARLEY_TEST_SEED ?? Date.now() % 1_000_000);
const AT_ONCE = 10;
/** Requests to the model and to the tools' server between two kills; a conversation has about five. */
const REQUESTS_BEFORE_KILL = 24;
/** What these conversations pass through; the one that makes the calls is killed as often as three others. */
const KILLED = [
  "gateway",
  "account",
  "agent",
  "prompt",
  "messaging",
  "conversation",
  "conversation",
  "conversation",
] as const;
const WITHIN_MS = 120_000 + CALLS * 3_000;
/** What the model is told of a call whose process died, and of one whose secret could not be read. */
const UNKNOWN = "unknown whether this call had an effect";
const NOT_CALLED = "could not be called";

/** The requests that the tools' server has received, by idempotency key. */
const received = new Map<string, number[]>();
/** What the model was told last of the call of each conversation. */
const told = new Map<number, string>();
/** Requests to the model that lack a call's result, or have more than the conversation's one call. */
const broken: unknown[] = [];
const kills: Record<string, number> = {};
const random = randomFrom(SEED);

const model = await startScriptedModel();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { number } = (await request.json()) as { number: number };
    const key = request.headers.get("idempotency-key") ?? "";
    received.set(key, [...(received.get(key) ?? []), number]);
    killSometimes();
    return Response.json({ booked: number });
  },
});
const [owner] = stack.owners;
const api = stack.api(owner.apiKey);
const manage = stack.manage(await createSession(stack, owner.ownerId));
expect(await manage.post("/secrets", { name: "booking", value: "the-key-of-the-booking-server" })).toMatchObject({
  status: 200,
});
const tools = await Promise.all(
  ["book", "order"].map(async (name) => {
    const parameters = [{ name: "number", in: "body", required: true, schema: { type: "integer" } }];
    const { body } = await api.post("/tools", {
      ...{ name, description: "Books a table.", type: "http", method: "POST", url: server.url.href, parameters },
      auth: { type: "bearer", secret: "booking" },
      idempotent: name === "book",
    });
    return { tool_id: body.id };
  }),
);
const agentId = await createAgent(api, model, { custom_tools: tools });
const number = await connectWhatsApp(stack, owner.ownerId, "+15105550171", agentId);
afterAll(async () => {
  await server.stop(true);
  await model.stop();
});

/** Whether the call of a conversation may be repeated after a crash. */
const isIdempotent = (conversation: number) => conversation % 2 === 0;

model.always((exchange) => {
  killSometimes();
  const { conversation, calls, results } = readRequest(exchange.request);
  if (calls.length !== results.length || calls.length > 1) broken.push(exchange.request.body.messages);
  if (calls.length === 0) exchange.toolCall(isIdempotent(conversation) ? "book" : "order", { number: conversation });
  else {
    told.set(conversation, results.join());
    exchange.text("It is done.");
  }
  exchange.finish();
});

test(
  "whatever is killed while tools are called, no call has two effects, and no request to the model lacks a call's result",
  async () => {
    await inTurns(CALLS, async (conversation) => {
      const ask = conversation % 10 === 0 ? askByWhatsApp(conversation) : askByChat(conversation);
      await ask(`Book ${conversation}`);
      await ask("Is it done?");
    });
    const end = [...received.values()];
    console.log(JSON.stringify({ seed: SEED, calls: CALLS, kills, ...countOutcomes() }));

    expect(Object.values(kills).reduce((sum, each) => sum + each, 0)).toBeGreaterThan(CALLS / 12);
    expect(broken).toEqual([]);
    const made = end.map(([conversation]) => conversation ?? -1);
    expect(new Set(made).size).toBe(made.length);
    expect(end.filter(([conversation = 0, ...more]) => more.length > 0 && !isIdempotent(conversation))).toEqual([]);
    expect(told.size).toBe(CALLS);
    for (const [conversation, result] of told) {
      if (result.includes(UNKNOWN)) expect(isIdempotent(conversation)).toBe(false);
      else if (result.includes(NOT_CALLED)) expect(made).not.toContain(conversation);
      else
        expect({ result, made: made.includes(conversation) }).toEqual({
          result: expect.stringContaining(`{"booked":${conversation}}`),
          made: true,
        });
    }
  },
  WITHIN_MS,
);

function countOutcomes() {
  const results = [...told.values()];
  const unknown = results.filter((result) => result.includes(UNKNOWN)).length;
  const failed = results.filter((result) => result.includes(NOT_CALLED)).length;
  const repeated = [...received.values()].filter(({ length }) => length > 1).length;
  return { effects: received.size, repeated, unknown, failed };
}

/** A chat's client: repeats a request with the same key until it is answered. */
function askByChat(conversation: number): (message: string) => Promise<void> {
  let session: string | undefined;
  return async (message) => {
    const key = { "idempotency-key": `${SEED} ${conversation} ${message}` };
    const body = { agent_id: agentId, session_id: session, message, streaming: false };
    await eventually(async () => {
      const answer = await api.post("/chat", body, key);
      expect(answer).toMatchObject({ status: 200 });
      session = answer.body.session_id;
    }, WITHIN_MS);
  };
}

/** Like Meta: repeats the callback with the same id until it is answered with 200. */
function askByWhatsApp(conversation: number): (message: string) => Promise<void> {
  const person = `4917012${String(conversation).padStart(6, "0")}`;
  let asked = 0;
  return async (text) => {
    asked++;
    const message = {
      phone_number_id: number.phoneNumberId,
      from: person,
      message_id: `wamid.${person}.${asked}`,
      text,
    };
    await eventually(async () => {
      const { callback_status: status } = await controlWhatsApp(stack, "messages", message);
      expect(status).toBe(200);
    }, WITHIN_MS);
    await eventually(async () => {
      const { messages } = await controlWhatsApp(stack, `messages?to=${person}`);
      expect(messages).toHaveLength(asked);
    }, WITHIN_MS);
  };
}

/** The number in the conversation's first message, its calls, and the results of those. */
function readRequest({ body }: ModelRequest) {
  const messages = body.messages as {
    role: string;
    content: string;
    tool_call_id?: string;
    tool_calls?: { id: string }[];
  }[];
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const results = messages.filter(({ tool_call_id: id = "" }) => calls.includes(id)).map(({ content }) => content);
  const [, conversation] = /^Book (\d+)/m.exec(messages.find(({ role }) => role === "user")?.content ?? "") ?? [];
  return { conversation: Number(conversation), calls, results };
}

let requests = 0;
const down = new Set<string>();

function killSometimes(): void {
  if (++requests % REQUESTS_BEFORE_KILL !== 0) return;
  const running = KILLED.filter((name) => !down.has(name));
  const name = running[Math.trunc(random() * running.length)];
  if (!name) return;
  down.add(name);
  kills[name] = (kills[name] ?? 0) + 1;
  void stack.kill(name).back.finally(() => down.delete(name));
}

/** Numbers from 0 to below 1, the same for each seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** Does the work for each number from 0 on, several at a time. */
async function inTurns(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let number = next++; number < count; number = next++) await work(number);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
