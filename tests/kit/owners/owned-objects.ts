import { expect } from "bun:test";
import { newId, newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import postgres from "postgres";
import type { Api } from "../api.ts";
import { type OpenCallers, openCallers } from "../open-callers.ts";
import { placeRecording } from "../recordings.ts";
import type { ScriptedModel } from "../scripted-model.ts";
import type { RunningStack } from "../stack/use-stack.ts";
import { createAgent } from "../test-agent.ts";
import { createSession, PASSWORD, type TestOwner } from "../test-owner.ts";
import { addTrunkNumber } from "../trunk.ts";
import { connectWhatsApp } from "../whatsapp.ts";

/** An owner with an object of every kind. */
export interface OwnedObjects {
  api: Api;
  manage: Api;
  /** The objects' names: IDs, numbers and names, by the fields, query and path parameters that hold them in the public API. */
  names: Readonly<Record<string, string>>;
  /** What the owner's providers and pages show instead of a key. */
  callers: OpenCallers;
}

/**
 * Creates an object of every kind.
 * @param canary a text in every object, and in no other owner's
 */
export async function createObjects(
  stack: RunningStack,
  model: ScriptedModel,
  owner: TestOwner,
  canary: string,
): Promise<OwnedObjects> {
  const api = stack.api(owner.apiKey);
  const [mobile_number, trunk_number, whatsapp_number] = [aNumber(), aNumber(), aNumber()];
  const agent_id = await createAgent(api, model, {
    agent_name: canary,
    prompt_content: `${canary} {{company}}`,
    first_message_prompt: canary,
    agent_mobile_number: [trunk_number],
    tools: { end_call: { message: canary } },
    widget_config: { title: canary, allowed_origins: ["https://shop.example"] },
  });
  // Connecting ends every session, so it comes before the session.
  const whatsApp = await connectWhatsApp(stack, owner.ownerId, whatsapp_number, agent_id);
  const token = await createSession(stack, owner.ownerId);
  const manage = stack.manage(token);
  const callers = await openCallers(stack, manage);
  callers.whatsApp = whatsApp;
  const made = madeBy(api, canary);
  const managed = madeBy(manage);
  await addTrunkNumber(stack.accounts, owner.ownerId, trunk_number);
  // Before there is a destination, so that the call's end leaves nothing to do.
  const call = await endedCall(api, made, { agent_id, to_mobile_number: CALLEE, metadata: { note: canary } });
  await made("/prompts", { prompt_name: canary, prompt_content: canary });
  const label = `label_${canary}`.slice(0, 64);
  const labelled = await api.send("PUT", `/prompts/${canary}/labels/${label}`, {
    body: JSON.stringify({ prompt_version: 1 }),
    headers: { "content-type": "application/json" },
  });
  expect(labelled.status).toBe(200);
  const batch = { agent_id, calls: [{ to_mobile_number: CALLEE }], start_at: "2999-01-01", metadata: { note: canary } };
  const { batch_id } = await made("/call-batches", batch);
  const webCall = await made("/web-calls", { agent_id, metadata: { note: canary } });
  callers.remember("createWebCall", webCall);
  const visitor = await stack.api("").post("/widget-tokens", { agent_id }, { origin: "https://shop.example" });
  callers.remember("createWidgetToken", visitor.body);
  const daily = await made("/daily/sessions", { agent_id, metadata: { note: canary } });
  await keepWaiting(stack, daily.conversation_id);
  const secret_name = `secret_${canary}`.slice(0, 64);
  await managed("/secrets", { name: secret_name, value: `value of ${canary}` });
  const tool = await made("/tools", {
    name: "look_up",
    description: canary,
    type: "http",
    method: "GET",
    url: `https://shop.example/${canary}`,
    auth: { type: "bearer", secret: secret_name },
  });
  const base = await made("/knowledge-bases", { name: canary, description: canary });
  const documents = `/knowledge-bases/${base.id}/documents`;
  const document = await made(documents, { name: canary, text: `About ${canary}` });
  await eventually(async () => expect((await api.get(`${documents}/${document.id}`)).body.status).toBe("READY"));
  const found = await made(`/knowledge-bases/${base.id}/search`, { query: canary });
  const { key_id } = await managed("/keys", { name: canary });
  const hook = { name: canary, url: `http://127.0.0.1:1/${canary}`, request_type: "POST" };
  const { destination_id } = await managed("/destinations", hook);
  const { alert_id } = await managed("/alerts", { name: canary, metric: "cost", window_minutes: 5, threshold: 1 });
  const chat = { agent_id, message: canary, streaming: false, metadata: { note: canary } };
  model.next((exchange) => {
    exchange.toolCall("end_call", { message: canary });
    exchange.finish();
  });
  const { session_id: conversation_id } = await made("/chat", chat);
  const { session_id } = await made("/chat", chat);
  const tested = await testsOf(api, { agent_id, conversation_id, canary }, made);
  await placeRecording(stack, { ownerId: owner.ownerId, conversationId: conversation_id });
  const delivery = await failedDelivery(manage, conversation_id);
  await managed("/mobile-numbers", { mobile_number, telephony_provider: "TWILIO" });
  await managed("/do-not-call", { mobile_number });
  const voice = { provider: "OPENAI", voice_id: newUuid(), name: canary, gender: "NEUTRAL", language: "en" };
  await managed("/cloned-voices", voice);
  const trunk = { provider: "SIP", host: "trunk.example", username: canary, password: canary };
  // Parley does not register with a trunk that has addresses, so nothing changes by itself.
  const { carrier_id } = await managed("/carriers", { ...trunk, allowed_addresses: ["192.0.2.1"] });
  const names = {
    agent_id,
    prompt_name: canary,
    label,
    call_id: call.call_id,
    batch_id,
    conversation_id,
    session_id,
    web_call_id: webCall.conversation_id,
    widget_token: visitor.body.token,
    daily_session_id: daily.conversation_id,
    room_name: daily.room_name,
    tool_id: tool.id,
    ...tested,
    knowledge_base_id: base.id,
    document_id: document.id,
    chunk_id: found.chunks[0].chunk_id,
    secret_name,
    key_id,
    owner_session_id: await otherSession(stack, manage, owner.ownerId),
    destination_id,
    alert_id,
    delivery_id: delivery.delivery_id,
    event_id: delivery.event_id,
    mobile_number,
    trunk_number,
    whatsapp_number,
    provider: voice.provider,
    voice_id: voice.voice_id,
    carrier_id,
    connection_id: whatsApp.connectionId,
    phone_number_id: whatsApp.phoneNumberId,
    callback_id: callers.ids("handleTwilioCallback").callback_id ?? "",
    plivo_callback_id: callers.ids("handlePlivoCallback").callback_id ?? "",
  };
  const missing = Object.keys(names).filter((field) => !names[field as keyof typeof names]);
  if (missing.length > 0) throw new Error(`No ${missing.join()} of ${JSON.stringify(names)}`);
  return { api, manage, callers, names };
}

/** A test, and a run and a replay that have ended, so that nothing of them changes by itself. */
export async function testsOf(
  api: Api,
  { agent_id, conversation_id, canary }: { agent_id: string; conversation_id: string; canary: string },
  made = madeBy(api),
): Promise<Record<"test_id" | "run_id" | "replay_id", string>> {
  const path = `/agents/${agent_id}`;
  const assertions = [{ type: "not_contains", value: canary }];
  const { test_id } = await made(`${path}/tests`, { name: canary, messages: [canary], assertions });
  const { run_id } = await made(`${path}/tests/run`, {});
  const conversations = { conversation_ids: [conversation_id] };
  const { replay_id } = await made(`${path}/replays`, { agent_version: "latest", conversations });
  await eventually(async () => {
    for (const part of [`tests/runs/${run_id}`, `replays/${replay_id}`])
      expect((await api.get(`${path}/${part}`)).body.ended_at).not.toBeNull();
  });
  return { test_id, run_id, replay_id };
}

/** The idempotency key that `createObjects` sends to a route. @param path below `/v1/public` */
export function keyFor(canary: string, path: string): string {
  return `${canary} ${path}`;
}

/** Names of the same forms that no owner's objects have. */
export function unknownNames(names: OwnedObjects["names"]): OwnedObjects["names"] {
  return Object.fromEntries(Object.entries(names).map(([field, name]) => [field, unknownLike(field, name)]));
}

function unknownLike(field: string, name: string): string {
  const prefix = /^([a-z]{2,4})_[0-9a-z]{26}$/.exec(name)?.[1];
  if (prefix) return newId(prefix as Parameters<typeof newId>[0]);
  if (/^[0-9a-f-]{36}$/.test(name)) return newUuid();
  if (name.startsWith("+")) return aNumber();
  return field === "provider" ? name : name.replaceAll(/[a-z]/gi, "u");
}

/** A number that the stand-ins know nothing about, at which nothing is listening. */
const CALLEE = "+14155550123";

/** A number in North America that no other owner of the stack has. */
function aNumber(): string {
  return `+1${String(2_015_550_000 + Math.trunc(Math.random() * 7_000_000_000)).slice(0, 10)}`;
}

/** @param keyed the first request of each route has the key that `keyFor` makes of it */
function madeBy(api: Api, keyed?: string) {
  const used = new Set<string>();
  return async (path: string, body: object) => {
    const isKeyed = keyed !== undefined && !used.has(path);
    used.add(path);
    const answer = await api.post(path, body, isKeyed ? { "idempotency-key": keyFor(keyed, path) } : {});
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
}

/** A call that has ended, and its conversation with it. */
async function endedCall(api: Api, made: ReturnType<typeof madeBy>, body: object): Promise<{ call_id: string }> {
  const { call_id, conversation_id } = await made("/calls", body);
  await made(`/calls/${call_id}/hangup`, {});
  return eventually(async () => {
    const call = (await api.get(`/calls/${call_id}`)).body;
    expect(call.status).toBe("ENDED");
    const conversation = await api.get(`/conversations/${conversation_id}`);
    expect(conversation.body.conversation_status).not.toBe("IN_PROGRESS");
    return call;
  });
}

/** Lets a Daily session wait for good, so that nothing of it changes by itself. */
async function keepWaiting({ databaseUrls }: RunningStack, conversationId: string): Promise<void> {
  const sql = postgres(databaseUrls.voice, { max: 1, onnotice: () => {} });
  await eventually(async () => {
    const { count } = await sql`
      update daily_sessions set waits_until = '2999-01-01' where conversation_id = ${conversationId} and is_started`;
    expect(count).toBe(1);
  });
  await sql.end();
}

function failedDelivery(manage: Api, conversationId: string): Promise<{ delivery_id: string; event_id: string }> {
  return eventually(async () => {
    const { body } = await manage.get(`/deliveries?conversation_id=${conversationId}`);
    expect(body.deliveries).toMatchObject([{ status: "failed" }]);
    return body.deliveries[0];
  });
}

/** The id of a second session. */
async function otherSession(stack: RunningStack, manage: Api, ownerId: string): Promise<string> {
  const { owner } = await stack.accounts.getOwner({ ownerId });
  await stack.accounts.signIn({ email: owner?.email ?? "", password: PASSWORD });
  const { sessions } = (await manage.get("/sessions")).body;
  return sessions.find((session: { is_current: boolean }) => !session.is_current).session_id;
}
