import { afterAll, expect, test } from "bun:test";
import { STAND_IN_API_KEY } from "@parley/dev/stand-ins/daily/server.ts";
import { dailySignature, dailyWebhookSecret } from "@parley/shared/carriers/signatures";
import { type Answer, answerOf } from "../kit/api.ts";
import { createObjects, type OwnedObjects, unknownNames } from "../kit/owners/owned-objects.ts";
import { shapeOf } from "../kit/owners/shape-of.ts";
import { openOwnerRows } from "../kit/rows/owner-rows.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";

type Names = OwnedObjects["names"];

/** A text in every one of the victim's objects. */
const CANARY = "canary-of-the-reports";
const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

const stack: RunningStack = await sharedStack();
const model: ScriptedModel = await startScriptedModel();
const rows = await openOwnerRows(stack.databaseUrls);
const victim = await createObjects(stack, model, stack.owners[0], CANARY);
const hostile = await createObjects(stack, model, stack.owners[1], "own-objects");
const daily = await hostile.manage.post("/carriers", { provider: "DAILY", api_key: STAND_IN_API_KEY });
/** A Daily account that the hostile owner has connected. */
const domainId = daily.body.carrier_id;
afterAll(async () => {
  await rows.close();
  await stack.stop();
  await model.stop();
});

/** Sends what the hostile owner's provider signs, at the address of its own connection. */
async function report(operationId: string, path: string, type: string, body: string): Promise<Answer> {
  const url = `${stack.url}/v1/carriers/${path}`;
  const proof = { "x-forwarded-for": "192.0.2.77", ...hostile.callers.proof(operationId, url, body) };
  return answerOf(await fetch(url, { method: "POST", headers: { "content-type": type, ...proof }, body }));
}

const REPORTS: Readonly<Record<string, (names: Names) => Promise<Answer>>> = {
  "Twilio that a number is called": ({ trunk_number }) => {
    const form = { CallSid: `CA${crypto.randomUUID()}`, CallStatus: "ringing", To: trunk_number, From: "+14155550199" };
    const path = `twilio/${hostile.names.callback_id}/voice`;
    return report("handleTwilioCallback", path, FORM, new URLSearchParams(form as Record<string, string>).toString());
  },
  "Plivo that a number is called": ({ trunk_number }) => {
    const form = { CallUUID: crypto.randomUUID(), To: trunk_number ?? "", From: "14155550199" };
    const path = `plivo/${hostile.names.plivo_callback_id}/answer`;
    return report("handlePlivoCallback", path, FORM, new URLSearchParams(form).toString());
  },
  "WhatsApp that someone wrote to a number": ({ phone_number_id }) => {
    const message = { id: `wamid.${crypto.randomUUID()}`, from: "491700000001", type: "text", text: { body: "Hello" } };
    const value = { messaging_product: "whatsapp", metadata: { phone_number_id }, messages: [message] };
    const body = { object: "whatsapp_business_account", entry: [{ changes: [{ field: "messages", value }] }] };
    const path = `whatsapp/${hostile.names.connection_id}`;
    return report("handleWhatsAppCallback", path, JSON_TYPE, JSON.stringify(body));
  },
  "Daily that the meeting in a room ended": async ({ room_name }) => {
    const payload = { room: room_name, end_ts: Math.ceil(Date.now() / 1_000) };
    const body = JSON.stringify({ type: "meeting.ended", payload });
    const signature = dailySignature(dailyWebhookSecret(STAND_IN_API_KEY, domainId), "1", body);
    const headers = { "content-type": JSON_TYPE, "x-webhook-timestamp": "1", "x-webhook-signature": signature };
    return answerOf(await fetch(`${stack.url}/v1/carriers/daily/${domainId}`, { method: "POST", headers, body }));
  },
};

test.each(Object.entries(REPORTS))(
  "a genuine report by another owner's %s of this owner's changes nothing, and is answered as for nobody's",
  async (_, send) => {
    const before = await rows.of(stack.owners[0].ownerId);
    const unknown = unknownNames(victim.names);
    const theirs = await send(victim.names);
    expect(theirs.status).toBe(200);
    expect(await rows.of(stack.owners[0].ownerId)).toEqual(before);
    const nobodys = await send(unknown);
    expect(shapeOf(theirs.body, victim.names)).toEqual(shapeOf(nobodys.body, unknown));
    expect(nobodys.status).toBe(200);
  },
);

test("a visitor's token of another owner's page opens no chat with this owner's agent", async () => {
  const { agent_id } = victim.names;
  const origin = { origin: "https://shop.example" };
  const renewal = { agent_id, token: hostile.names.widget_token };
  const { status, body } = await stack.api("").post("/widget-tokens", renewal, origin);
  expect([status, body]).toEqual([401, { detail: "The widget token belongs to another agent" }]);
});
