import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { Owner } from "@parley/proto/parley/account/v1/account.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Alert } from "@parley/proto/parley/conversation/v1/alert.ts";
import {
  type CreateAlertRequest,
  UpdateAlertRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { endChats, openChats } from "./alone-kit.ts";
import { pass, want } from "./events-kit.ts";
import { createAgent, failure, startTestChat } from "./kit.ts";

/** Mails as a server gets them; it refuses the first one for now, and some addresses for good. */
const mails: string[] = [];
let refusals = 1;
const refused = new Set<string>();
const mailServer = Bun.listen<{ text: string; isData: boolean }>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open: (socket) => {
      socket.data = { text: "", isData: false };
      socket.write("220 mail\r\n");
    },
    data: (socket, bytes) => {
      const { data } = socket;
      data.text += bytes.toString();
      if (data.isData) {
        if (!data.text.endsWith("\r\n.\r\n")) return;
        mails.push(data.text);
        socket.data = { text: "", isData: false };
        socket.write("250 taken\r\n");
        return;
      }
      if (!data.text.endsWith("\r\n")) return;
      const line = data.text.trim().toUpperCase();
      data.text = "";
      if (line === "DATA") data.isData = true;
      const isRefused = line.startsWith("MAIL") && refusals-- > 0;
      const isUnknown = line.startsWith("RCPT") && [...refused].some((name) => line.includes(name.toUpperCase()));
      if (isUnknown) socket.write("550 no such user\r\n");
      else socket.write(isRefused ? "451 later\r\n" : line === "DATA" ? "354 go on\r\n" : "250 ok\r\n");
    },
  },
});
const getOwner = async ({ ownerId }: { ownerId: string }) => ({
  owner: Owner.fromPartial({ ownerId, email: `${ownerId}@shop.example` }),
});
const accounts = await serve(AccountServiceService, { getOwner }, { address: "127.0.0.1:0", log: silentLogger });
const service = await startTestChat({
  PARLEY_ACCOUNT_ADDRESS: accounts.address,
  PARLEY_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
  PARLEY_SMTP_FROM: "Parley <parley@operator.example>",
});
const { chat, clock, dispatcher, sql } = service;
afterAll(async () => {
  await service.stop();
  await accounts.stop();
  mailServer.stop(true);
});
afterEach(() => {
  dispatcher.deliveries = () => ({ delivered: 0, failed: 0 });
});

async function newAlert(ownerId: string, given: Partial<CreateAlertRequest> = {}): Promise<Alert> {
  const rule = { name: "Watch", enabled: true, metric: "failed_share", agentId: "", windowMinutes: 15 };
  const { alert } = await chat.createAlert({ ownerId, ...rule, threshold: 0.5, minimumCount: 2, ...given });
  if (!alert) throw new Error("the response is empty");
  return alert;
}

async function alertOf(ownerId: string, { alertId }: Alert): Promise<Alert | undefined> {
  return (await chat.listAlerts({ ownerId })).alerts.find((each) => each.alertId === alertId);
}

/** Waits for a check that began at this moment of the clock or later. */
async function checked(ownerId: string, alert: Alert): Promise<Alert> {
  const now = clock.now().getTime();
  return eventually(async () => {
    const found = await alertOf(ownerId, alert);
    if ((found?.checkedAt?.getTime() ?? 0) < now) throw new Error("not checked yet");
    return found as Alert;
  });
}

async function nextCheck(ownerId: string, alert: Alert): Promise<Alert> {
  await pass(service, 60_000);
  return checked(ownerId, alert);
}

async function end(ownerId: string, count: number, status: "FAILED" | "COMPLETED"): Promise<void> {
  const ids = await openChats(sql, ownerId, count, { at: clock.now() });
  if (status === "COMPLETED") await endChats(sql, ids, clock.now());
  else
    await sql`
    update conversations set status = 'FAILED', updated_at = ${clock.now()} where conversation_id = any(${ids}::uuid[])`;
}

/** The alert's events, in order. */
const told = (ownerId: string) =>
  dispatcher.events
    .filter((event) => event.ownerId === ownerId && event.event.startsWith("alert."))
    .map(({ event, payload }) => [event, JSON.parse(payload).alert.value]);

