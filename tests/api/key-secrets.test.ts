import { afterAll, expect, test } from "bun:test";
import { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { wavHeader } from "@parley/shared/media/wav";
import { createClient } from "@parley/shared/rpc/client";
import type { Api } from "../kit/api.ts";
import { openOwnerRows } from "../kit/rows/owner-rows.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent, llmOf } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

const NAME = "model_key";
const [FIRST, SECOND, FOREIGN] = ["sk-first-012345", "sk-second-012345", "sk-foreign-012345"];

const stack = await sharedStack();
const model = await startScriptedModel();
const rows = await openOwnerRows(stack.databaseUrls);
const voices = createClient(VoiceServiceService, { peer: "voice", address: stack.address("voice") });
const conversations = createClient(ConversationServiceService, {
  peer: "conversation",
  address: stack.address("conversation"),
});
/** The keys that the owner's speech server was sent. */
const heard: (string | null)[] = [];
const speech = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ headers }) => {
    heard.push(headers.get("authorization"));
    return new Response(Buffer.concat([wavHeader({ samplesPerSecond: 16_000, channels: 1 }), Buffer.alloc(32_000)]));
  },
});
const [owner, other] = stack.owners;
const api = stack.api(owner.apiKey);
const manage = stack.manage(await createSession(stack, owner.ownerId));
afterAll(async () => {
  voices.close();
  conversations.close();
  await Promise.all([rows.close(), model.stop(), speech.stop(true), stack.stop()]);
});

const sent = (by: Api, method: string, path: string, body: object) =>
  by.send(method, path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
const withKey = (api_key: unknown) => {
  const llm = llmOf(model);
  return { ...llm, params: { ...llm.params, api_key } };
};

test("a model and a speech server whose key is a secret are sent its owner's current value, which no row has in plain text", async () => {
  const theirs = stack.manage(await createSession(stack, other.ownerId));
  expect((await manage.post("/secrets", { name: NAME, value: FIRST })).status).toBe(200);
  expect((await theirs.post("/secrets", { name: NAME, value: FOREIGN })).status).toBe(200);
  const key = { secret: NAME };
  const server = { base_url: `${speech.url.origin}/v1`, api_key: key };
  const tts = { provider_name: "CUSTOM_TTS", voice_id: "any", params: server };
  const agentId = await createAgent(api, model, { llm: withKey(key), tts });
  const shown = (await api.get(`/agents/${agentId}`)).body;
  expect([shown.llm.params.api_key, shown.tts.params]).toEqual([key, server]);

  const keysOfTurn = async (session: object) => {
    const { status, body } = await api.post("/chat", { agent_id: agentId, message: "Hello", ...session });
    expect(status).toBe(200);
    await voices.speak({ ownerId: owner.ownerId, agentId, text: "Hello." });
    return { session_id: body.session_id, keys: [model.requests.at(-1)?.authorization, heard.at(-1)] };
  };
  const first = await keysOfTurn({});
  expect(first.keys).toEqual([`Bearer ${FIRST}`, `Bearer ${FIRST}`]);
  expect((await sent(manage, "PUT", `/secrets/${NAME}`, { value: SECOND })).status).toBe(200);
  const { keys } = await keysOfTurn({ session_id: first.session_id });
  expect(keys).toEqual([`Bearer ${SECOND}`, `Bearer ${SECOND}`]);

  const tried = { agent_id: agentId, message: "Hello", streaming: false, draft: { agent_description: "Unsaved" } };
  const tested = await manage.post("//v1/public/chat", tried);
  expect(tested.status).toBe(200);
  expect(model.requests.at(-1)?.authorization).toBe(`Bearer ${SECOND}`);
  // As a test's judge is asked, whose answer is not what counts here.
  const judge = { providerName: "CUSTOM_LLM", modelName: "judge", params: { baseUrl: model.baseUrl, keySecret: NAME } };
  const question = { ownerId: owner.ownerId, agentId, agentVersion: 1, system: "Judge.", message: "Hello", schema: {} };
  await conversations.askForJson({ ...question, llm: LlmConfig.fromPartial(judge) }).catch(() => {});
  expect(model.requests.at(-1)).toMatchObject({ authorization: `Bearer ${SECOND}`, body: { model: "judge" } });

  const refused = await manage.send("DELETE", `/secrets/${NAME}`);
  expect(refused.status).toBe(409);
  expect(refused.body.detail).toContain(agentId);
  await sent(api, "PATCH", `/agents/${agentId}`, { llm: withKey("sk-text-0123456789"), tts: null });
  const { changes } = (await api.get(`/agents/${agentId}/versions/1/diff/2`)).body;
  expect(changes).toContainEqual({ field: "llm.params.api_key", from: key, to: "********6789" });
  expect((await manage.send("DELETE", `/secrets/${NAME}`)).status).toBe(200);
  // A draft does not keep it, and comes with each message.
  const draft = { llm: withKey(key) };
  const onDraft = await manage.post("//v1/public/chat", { ...tried, session_id: tested.body.session_id, draft });
  expect([onDraft.status, onDraft.body.detail]).toEqual([422, expect.stringContaining(`there is no ${NAME}`)]);
  const stored = (await rows.of(owner.ownerId)).join("\n");
  for (const value of [FIRST, SECOND]) expect(stored).not.toContain(value);
});
