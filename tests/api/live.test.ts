import { afterAll, expect, test } from "bun:test";
import { watchEvents } from "../kit/events/live-events.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createKey, createMember } from "../kit/test-owner.ts";

const [stack, model] = await Promise.all([sharedStack(), startScriptedModel()]);
const { ownerId, apiKey } = stack.owners[0];
const api = stack.api(apiKey);
const agentId = await createAgent(api, model, { tools: { end_call: { message: "Goodbye." } } });
const withKey = (key: string, given: Record<string, string> = {}) => ({ "x-api-key": key, ...given });
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

async function beginChat(): Promise<string> {
  return (await api.post("/chat", { agent_id: agentId, message: "One", streaming: false })).body.session_id;
}

const say = (session_id: string, message: string) =>
  api.post("/chat", { agent_id: agentId, session_id, message, streaming: false });

test("a chat is watched from its snapshot to later messages, and resumed behind the last one", async () => {
  const sessionId = await beginChat();
  const path = `/conversations/${sessionId}/events`;
  const watcher = await watchEvents(stack.url, path, withKey(apiKey));
  const { data: snapshot } = await watcher.next("snapshot");
  expect(snapshot.conversation.conversation_transcript).toHaveLength(2);
  expect(snapshot).toMatchObject({ state: { muted: false, taken_over: null }, partial: [] });
  await say(sessionId, "Two");
  const { data: message } = await watcher.next("message");
  expect(message).toMatchObject({ seq: 3, final: true, role: "user", content: "Two" });
  watcher.leave();
  await say(sessionId, "Three");
  const again = await watchEvents(stack.url, path, withKey(apiKey, { "last-event-id": watcher.lastId() }));
  const seen: number[] = [];
  while (seen.at(-1) !== 6) {
    const { data } = await again.next("message");
    if (data.final) seen.push(data.seq);
  }
  expect(seen).toEqual([4, 5, 6]);
  again.leave();
});

test("a stream of all conversations tells of one that begins", async () => {
  const watcher = await watchEvents(stack.url, "/conversations/events", withKey(apiKey));
  const sessionId = await beginChat();
  for (;;) {
    const { data } = await watcher.next("started");
    if (data.conversation_id !== sessionId) continue;
    expect(data).toMatchObject({ agent_id: agentId, conversation_type: "CHAT", conversation_status: "IN_PROGRESS" });
    break;
  }
  watcher.leave();
});

test("a stream ends with a reason once its key is revoked, or its session signs out", async () => {
  const sessionId = await beginChat();
  const path = `/conversations/${sessionId}/events`;
  const key = await createKey(stack.accounts, ownerId, { scopes: ["conversations:read"] });
  const watcher = await watchEvents(stack.url, path, withKey(key.apiKey));
  await watcher.next("snapshot");
  await stack.accounts.deactivateKey({ ownerId, keyId: key.keyId });
  expect((await watcher.next("error")).data).toEqual({ reason: "API key is inactive" });
  expect(await watcher.rest()).toEqual([]);

  const member = await createMember(stack);
  const signedIn = await watchEvents(stack.url, "/conversations/events", { cookie: `parley_session=${member.token}` });
  await member.manage.post("/sign-out", {});
  expect((await signedIn.next("error")).data).toEqual({ reason: "The session has ended. Sign in again." });
});

test("conversations that cannot be watched are refused before the stream begins", async () => {
  const unknown = await watchEvents(stack.url, `/conversations/${Bun.randomUUIDv7()}/events`, withKey(apiKey));
  expect(unknown.status).toBe(404);
  const sessionId = await beginChat();
  const foreign = stack.owners[1].apiKey;
  expect((await watchEvents(stack.url, `/conversations/${sessionId}/events`, withKey(foreign))).status).toBe(403);
});