test("a new owner has an alert for each metric but cost, switched off, and those that were deleted stay away", async () => {
  const ownerId = newOwner();
  const { alerts } = await chat.listAlerts({ ownerId });
  expect(alerts.map(({ metric, enabled }) => `${metric} ${enabled}`)).toEqual(
    ["failed_share", "volume_drop", "p95_latency_ms", "tool_failed_share", "delivery_failed_share"].map(
      (metric) => `${metric} false`,
    ),
  );
  for (const { alertId } of alerts) await chat.deleteAlert({ ownerId, alertId });
  expect((await chat.listAlerts({ ownerId })).alerts).toEqual([]);
});

test("an alert is opened once and resolved once, told by event and by a mail that is sent until it is taken", async () => {
  const ownerId = newOwner();
  await want(service, ownerId, "alert.opened", "alert.resolved");
  await end(ownerId, 1, "FAILED");
  const alert = await newAlert(ownerId, { name: "Too many <b>fail</b>" });
  // One is fewer than the two that it asks for.
  expect(await checked(ownerId, alert)).toMatchObject({ isOpen: false, value: 1, count: 1 });
  await end(ownerId, 2, "FAILED");
  await end(ownerId, 1, "COMPLETED");
  expect(await nextCheck(ownerId, alert)).toMatchObject({ isOpen: true, value: 0.75, count: 4 });
  const { openedAt } = await nextCheck(ownerId, alert);
  expect(openedAt?.getTime()).toBe(clock.now().getTime() - 60_000);
  await end(ownerId, 4, "COMPLETED");
  expect(await nextCheck(ownerId, alert)).toMatchObject({ isOpen: false, value: 0.375, openedAt });
  await nextCheck(ownerId, alert);
  await eventually(() =>
    expect(told(ownerId)).toEqual([
      ["alert.opened", 0.75],
      ["alert.resolved", 0.375],
    ]),
  );
  await eventually(async () => {
    await pass(service, 1_000);
    expect(mails).toHaveLength(2);
  });
  const subjects = mails.map((mail) => /^Subject: (.*)\r$/m.exec(mail)?.[1]).toSorted();
  expect(subjects).toEqual(["Alert: Too many <b>fail</b>", "Resolved: Too many <b>fail</b>"]);
  for (const mail of mails) {
    expect(mail).toContain(`To: ${ownerId}@shop.example`);
    expect(mail).toContain("From: Parley <parley@operator.example>");
    expect(mail).toContain("Content-Type: text/plain");
  }
});

test("what is older than the window counts no longer, and other owners' never", async () => {
  const [ownerId, other] = [newOwner(), newOwner()];
  await end(ownerId, 3, "FAILED");
  const alert = await newAlert(ownerId);
  const foreign = await newAlert(other);
  expect(await checked(ownerId, alert)).toMatchObject({ isOpen: true });
  expect(await checked(other, foreign)).toMatchObject({ isOpen: false, value: undefined, count: 0 });
  await pass(service, 16 * 60_000);
  expect(await checked(ownerId, alert)).toMatchObject({ isOpen: false, count: 0 });
});

describe("an open alert", () => {
  test("is resolved when it is disabled or deleted", async () => {
    const ownerId = newOwner();
    await want(service, ownerId, "alert.resolved");
    await end(ownerId, 3, "FAILED");
    const [first, second] = [await newAlert(ownerId), await newAlert(ownerId)];
    for (const each of [first, second]) expect(await checked(ownerId, each)).toMatchObject({ isOpen: true });
    const change = UpdateAlertRequest.fromPartial({ ownerId, alertId: first.alertId, enabled: false });
    expect((await chat.updateAlert(change)).alert).toMatchObject({ isOpen: false, enabled: false });
    await chat.deleteAlert({ ownerId, alertId: second.alertId });
    await eventually(() => expect(told(ownerId)).toHaveLength(2));
  });
});

test("a mail that the server refuses for good is not sent again", async () => {
  const ownerId = newOwner();
  refused.add(ownerId);
  await end(ownerId, 2, "FAILED");
  expect(await checked(ownerId, await newAlert(ownerId))).toMatchObject({ isOpen: true });
  await eventually(async () =>
    expect(await sql`select from jobs where owner_id = ${ownerId} and queue = 'mail-alerts'`).toHaveLength(0),
  );
  expect(mails.filter((mail) => mail.includes(ownerId))).toEqual([]);
});

