import { afterAll, beforeAll, expect, test } from "bun:test";
import { byName, create, createPrompt, creation, failure, newOwner, startTestAgents, type TestAgents } from "./kit.ts";

let service: TestAgents;
beforeAll(async () => {
  service = await startTestAgents();
}, 60_000);
afterAll(() => service.stop());

const REFUSED = { kind: "condition", detail: expect.stringContaining("ask for a smaller page_size") };
const FILTER = { search: "", agentType: 0, agentCategory: "" } as const;

test("a page with more than 8 MiB of agents' own fields is refused, and smaller ones have them all", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const widgetConfig = { greeting: "g".repeat(900_000) };
  for (let n = 0; n < 10; n++) await create(agents, creation(ownerId, { widgetConfig }));
  const list = (number: number, size: number) => agents.listAgents({ ownerId, ...FILTER, page: { number, size } });
  expect(await failure(list(1, 10))).toMatchObject(REFUSED);
  const { agents: shown, total } = await list(2, 5);
  expect(shown.map((agent) => agent.widgetConfig)).toEqual(Array(5).fill(widgetConfig));
  expect(total).toBe(10);
});

test("a page with more than 8 MiB of prompts is refused, each agent's counted, and smaller ones have them", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  const content = "p".repeat(490_000);
  await createPrompt(prompts, ownerId, "long", content);
  for (let n = 0; n < 18; n++) await create(agents, creation(ownerId, { prompt: byName("long") }));
  const list = (number: number, size: number) => agents.listAgents({ ownerId, ...FILTER, page: { number, size } });
  expect(await failure(list(1, 18))).toMatchObject(REFUSED);
  const { agents: shown } = await list(2, 9);
  expect(shown.map((agent) => agent.prompt?.promptContent)).toEqual(Array(9).fill(content));
});
