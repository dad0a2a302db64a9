import { afterAll, expect, test } from "bun:test";
import { RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { createClient } from "@parley/shared/rpc/client";
import { eventually } from "@parley/testkit/eventually";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { STAND_INS, startTestStack } from "../kit/stack/test-stack.ts";
import type { ReplicaName } from "../kit/stack/use-stack.ts";
import { WATCHED } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { startTraffic, type Traffic, trafficScript } from "../kit/traffic.ts";

const WITHIN_MS = 240_000;
const SERVED = /^\w+_server_\w+_count\{(operation|rpc_method)="(?!\/grpc\.)/m;

/** The conversation of every delivery. */
const delivered: string[] = [];
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const form = await request.formData();
    delivered.push(JSON.parse(String(form.get("payload"))).conversation_id);
    return new Response("ok");
  },
});
// This many processes share the tests' Postgres.
const env = { PARLEY_DATABASE_POOL: "4" };
const [stack, model] = await Promise.all([
  startTestStack({ env, replicas: 2, without: STAND_INS }),
  startScriptedModel(),
]);
model.always(trafficScript);
const [{ ownerId, apiKey }] = stack.owners;
const api = stack.api(apiKey);
const agentId = await createAgent(api, model, { tools: { end_call: true } });
const dispatcher = createClient(WebhookDispatcherServiceService, {
  peer: "webhook-dispatcher",
  address: stack.address("webhook-dispatcher"),
});
await dispatcher.createDestination({
  ownerId,
  name: "Receiver",
  url: receiver.url.href,
  requestType: RequestType.REQUEST_TYPE_POST,
  enabled: true,
});
dispatcher.close();
afterAll(async () => {
  await stack.stop();
  await model.stop();
  await receiver.stop(true);
});

/** Tells the process to stop while replies are streaming, and waits until another one runs in its place. */
async function replace(name: ReplicaName, traffic: Traffic): Promise<{ name: string; ended: string }> {
  await eventually(() => expect(traffic.streaming()).toBeGreaterThan(0));
  return { name, ended: await stack.kill(name, "SIGTERM").back };
}

/** Waits until the process has served a request, or a call other than a health check. */
async function serves(name: ReplicaName): Promise<void> {
  await eventually(async () => {
    // On a connection of its own: the system chooses the gateway that gets it.
    await fetch(`${stack.url}/v1/public/agents`, { headers: { connection: "close" } });
    const told = await stack.metrics(name);
    expect({ name, serves: SERVED.test(told) }).toEqual({ name, serves: true });
  }, 30_000);
}

/** A rolling upgrade as docs/operations.md describes it. */
test(
  "a replica of every service is replaced under load: no request fails, no reply is cut, every event is delivered exactly once",
  async () => {
    const before = stack.pids();
    const traffic = startTraffic(stack.url, stack.owners[0].apiKey, agentId);
    // One replica of each: that the new ones then serve shows that the others could be replaced in the same way.
    const replaced = [];
    for (const name of WATCHED) replaced.push(await replace(name, traffic));
    for (const name of WATCHED) await serves(name);
    await traffic.stop();
    console.log(JSON.stringify(traffic.answered), `${traffic.ended.length} events`);

    expect(traffic.failures).toEqual([]);
    expect(replaced).toEqual(WATCHED.map((name) => ({ name, ended: "exit code 0" })));
    const after = stack.pids();
    for (const name of WATCHED) expect(after[name]).not.toBe(before[name]);
    for (const answered of Object.values(traffic.answered)) expect(answered).toBeGreaterThan(3);
    await eventually(() => expect(delivered.length).toBeGreaterThanOrEqual(traffic.ended.length), 30_000);
    expect(delivered.toSorted()).toEqual(traffic.ended.toSorted());
  },
  WITHIN_MS,
);