test("what was measured before another replica checked an alert does not count", async () => {
  const ownerId = newOwner();
  const asked = Promise.withResolvers<void>();
  const counted = Promise.withResolvers<{ delivered: number; failed: number }>();
  dispatcher.deliveries = () => {
    asked.resolve();
    return counted.promise;
  };
  const alert = await newAlert(ownerId, { metric: "delivery_failed_share" });
  await asked.promise;
  await sql`update alerts set is_open = true, checked_at = ${clock.now()} where owner_id = ${ownerId}`;
  counted.resolve({ delivered: 5, failed: 0 });
  await eventually(async () =>
    expect(await sql`select from jobs where owner_id = ${ownerId} and leased_until is not null`).toHaveLength(0),
  );
  expect(await alertOf(ownerId, alert)).toMatchObject({ isOpen: true, value: undefined });
});

test("an alert with another metric does not keep the value of the one before", async () => {
  const ownerId = newOwner();
  await end(ownerId, 2, "FAILED");
  const alert = await newAlert(ownerId);
  expect(await checked(ownerId, alert)).toMatchObject({ value: 1 });
  const change = { ownerId, alertId: alert.alertId, metric: "p95_latency_ms", enabled: false, threshold: 9_000 };
  expect((await chat.updateAlert(UpdateAlertRequest.fromPartial(change))).alert).toMatchObject({
    isOpen: false,
    value: undefined,
    count: undefined,
  });
});

test("a drop of exactly the threshold opens an alert, and one of an agent that was deleted is resolved", async () => {
  const agent = await createAgent(service);
  const { ownerId, agentId } = agent;
  const begin = async (count: number) => {
    const ids = await openChats(sql, ownerId, count, { at: clock.now() });
    await sql`update conversations set agent_id = ${agentId} where conversation_id = any(${ids}::uuid[])`;
  };
  await begin(10);
  await pass(service, 7 * 86_400_000 - 60_000);
  await begin(8);
  const alert = await newAlert(ownerId, { metric: "volume_drop", agentId, windowMinutes: 5, threshold: 0.2 });
  expect(await nextCheck(ownerId, alert)).toMatchObject({ isOpen: true, value: 0.2, count: 10 });
  await service.agents.deleteAgent({ ...agent, idempotency: undefined });
  expect(await nextCheck(ownerId, alert)).toMatchObject({ isOpen: false, value: undefined, count: 0 });
});

test("deliveries that fail, and fewer conversations than a week earlier, open their alerts", async () => {
  const ownerId = newOwner();
  const begin = (count: number) => openChats(sql, ownerId, count, { at: clock.now() });
  await begin(4);
  await pass(service, 7 * 86_400_000 - 60_000);
  await begin(1);
  dispatcher.deliveries = () => ({ delivered: 1, failed: 3 });
  const drop = await newAlert(ownerId, { metric: "volume_drop", windowMinutes: 5 });
  const failing = await newAlert(ownerId, { metric: "delivery_failed_share" });
  expect(await nextCheck(ownerId, drop)).toMatchObject({ isOpen: true, value: 0.75, count: 4 });
  expect(await checked(ownerId, failing)).toMatchObject({ isOpen: true, value: 0.75, count: 4 });
});

test.each([
  [{ name: "Fails\r\nBcc: everyone@shop.example" }, "name must be printable characters only"],
  [{ metric: "mood" }, "metric must be one of failed_share"],
  [{ windowMinutes: 0 }, "window_minutes must be from 1 to 1440"],
  [{ threshold: 1.5 }, "threshold must be at most 1: failed_share is a share"],
  [{ threshold: 0, metric: "cost" }, "threshold must be more than 0"],
  [{ metric: "delivery_failed_share", agentId: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }, "agent_id must be left out"],
])("an alert with %j is refused with a reason", async (given, detail) => {
  expect(await failure(newAlert(newOwner(), given))).toMatchObject({
    kind: "invalid",
    detail: expect.stringContaining(detail),
  });
});
