import { afterAll, expect, test } from "bun:test";
import { DEFAULT_EVENTS } from "@parley/shared/portable/events";
import { eventually } from "@parley/testkit/eventually";
import type { Answer, Api } from "../kit/api.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner, createSession } from "../kit/test-owner.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

/** The requests that the receiver got, and its answer. */
const received: { event: string | null; payload: { conversation_id: string } }[] = [];
let status = 200;

const stack = await sharedStack();
const model = await startScriptedModel();
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const form = await request.formData();
    received.push({ event: String(form.get("event")), payload: JSON.parse(String(form.get("payload"))) });
    return new Response("thank you", { status });
  },
});
afterAll(async () => {
  await receiver.stop(true);
  await model.stop();
  await stack.stop();
});

const problem = ({ status, body }: Answer) => ({ status, ...body });
/** Waits at the receiver, because polling the API would use up the session's requests. */
const receives = (total: number) => eventually(() => expect(received.length).toBeGreaterThanOrEqual(total));
const member = async () => {
  const owner = await createOwner(stack.accounts);
  return { ...owner, manage: stack.manage(await createSession(stack, owner.ownerId)) };
};
const hook = () => ({ name: "Ours", url: `http://127.0.0.1:${receiver.port}/hook`, request_type: "POST" });
const patch = (manage: Api, path: string, body: object) =>
  manage.send("PATCH", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });

test("a destination is created with its secret, listed without, changed, given a new secret, and deleted", async () => {
  const { manage } = await member();
  const made = await manage.post("/destinations", hook());
  const { secret, ...destination } = made.body;
  expect(made.body).toEqual({
    destination_id: expect.stringMatching(/^whd_[0-9a-z]{26}$/),
    ...hook(),
    retry_schedule: "standard",
    events: [...DEFAULT_EVENTS],
    status: "enabled",
    secret: expect.stringMatching(/^whsec_/),
    old_secret_valid_until: null,
    created_at: TIME,
    updated_at: TIME,
  });
  expect((await manage.get("/destinations")).body).toEqual({ destinations: [destination] });

  const path = `/destinations/${destination.destination_id}`;
  const changed = await patch(manage, path, { status: "disabled", request_type: "PUT" });
  expect(changed.body).toEqual({ ...destination, status: "disabled", request_type: "PUT", updated_at: TIME });
  const other = { name: "Theirs", retry_schedule: "extended" };
  expect((await patch(manage, path, other)).body).toMatchObject({ ...other, status: "disabled" });

  const rotated = await manage.send("POST", `${path}/rotate-secret`);
  expect(rotated.body).toEqual({
    destination_id: destination.destination_id,
    secret: expect.stringMatching(/^whsec_/),
    old_secret_valid_until: TIME,
  });
  expect(rotated.body.secret).not.toBe(secret);
  const [listed] = (await manage.get("/destinations")).body.destinations;
  expect(listed.old_secret_valid_until).toBe(rotated.body.old_secret_valid_until);

  expect((await manage.send("DELETE", path)).body).toEqual({ message: "Destination deleted" });
  expect(problem(await manage.send("DELETE", path))).toEqual({ status: 404, detail: "Destination not found" });
});

test("a sample event reaches its destination and shows in the log of deliveries", async () => {
  const { manage } = await member();
  const { destination_id } = (await manage.post("/destinations", hook())).body;
  const before = received.length;
  const { delivery_id } = (await manage.send("POST", `/destinations/${destination_id}/test`)).body;
  await receives(before + 1);
  const delivery = await eventually(async () => {
    const { body } = await manage.get(`/deliveries/${delivery_id}`);
    expect(body.status).toBe("delivered");
    return body;
  });
  const { payload } = received.at(-1) ?? {};
  const attempt = {
    number: 1,
    started_at: TIME,
    duration_ms: expect.any(Number),
    http_status: 200,
    error: null,
    response_excerpt: "thank you",
  };
  const listed = {
    delivery_id,
    destination_id,
    event_id: expect.stringMatching(/^evt_/),
    event: "conversation.completed",
    conversation_id: payload?.conversation_id,
    is_test: true,
    status: "delivered",
    attempts: [attempt],
    next_attempt_at: null,
    created_at: TIME,
  };
  const headers = {
    "user-agent": "Parley",
    "content-type": expect.stringMatching(/^multipart/),
    "webhook-id": expect.stringMatching(/^evt_/),
    "webhook-timestamp": expect.stringMatching(/^\d+$/),
    "webhook-signature": expect.stringMatching(/^v1,/),
  };
  const request = { method: "POST", url: hook().url, headers };
  expect(delivery).toEqual({ ...listed, payload: expect.any(String), attempts: [{ ...attempt, request }] });
  expect(JSON.parse(delivery.payload)).toEqual(payload);
  const page = { total: 1, page: 1, page_size: 10, total_pages: 1 };
  for (const query of ["", `?destination_id=${destination_id}&status=delivered`]) {
    expect((await manage.get(`/deliveries${query}`)).body).toEqual({ deliveries: [listed], ...page });
  }
  for (const query of ["?status=failed", "?conversation_id=none", "?destination_id=none", "?page=2"]) {
    expect((await manage.get(`/deliveries${query}`)).body.deliveries).toEqual([]);
  }
  await patch(manage, `/destinations/${destination_id}`, { status: "disabled" });
  expect(problem(await manage.send("POST", `/destinations/${destination_id}/test`))).toMatchObject({ status: 400 });
});

test("a chat that ends is an event, and failed deliveries can be resent, one or all", async () => {
  const { manage, apiKey } = await member();
  const { destination_id } = (await manage.post("/destinations", hook())).body;
  status = 503;
  const before = received.length;
  const agentId = await createAgent(stack.api(apiKey), model, { tools: { end_call: true } });
  model.next((exchange) => {
    exchange.toolCall("end_call", { message: "Bye." });
    exchange.finish();
  });
  const chat = await stack.api(apiKey).post("/chat", { agent_id: agentId, message: "Bye", streaming: false });
  const conversation = `conversation_id=${chat.body.session_id}`;
  const find = async (wanted: string) => {
    const { deliveries } = (await manage.get(`/deliveries?${conversation}&status=${wanted}`)).body;
    expect(deliveries).toHaveLength(1);
    return deliveries[0];
  };
  await receives(before + 4);
  const failed = await eventually(() => find("failed"));
  expect(failed.attempts.map(({ http_status }: { http_status: number }) => http_status)).toEqual([503, 503, 503, 503]);

  status = 204;
  const resent = await manage.send("POST", `/deliveries/${failed.delivery_id}/resend`);
  expect(resent.body).toMatchObject({ delivery_id: failed.delivery_id, event: "conversation.completed" });
  await receives(before + 5);
  expect((await eventually(() => find("delivered"))).attempts).toHaveLength(5);

  const all = (since: string) => manage.post(`/destinations/${destination_id}/resend-failed`, { since });
  expect((await all("2020-01-01")).body).toEqual({ resent: 0 });
  status = 500;
  await manage.send("POST", `/deliveries/${failed.delivery_id}/resend`);
  await receives(before + 9);
  await eventually(() => find("failed"));
  status = 200;
  expect((await all("2999-01-01")).body).toEqual({ resent: 0 });
  expect((await all("2020-01-01")).body).toEqual({ resent: 1 });
  await receives(before + 10);
  await eventually(() => find("delivered"));
  expect(problem(await all("then"))).toMatchObject({ status: 422, errors: [{ path: "since" }] });
});
