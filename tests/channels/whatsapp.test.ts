import { afterAll, expect, test } from "bun:test";
import { createHmac, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { newId } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { connectWhatsApp, controlWhatsApp } from "../kit/whatsapp.ts";

const stack = await sharedStack();
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text("We open at nine.");
  exchange.finish();
});
const api = stack.api(stack.owners[0].apiKey);
const agentId = await createAgent(api, model);
afterAll(async () => {
  await model.stop();
  await stack.stop();
});

const connectNumber = (owner: 0 | 1, mobileNumber: string, agent: string) =>
  connectWhatsApp(stack, stack.owners[owner].ownerId, mobileNumber, agent);
const number = await connectNumber(0, "+15105550100", agentId);
const control = (path: string, body?: object) => controlWhatsApp(stack, path, body);

const write = (from: string, text: string, to = number) =>
  control("messages", { phone_number_id: to.phoneNumberId, from, text });

function textsTo(person: string, count: number): Promise<string[]> {
  return eventually(async () => {
    const { messages } = await control(`messages?to=${person}`);
    expect(messages.length).toBeGreaterThanOrEqual(count);
    return messages.map(({ text }: { text: string }) => text);
  });
}

function callback(from: string, text: string, id = `wamid.${randomBytes(8).toString("hex")}`): string {
  const message = { from, id, timestamp: "1749416383", type: "text", text: { body: text } };
  const value = { metadata: { phone_number_id: number.phoneNumberId }, messages: [message] };
  return JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] });
}

function post(body: string, { url = number.callbackUrl, secret = number.appSecret, headers = {} } = {}) {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const own = { "X-Hub-Signature-256": `sha256=${signature}`, "X-Forwarded-For": "10.1.1.1" };
  return fetch(url, { method: "POST", body, headers: { ...own, ...headers } });
}

const conversationsWith = async (from: string) =>
  (await api.get("/conversations?page_size=100")).body.data.filter(
    ({ conversation_metadata: { from_mobile_number: person } }: { conversation_metadata: Record<string, string> }) =>
      person === `+${from}`,
  );

test("a person who writes gets the agent's reply, and the conversation shows both messages and the delivery", async () => {
  const from = "4917012340001";
  expect(await write(from, "When do you open?")).toMatchObject({ callback_status: 200 });
  expect(await textsTo(from, 1)).toEqual(["We open at nine."]);
  await eventually(async () => {
    expect(await conversationsWith(from)).toMatchObject([
      {
        conversation_type: "WHATSAPP",
        conversation_status: "IN_PROGRESS",
        mobile_number: `+${from}`,
        conversation_transcript: [
          { role: "user", content: "When do you open?" },
          { role: "assistant", content: "We open at nine.", delivery_status: "read" },
        ],
      },
    ]);
  });
});

test("a template opens a conversation in which the person's answer is answered", async () => {
  const to = "4917012340002";
  const sent = await api.post("/whatsapp/messages", {
    agent_id: agentId,
    to_mobile_number: `+${to}`,
    template: { name: "order_update", language: "en_US" },
  });
  expect(sent).toMatchObject({ status: 200, body: { status: "QUEUED" } });
  expect(await textsTo(to, 1)).toEqual(["order_update"]);
  await write(to, "Thanks. When do you open?");
  expect(await textsTo(to, 2)).toEqual(["order_update", "We open at nine."]);
  const [conversation] = await conversationsWith(to);
  expect(conversation).toMatchObject({ conversation_id: sent.body.conversation_id });
  expect(conversation.conversation_transcript).toHaveLength(3);
});

