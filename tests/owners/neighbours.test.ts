import { afterAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "@parley/testkit/eventually";
import { type Exchange, startScriptedModel } from "../kit/scripted-model.ts";
import { BESIDES_CHATS, startTestStack } from "../kit/stack/test-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const stack = await startTestStack({ without: BESIDES_CHATS });
const model = await startScriptedModel();
const [victim, hostile] = [stack.api(stack.owners[0].apiKey), stack.api(stack.owners[1].apiKey)];
const [victimsAgent, hostileAgent] = [await createAgent(victim, model), await createAgent(hostile, model)];
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

/** A request of every kind, each answered within the gateway's own deadlines. */
async function expectServed(): Promise<void> {
  const paths = [`/agents/${victimsAgent}`, "/conversations", "/conversations?search=said", "/prompts", "/agents"];
  const answers = await Promise.all([
    ...paths.map((path) => victim.get(path)),
    victim.post("/chat", { agent_id: victimsAgent, message: "Hi", streaming: false }),
    victim.post("/prompts", { prompt_name: "ours", prompt_content: "Be brief." }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
}

/** From now on, the model does not answer users who say "Wait". @returns their requests, now and later */
function keepWaiting(): Exchange[] {
  const asked: Exchange[] = [];
  model.always((exchange) => {
    if (exchange.request.body.messages.at(-1)?.content === "Wait") asked.push(exchange);
    else answer(exchange);
  });
  return asked;
}

function answer(exchange: Exchange | undefined): void {
  exchange?.text("Yes.");
  exchange?.finish();
}

test("chats that wait for one idempotency key do not delay another owner", async () => {
  const asked = keepWaiting();
  const chat = { agent_id: hostileAgent, message: "Wait", streaming: false };
  let settled = 0;
  const chats = Array.from({ length: 64 }, async () => {
    const { status } = await hostile.post("/chat", chat, { "idempotency-key": "one" });
    settled++;
    return status;
  });
  await eventually(() => expect(asked).toHaveLength(1));
  for (let round = 0; round < 5; round++) await expectServed();
  expect([settled, asked.length]).toEqual([0, 1]);
  answer(asked[0]);
  expect(await Promise.all(chats)).toEqual(chats.map(() => 200));
  expect(asked).toHaveLength(1);
});

test("as many chats with hanging models as there are database connections do not delay another owner", async () => {
  const asked = keepWaiting();
  const chats = Array.from({ length: 40 }, (_, at) => {
    const headers = at % 2 === 0 ? { "idempotency-key": `key ${at}` } : {};
    return hostile.post("/chat", { agent_id: hostileAgent, message: "Wait", streaming: false }, headers);
  });
  await eventually(() => expect(asked).toHaveLength(40));
  await expectServed();
  asked.forEach(answer);
  expect((await Promise.all(chats)).map(({ status }) => status)).toEqual(chats.map(() => 200));
});

test("2,000 idle connections and 500 unfinished requests leave room for others", async () => {
  const idle = await Promise.all(Array.from({ length: 2_000 }, open));
  const unfinished = await Promise.all(Array.from({ length: 500 }, open));
  for (const [at, socket] of unfinished.entries()) {
    const length = `Content-Length: 1048576\r\nX-API-Key: ${stack.owners[1].apiKey}\r\nContent-Type: application/json\r\n\r\n{`;
    socket.write(`POST /v1/public/chat HTTP/1.1\r\nHost: parley\r\n${at % 2 === 0 ? "X-Never: ends\r\n" : length}`);
  }
  await expectServed();
  for (const socket of [...idle, ...unfinished]) socket.destroy();
});

test("requests pipelined by clients that read nothing delay nobody", async () => {
  const request = `GET /v1/public/agents HTTP/1.1\r\nHost: parley\r\nX-API-Key: ${stack.owners[1].apiKey}\r\n\r\n`;
  const silent = await Promise.all(Array.from({ length: 20 }, open));
  for (const socket of silent) socket.write(request.repeat(1_000));
  await expectServed();
  for (const socket of silent) socket.destroy();
});

test("headers and URLs over 16 KiB are refused before the key is checked", async () => {
  for (const [path, headers] of [
    ["/agents", { "x-long": "a".repeat(100_000) }],
    [`/agents/${"a".repeat(100_000)}`, {}],
  ] as const) {
    const { status } = await stack.api("").get(path, headers);
    expect([414, 431]).toContain(status);
  }
  await expectServed();
});

test("a sign-in of 1 MB is refused for its size before anything else", async () => {
  const body = { email: "nobody@example.com", password: "p".repeat(1_000_000) };
  expect((await stack.manage("").post("/sign-in", body)).status).toBe(413);
});

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(stack.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
}
