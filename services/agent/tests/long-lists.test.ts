import { afterAll, expect, test } from "bun:test";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { byName, create, createPrompt, creation, startTestAgents } from "./kit.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

const REFUSED = { kind: "condition", detail: expect.stringContaining("ask for a smaller page_size") };
const FILTER = { search: "", agentType: 0, agentCategory: "" } as const;

test("a page with more than 4 MiB of agents' own fields is refused, and smaller pages are complete", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  const widgetConfig = { greeting: "g".repeat(900_000) };
  for (let n = 0; n < 6; n++) await create(agents, creation(ownerId, { widgetConfig }));
  const list = (number: number, size: number) => agents.listAgents({ ownerId, ...FILTER, page: { number, size } });
  expect(await failure(list(1, 6))).toMatchObject(REFUSED);
  const { agents: shown, total } = await list(2, 3);
  expect(shown.map((agent) => agent.widgetConfig)).toEqual(Array(3).fill(widgetConfig));
  expect(total).toBe(6);
});

test("a page with more than 4 MiB of prompts, counted for each agent, is refused, and smaller pages are complete", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  const content = "p".repeat(490_000);
  await createPrompt(prompts, ownerId, "long", content);
  for (let n = 0; n < 10; n++) await create(agents, creation(ownerId, { prompt: byName("long") }));
  const list = (number: number, size: number) => agents.listAgents({ ownerId, ...FILTER, page: { number, size } });
  expect(await failure(list(1, 10))).toMatchObject(REFUSED);
  const { agents: shown } = await list(2, 5);
  expect(shown.map((agent) => agent.prompt?.promptContent)).toEqual(Array(5).fill(content));
});