test("a callback counts only with a signature by its own connection's secret over exactly these bytes", async () => {
  const body = callback("4917012340003", "forged");
  const other = await connectNumber(1, "+15105550101", agentId);
  for (const [what, forged] of Object.entries({
    "another owner's secret": post(body, { secret: other.appSecret }),
    "another owner's connection": post(body, { url: other.callbackUrl }),
    "no signature": fetch(number.callbackUrl, { method: "POST", body, headers: { "X-Forwarded-For": "10.1.1.1" } }),
    "a signature of other bytes": post(body, {
      headers: {
        "X-Hub-Signature-256": `sha256=${createHmac("sha256", number.appSecret).update(`${body} `).digest("hex")}`,
      },
    }),
    "the digest alone": post(body, {
      headers: { "X-Hub-Signature-256": createHmac("sha256", number.appSecret).update(body).digest("hex") },
    }),
  })) {
    expect([what, (await forged).status]).toEqual([what, 403]);
  }
  // The other owner's signature is valid, but only for its own connection.
  expect((await post(body, { url: other.callbackUrl, secret: other.appSecret })).status).toBe(200);
  expect(await conversationsWith("4917012340003")).toEqual([]);
});

test("the handshake answers with the challenge, as text, to whoever knows the token of this connection alone", async () => {
  const shake = (query: Record<string, string>, url = number.callbackUrl) =>
    fetch(`${url}?${new URLSearchParams(query)}`, { headers: { "X-Forwarded-For": "10.1.1.2" } });
  const wrong = { "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": "guess" };
  expect((await shake(wrong)).status).toBe(403);
  expect((await shake(wrong, `${stack.url}/v1/carriers/whatsapp/car_unknown`)).status).toBe(403);
  expect((await shake({ ...wrong, "hub.challenge": "<script>" })).status).toBe(400);
  expect((await shake({})).status).toBe(400);
});

test("a callback for no connection, not in JSON, too long, or compressed is refused", async () => {
  const body = callback("4917012340004", "Hi");
  const status = async (response: Promise<Response>) => (await response).status;
  expect(await status(post(body, { url: `${stack.url}/v1/carriers/whatsapp/car_01m7yyhwdzeb28n9gms8rr2qyg` }))).toBe(
    404,
  );
  expect(await status(post(body, { url: `${stack.url}/v1/carriers/whatsapp/..%2f..%2fmanage` }))).toBe(404);
  expect(await status(post("{"))).toBe(400);
  expect(await status(post("x".repeat(3 * 1024 * 1024 + 1)))).toBe(413);
  expect(await status(post(body, { headers: { "Content-Encoding": "gzip" } }))).toBe(415);
});

test("a callback without anything useful is accepted, because WhatsApp would otherwise resend it for a week", async () => {
  for (const body of ["{}", "[]", "null", '{"entry":[{"changes":[{"field":"account_update","value":{}}]}]}'])
    expect([body, (await post(body)).status]).toEqual([body, 200]);
});

test("an address that guesses signatures is stopped, and Meta is not", async () => {
  const from = { "X-Forwarded-For": "10.1.1.3" };
  const body = callback("4917012340005", "Hi");
  const guesses = Array.from({ length: 70 }, () => post(body, { secret: "guess", headers: from }));
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(10);
  expect((await post(callback("4917012340006", "Hi"))).status).toBe(200);
  expect(await textsTo("4917012340006", 1)).toEqual(["We open at nine."]);
});

test("bodies that never end hold up no callback of their own or another connection", async () => {
  const { hostname, port, pathname } = new URL(number.callbackUrl);
  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: parley\r\nX-Forwarded-For: 10.1.1.4\r\nContent-Length: 3000000\r\n\r\n{`;
  const slow = Array.from({ length: 60 }, (_, at) => {
    // Half of them name a connection that exists, the others one that the sender makes up.
    const path = at % 2 === 0 ? pathname : `/v1/carriers/whatsapp/${newId("car")}`;
    const socket = connect(Number(port), hostname, () => socket.write(head(path)));
    socket.on("error", () => {});
    return socket;
  });
  const other = await connectNumber(1, "+15105550102", agentId);
  const value = { metadata: { phone_number_id: other.phoneNumberId } };
  const body = JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] });
  for (const each of [other, number])
    expect((await post(body, { url: each.callbackUrl, secret: each.appSecret })).status).toBe(200);
  for (const socket of slow) socket.destroy();
});
