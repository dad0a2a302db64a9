import { afterAll, expect, test } from "bun:test";
import { createObjects } from "../kit/owners/owned-objects.ts";
import { shapeOf } from "../kit/owners/shape-of.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createSession, type TestOwner } from "../kit/test-owner.ts";

/** Answers that tell nothing of the owner's objects; of the sessions, each reading begins a new one and ends the others. */
const OF_NO_OBJECTS = ["listProviders", "getOwner", "getModelSetup", "getSpeechSetup", "getSettings", "listSessions"];

const stack: RunningStack = await sharedStack();
const model: ScriptedModel = await startScriptedModel();
const [busy, idle] = stack.owners;
const { paths } = (await stack.api("").get("//openapi.json")).body;
interface Operation {
  operationId: string;
  parameters: { name: string; required: boolean }[];
  responses: Record<string, { content?: object }>;
}

/**
 * Operations that list or count, without the name of one object in their path: each is a GET of the OpenAPI document. Streams of
 * events list nothing.
 */
const readings = Object.entries<Record<string, Operation>>(paths).flatMap(([path, { get }]) => {
  if (!get || path.includes("{") || "text/event-stream" in (get.responses[200]?.content ?? {})) return [];
  const needsProvider = get.parameters.some(({ name, required }) => name === "provider" && required);
  return [{ operationId: get.operationId, path: needsProvider ? `/${path}?provider=OPENAI` : `/${path}` }];
});
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

/** What the owner reads, by operation. */
async function readBy({ ownerId, apiKey }: TestOwner): Promise<Map<string, string>> {
  const token = await createSession(stack, ownerId);
  const answers = readings.map(async ({ operationId, path }): Promise<[string, string]> => {
    const api = path.startsWith("//v1/manage") ? stack.manage(token) : stack.api(apiKey);
    const { status, body } = await api.get(path);
    expect([operationId, status]).toEqual([operationId, 200]);
    return [operationId, shapeOf(body, {})];
  });
  return new Map(await Promise.all(answers));
}

test("what another owner creates changes none of this owner's lists, totals and figures", async () => {
  const before = [await readBy(busy), await readBy(idle)];
  await createObjects(stack, model, busy, "figures");
  const after = [await readBy(busy), await readBy(idle)];
  expect(after[1]).toEqual(before[1] as Map<string, string>);
  const same = readings.filter(({ operationId }) => after[0]?.get(operationId) === before[0]?.get(operationId));
  // Any other operation shows what was created, so the comparison means something.
  expect(same.map(({ operationId }) => operationId).toSorted()).toEqual(OF_NO_OBJECTS.toSorted());
});
