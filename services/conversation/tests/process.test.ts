import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type ServiceProcess, startServiceProcess } from "@parley/testkit/programs/service-process";
import type { ModelCall } from "@parley/testkit/scripted-model";
import {
  type ChatClient,
  chatClient,
  createAgent,
  failure,
  leavable,
  listen,
  startTestChat,
  transcript,
  turn,
} from "./kit.ts";

let running: ServiceProcess;
let chat: ChatClient;

const service = await startTestChat();
const agent = await createAgent(service);

afterAll(() => service.stop());

beforeEach(async () => {
  running = await start();
  chat = chatClient(running.address);
});

afterEach(async () => {
  chat.close();
  await running.stop();
  expect(running.output).not.toContain('"fault"');
});

function start(env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startServiceProcess("conversation", { ...service.env, PARLEY_TURN_LEASE_MS: "1000", ...env });
}

async function restart(env: Record<string, string>): Promise<void> {
  chat.close();
  await running.stop();
  running = await start(env);
  chat = chatClient(running.address);
}

/** A turn whose model has begun to answer and has not ended. */
async function turnUnderway(given: Parameters<typeof turn>[2] = {}) {
  const called = new Promise<ModelCall>((resolve) => {
    service.model.script = resolve;
  });
  const { origin, leave } = leavable();
  const heard = listen(chat, turn(agent, "Hi", given), { origin });
  const { sessionId = "" } = (await heard.next()).value as { sessionId?: string };
  const pending = heard.next();
  const call = await called;
  call.piece("One ");
  call.piece("two");
  expect((await pending).value).toEqual({ text: "One " });
  return { heard, call, leave, sessionId };
}

test("a stopping process lets a running turn end, stores it and exits with 0", async () => {
  const { heard, call, sessionId } = await turnUnderway();
  const stopped = running.stop();
  call.piece(" three");
  call.finish();
  expect((await Array.fromAsync(heard)).map(({ text }) => text).join("")).toBe("two three");
  expect(await stopped).toBe(0);
  expect(await transcript(service, agent, sessionId)).toEqual(["user: Hi", "assistant: One two three"]);
});

test("a turn that does not end in time is cut off with an error and stored as a partial reply", async () => {
  await restart({ PARLEY_DRAIN_MS: "200" });
  const { heard, call, sessionId } = await turnUnderway();
  const ended = failure(Array.fromAsync(heard));
  expect(await running.stop()).toBe(0);
  expect(await ended).toMatchObject({ kind: "unavailable" });
  await call.left;
  expect(await transcript(service, agent, sessionId)).toEqual(["user: Hi", "assistant: One two"]);
});

test("a turn with an idempotency key outlives its client, and a stop stores its partial reply", async () => {
  await restart({ PARLEY_DRAIN_MS: "200" });
  const idempotency = { key: "k", fingerprint: Buffer.alloc(32) };
  const { heard, call, leave, sessionId } = await turnUnderway({ idempotency });
  leave();
  expect(await failure(Array.fromAsync(heard))).toMatchObject({ kind: "cancelled" });
  call.piece(" three");
  expect(await running.stop()).toBe(0);
  await call.left;
  expect((await transcript(service, agent, sessionId))[1]).toStartWith("assistant: One two");
  const [row] = await service.sql`select partial from messages where conversation_id = ${sessionId} and seq = 2`;
  expect(row?.partial).toBe(true);
});

test("a message survives a process killed during its turn, and another process continues after the lease", async () => {
  const { heard, sessionId } = await turnUnderway();
  const ended = failure(Array.fromAsync(heard));
  expect(await running.stop("SIGKILL")).toBeNull();
  expect(await ended).toMatchObject({ kind: "unavailable" });
  running = await start();
  chat.close();
  chat = chatClient(running.address);
  service.model.script = (call) => call.finish("Back.");
  await eventually(() => chat.completeTurn({ turn: turn(agent, "Still there?", { sessionId }) }));
  expect(await transcript(service, agent, sessionId)).toEqual(["user: Hi", "user: Still there?", "assistant: Back."]);
});

test("a streamed reply survives a killed process up to its last checkpoint", async () => {
  await restart({ PARLEY_REPLY_CHECKPOINT_MS: "10" });
  const { heard, sessionId } = await turnUnderway();
  const ended = failure(Array.fromAsync(heard));
  const said = ["user: Hi", "assistant: One two"];
  await eventually(async () => expect(await transcript(service, agent, sessionId)).toEqual(said));
  await running.stop("SIGKILL");
  expect(await ended).toMatchObject({ kind: "unavailable" });
  expect(await transcript(service, agent, sessionId)).toEqual(said);
  await restart({});
  service.model.script = (call) => call.finish("Back.");
  await eventually(() => chat.completeTurn({ turn: turn(agent, "Still there?", { sessionId }) }));
  expect(await transcript(service, agent, sessionId)).toEqual([...said, "user: Still there?", "assistant: Back."]);
});

test("a process prints only its log, one JSON object per line", async () => {
  service.model.script = (call) => call.finish("Hello.");
  await chat.completeTurn({ turn: turn(agent) });
  service.model.script = (call) => call.respond(500, "text/plain", "x");
  await failure(chat.completeTurn({ turn: turn(agent) }));
  for (const line of running.output.trim().split("\n")) {
    expect(JSON.parse(line)).toMatchObject({ service: "conversation" });
    expect(line).not.toContain("sk-customer");
  }
});

test("a wrong setting is reported by name with the problem", async () => {
  const starting = start({ PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1, not a host", PARLEY_CHAT_IDLE_MINUTES: "soon" });
  const said = await starting.then(
    () => "it started",
    (error) => String(error),
  );
  expect(said).toContain("PARLEY_ALLOWED_PRIVATE_HOSTS");
  expect(said).toContain("not a host");
  expect(said).toContain("PARLEY_CHAT_IDLE_MINUTES");
});
