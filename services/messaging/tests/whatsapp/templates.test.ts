import { afterAll, afterEach, expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { echo } from "./fakes.ts";
import { person, startTestWhatsApp } from "./kit.ts";

const service = await startTestWhatsApp();
afterEach(() => service.reset());
afterAll(() => service.stop());

test("a template starts a conversation, and the person's answer belongs to it", async () => {
  const [number, to] = [service.connect(), person()];
  const components = [
    {
      type: "body",
      parameters: [
        { type: "text", text: "Ada" },
        { type: "text", text: "12345" },
      ],
    },
  ];
  const template = { name: "order_update", language: "en_US", components };
  const { ownerId, agentId } = number;
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32, 1) };
  const request = { ownerId, agentId, toMobileNumber: `+${to}`, template, idempotency };
  const sent = await service.messaging.sendWhatsAppTemplate(request);
  expect(await service.messaging.sendWhatsAppTemplate(request)).toEqual(sent);
  expect(await service.texts(to, 1)).toEqual(["order_update"]);
  const { said } = service.fakes.conversations;
  expect(said.get(sent.conversationId)).toEqual(["[template order_update (en_US): Ada, 12345]"]);
  await eventually(() => expect(service.delivered(number, 1)).toBe("read"));
  await service.write(number, to, "Thanks");
  service.quiet();
  await service.texts(to, 2);
  expect(service.conversationsOf(number)).toHaveLength(1);
  expect(said.get(sent.conversationId)).toHaveLength(3);
});

test("a template waits for the turn in progress, which stays in its own conversation", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = () => {
    service.fakes.conversations.reply = echo;
    throw new ServiceError("upstream_failed", "no model");
  };
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(async () => expect(await service.turnDueInSeconds(number)).toBe(10));
  const { ownerId, agentId } = number;
  const template = { name: "hello", language: "en", components: [] };
  const request = { ownerId, agentId, toMobileNumber: `+${from}`, template, idempotency: undefined };
  const { conversationId } = await service.messaging.sendWhatsAppTemplate(request);
  await service.pass(10_000);
  expect((await service.texts(from, 2)).toSorted()).toEqual(["You said: Hi", "hello"]);
  const sessions = service.fakes.conversations.turns.filter((turn) => turn.ownerId === ownerId);
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(sessions[0]?.sessionId).not.toBe(conversationId);
  expect(service.conversationsOf(number)).toHaveLength(2);
});

test.each([
  ["a number that is none", { toMobileNumber: "415" }, "invalid"],
  ["a template without a name", { template: { name: "", language: "en", components: [] } }, "invalid"],
  [
    "a template with a name that Meta does not allow",
    { template: { name: "A b", language: "en", components: [] } },
    "invalid",
  ],
  ["another owner's agent", { agentId: "agt_foreign" }, "forbidden"],
  ["an agent without a number", { agentId: "agt_numberless" }, "condition"],
] as const)("a template to %s is refused and leaves nothing", async (_title, given, kind) => {
  const number = service.connect();
  const { ownerId, agentId } = number;
  const template = { name: "hello", language: "en", components: [] };
  const request = { ownerId, agentId, toMobileNumber: "+4917012345678", template, idempotency: undefined };
  const refusal = serviceErrorOf(service.messaging.sendWhatsAppTemplate({ ...request, ...given } as typeof request));
  expect(await refusal).toMatchObject({ kind });
  const rows = await service.sql`select from outgoing_messages where owner_id = ${ownerId}`;
  expect(rows).toHaveLength(0);
});
