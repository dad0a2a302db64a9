import { afterAll, expect, test } from "bun:test";
import { AgentType } from "@parley/proto/parley/agent/v1/agent.ts";
import { CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { newId } from "@parley/shared/ids";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { MESSAGES_PER_ADDRESS, MESSAGES_PER_DAY, startTestMessaging } from "./widget-kit.ts";

const ORIGIN = "https://shop.example";
const WIDGET = { title: "Acme", greeting: "Hello!", allowed_origins: [ORIGIN] };

const service = await startTestMessaging();
afterAll(() => service.stop());

async function createAgent(widgetConfig: Record<string, unknown> | undefined = WIDGET) {
  const ownerId = newOwner();
  const agentType = AgentType.AGENT_TYPE_INBOUND;
  const request = CreateAgentRequest.fromPartial({ ownerId, agentName: "Front desk", agentType });
  const { agent } = await service.agents.createAgent({ ...request, widgetConfig });
  return { ownerId, agentId: agent?.agentId ?? "" };
}

function ask(agentId: string, given: { origin?: string; renews?: string } = {}) {
  return service.messaging.createWidgetToken({ origin: ORIGIN, renews: undefined, ...given, agentId });
}

test("a page of an allowed origin gets a token for a session of its own, with the look but not the list of origins", async () => {
  const agent = await createAgent();
  const created = await ask(agent.agentId);
  expect(created).toMatchObject({ ownerId: agent.ownerId, agentName: "Front desk" });
  expect(created.widgetConfig).toEqual({ title: "Acme", greeting: "Hello!" });
  const opened = await service.messaging.openWidgetToken({ token: created.token, origin: ORIGIN });
  expect(opened).toEqual({ ...agent, sessionId: created.sessionId });
  // More often than messages are allowed on a day: a token may be opened for one that is refused.
  for (let times = 0; times < MESSAGES_PER_DAY; times++)
    expect(await service.messaging.openWidgetToken({ token: created.token, origin: ORIGIN })).toEqual(opened);
  expect((await ask(agent.agentId)).sessionId).not.toBe(created.sessionId);
});

test("a renewed token continues the session, even if it had expired; another agent's token is refused", async () => {
  const [agent, other] = [await createAgent(), await createAgent()];
  const first = await ask(agent.agentId);
  service.clock.advance(16 * 60_000);
  expect(await serviceErrorOf(service.messaging.openWidgetToken({ ...first, origin: ORIGIN }))).toMatchObject({
    kind: "unauthenticated",
  });
  expect((await ask(agent.agentId, { renews: first.token })).sessionId).toBe(first.sessionId);
  expect(await serviceErrorOf(ask(other.agentId, { renews: first.token }))).toMatchObject({ kind: "unauthenticated" });
  expect(await serviceErrorOf(ask(agent.agentId, { renews: "nonsense" }))).toMatchObject({ kind: "unauthenticated" });
});

test("a page that is not listed gets no token, and one that the owner removes gets no more", async () => {
  const agent = await createAgent();
  const refusal = { kind: "forbidden" } as const;
  expect(await serviceErrorOf(ask(agent.agentId, { origin: "https://evil.example" }))).toMatchObject(refusal);
  expect(await serviceErrorOf(ask((await createAgent({})).agentId))).toMatchObject(refusal);
  const { token } = await ask(agent.agentId);
  const update = UpdateAgentRequest.fromPartial(agent);
  await service.agents.updateAgent({ ...update, widgetConfig: { ...WIDGET, allowed_origins: [] } });
  expect(await serviceErrorOf(ask(agent.agentId, { renews: token }))).toMatchObject(refusal);
});

test("an agent that does not exist has no widget, whatever its id looks like", async () => {
  for (const agentId of ["", "agt_", newId("agt"), "' or 1=1 --", "agt_\0"]) {
    expect(await serviceErrorOf(ask(agentId))).toMatchObject({ kind: "not_found", detail: "Agent not found" });
  }
});

test("the visitors of one owner share a daily limit of messages, whoever they claim to be, and another owner's have their own", async () => {
  const [agent, other] = [await createAgent(), await createAgent()];
  const message = async (agentId: string) => {
    const { token } = await ask(agentId);
    const { ownerId } = await service.messaging.openWidgetToken({ token, origin: ORIGIN });
    await service.messaging.countWidgetMessage({ ownerId, address: `192.0.2.${++addresses}` });
  };
  let addresses = 0;
  const sent = await Promise.allSettled(Array.from({ length: MESSAGES_PER_DAY + 2 }, () => message(agent.agentId)));
  expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(MESSAGES_PER_DAY);
  const refused = await serviceErrorOf(message(agent.agentId));
  const dayMs = 24 * 60 * 60_000;
  const leftMs = dayMs - (service.clock.now().getTime() % dayMs);
  expect(refused).toMatchObject({ kind: "rate_limited", retryAfterMs: leftMs });
  await message(other.agentId);
  service.clock.advance(leftMs);
  await message(agent.agentId);
});

test("an address uses up its share of an owner's day, and other addresses still write", async () => {
  const ownerId = newOwner();
  const message = (address: string) => service.messaging.countWidgetMessage({ ownerId, address });
  for (let at = 0; at < MESSAGES_PER_ADDRESS; at++) await message("192.0.2.1");
  expect(await serviceErrorOf(message("192.0.2.1"))).toMatchObject({
    kind: "rate_limited",
    detail: "Visitors of this address have sent the maximum number of messages for one day",
  });
  await message("192.0.2.2");
});

test("a deleted owner's agents have no widget: no page gets a token, and those there are open nothing", async () => {
  const [gone, other] = [await createAgent(), await createAgent()];
  const { token } = await ask(gone.agentId);
  for (const _again of [1, 2]) await service.messaging.forgetOwner({ ownerId: gone.ownerId });
  expect(await serviceErrorOf(ask(gone.agentId))).toMatchObject({ kind: "not_found", detail: "Agent not found" });
  expect(await serviceErrorOf(ask(gone.agentId, { renews: token }))).toMatchObject({ kind: "not_found" });
  expect(await serviceErrorOf(service.messaging.openWidgetToken({ token, origin: ORIGIN }))).toMatchObject({
    kind: "unauthenticated",
  });
  const { token: others } = await ask(other.agentId);
  expect(await service.messaging.openWidgetToken({ token: others, origin: ORIGIN })).toMatchObject(other);
});
