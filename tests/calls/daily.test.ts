import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { dailyPeople } from "../kit/calls/daily-stand-in.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const GREETING = "Hello, this is Acme.";
const WITHIN_MS = 60_000;

const stack = await sharedStack();
const model = await startScriptedModel();
const api = stack.api(stack.owners[0].apiKey);
const people = dailyPeople(stack.address("daily"));
const agentId = await createAgent(api, model, { first_message_prompt: GREETING });
afterAll(async () => {
  await model.stop();
  await stack.stop();
});

test("a person in a Daily room hears the agent, and their leaving ends the conversation and the room", async () => {
  const { status, body } = await api.post("/daily/sessions", { agent_id: agentId });
  expect([status, body]).toEqual([200, expect.objectContaining({ room_name: `parley-${body.conversation_id}` })]);
  // The person says nothing, and leaves after the agent's greeting.
  await people.join(body.room_name, body.token, { say: [] });
  const room = await people.deleted(body.room_name);
  expect(room.heard_ms).toBeGreaterThan(200);
  const conversation = await eventually(async () => {
    const found = (await api.get(`/conversations?conversation_id=${body.conversation_id}`)).body.data[0];
    expect(found.conversation_status).not.toBe("IN_PROGRESS");
    return found;
  }, WITHIN_MS);
  expect(conversation).toMatchObject({
    conversation_type: "DAILY",
    conversation_status: "COMPLETED",
    conversation_metadata: { room_url: body.room_url, room_name: body.room_name },
    conversation_transcript: [expect.objectContaining({ content: GREETING })],
  });
});

test("webhooks are refused without a signature, for an unknown domain, and if they are too large", async () => {
  const statusOf = async (path: string, body: string, headers: Record<string, string> = {}) =>
    (await fetch(`${stack.url}/v1/carriers/daily/${path}`, { method: "POST", headers, body })).status;
  const event = JSON.stringify({ type: "meeting.ended", payload: { room: "parley" } });
  const forged = { "X-Webhook-Signature": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "X-Webhook-Timestamp": "1" };
  expect(await statusOf("operator", event)).toBe(403);
  expect(await statusOf("operator", event, forged)).toBe(403);
  expect(await statusOf("car_00000000000000000000000000", event, forged)).toBe(404);
  expect(await statusOf("anybody", event, forged)).toBe(404);
  expect(await statusOf("operator", "x".repeat(65_537), forged)).toBe(413);
  expect(await statusOf("operator", JSON.stringify({ test: "test" }))).toBe(200);
});
