import { afterAll, expect, test } from "bun:test";
import { startChromium } from "../kit/calls/chromium.ts";
import { openSignedIn } from "../kit/dashboard.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner } from "../kit/test-owner.ts";

const stack = await sharedStack();
const browser = await startChromium();
afterAll(async () => {
  await browser.close();
  await stack.stop();
});

const json = (body: object) => ({ body: JSON.stringify(body), headers: { "content-type": "application/json" } });

/** An agent with one version, and the dashboard of its owner. */
async function newAgent() {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  const id = await createAgent(api, { baseUrl: `http://${stack.address("model")}/v1` });
  return { api, id, page: await openSignedIn(browser, stack, owner) };
}

test("a change waits as a version, is compared, published, rolled back, and shares the traffic", async () => {
  const { api, id, page } = await newAgent();
  await page.goto(`/agents/${id}?tab=versions`);
  await page.getByText("Version 1, published").waitFor();
  await page.getByText("All new conversations get version 1.").waitFor();
  await page.getByRole("switch", { name: "Publish what I save at once" }).click();
  await page.getByRole("tab", { name: "Prompt" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Reception");
  await page.getByRole("textbox", { name: "Version note" }).fill("Another name");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Version 2 is not published").waitFor();

  await page.getByRole("tab", { name: "Versions" }).click();
  await page.getByRole("row", { name: /Version 2 .*Another name/ }).click();
  const name = page.getByRole("region", { name: "Name", exact: true });
  await name.getByText("Reception").waitFor();
  expect(await name.textContent()).toBe("NameVersion 1Front deskVersion 2Reception");
  await page.getByText("Too few conversations have ended to tell").waitFor();
  await page.getByRole("button", { name: "Show as JSON" }).click();
  await page.getByText('"note": "Another name"').waitFor();
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Hello");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/full reply/).waitFor();
  await page.getByRole("button", { name: "Close Try it" }).click();
  await page.getByRole("tabpanel").getByRole("button", { name: "Publish" }).click();
  const question = page.getByRole("dialog");
  await question.getByRole("textbox", { name: "Note" }).fill("Looks right");
  await question.getByRole("button", { name: "Publish" }).click();
  await page.getByText("Version 2, published").waitFor();

  await page.getByRole("button", { name: "All versions" }).click();
  await page.getByRole("button", { name: "Roll back: version 1" }).click();
  await question.getByRole("button", { name: "Roll back" }).click();
  await page.getByText("All new conversations get version 1.").waitFor();

  await page.getByRole("button", { name: "Split traffic" }).click();
  await page.getByRole("slider", { name: "Share of version 2" }).fill("25");
  await page.getByRole("slider", { name: "Share of version 1" }).and(page.locator("[value='75']")).waitFor();
  await page.getByRole("button", { name: "Save split" }).click();
  await page.getByText("Version 2 gets 25%").waitFor();
  const { split } = (await api.get(`/agents/${id}/traffic`)).body;
  expect(split).toEqual([
    { agent_version: 1, weight: 75 },
    { agent_version: 2, weight: 25 },
  ]);

  await page.getByRole("button", { name: "Publish log" }).click();
  const log = page.getByRole("table", { name: "Publish log" });
  await log.getByText("Split: version 1 75%, version 2 25%").waitFor();
  expect(await log.getByRole("row").allInnerTexts()).toEqual([
    expect.any(String),
    expect.stringContaining("Split"),
    expect.stringContaining("Rolled back to version 1"),
    expect.stringMatching(/Published version 2\s+Looks right/),
    expect.stringContaining("Version 1 took effect at once"),
  ]);
  await page.goto("/agents");
  await page.getByRole("row").filter({ hasText: "Reception" }).getByText("Unpublished changes").waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("publishing past a required test that has not passed names it, leads to a run of that version, and asks for a reason", async () => {
  const { api, id, page } = await newAgent();
  await api.send("PATCH", `/agents/${id}`, json({ publishing: "manual" }));
  await api.post(`/agents/${id}/tests`, {
    ...{ name: "Greets the caller", required: true, kind: "scripted", channel: "text", messages: ["Hello"] },
    assertions: [{ type: "contains", value: "Acme" }],
  });
  const question = page.getByRole("dialog");
  const isRefused = async () => {
    await page.goto(`/agents/${id}?tab=versions`);
    await page.getByRole("button", { name: "Publish: version 2" }).click();
    await question.getByRole("button", { name: "Publish" }).click();
    await question.getByRole("listitem").getByText("Greets the caller has not passed for version 2").waitFor();
  };
  await isRefused();
  await question.getByRole("link", { name: "run the tests" }).click();
  await page.getByRole("dialog", { name: "Run tests" }).waitFor();
  expect(await question.getByLabel("Number of the version").inputValue()).toBe("2");
  expect(await question.count()).toBe(1);
  await isRefused();
  await question.getByLabel("Reason to publish without them").fill("The test server is down");
  await question.getByRole("button", { name: "Publish anyway" }).click();
  await page.getByText("Version 2, published").waitFor();
  const [entry] = (await api.get(`/agents/${id}/publishes`)).body.publishes;
  expect(entry).toMatchObject({ kind: "publish", override_reason: "The test server is down" });
  await page.context().close();
}, 240_000);

test("the page of a run whose required tests have passed publishes its version", async () => {
  const { api, id, page } = await newAgent();
  await api.send("PATCH", `/agents/${id}`, json({ publishing: "manual" }));
  const rest = { kind: "scripted", channel: "text", messages: ["Hello"] };
  const greets = [{ type: "contains", value: "hello" }];
  await api.post(`/agents/${id}/tests`, { ...rest, name: "Greets", required: true, assertions: greets });
  const fails = [{ type: "contains", value: "Acme" }];
  await api.post(`/agents/${id}/tests`, { ...rest, name: "Says the name", required: false, assertions: fails });
  await page.goto(`/agents/${id}?tab=tests&run=all&version=2`);
  await page.getByRole("button", { name: "Run 2 tests" }).click();
  await page.getByRole("button", { name: "Publish this version" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await page.getByText("Version 2 is published").first().waitFor();
  await page.getByRole("button", { name: "Publish this version" }).waitFor({ state: "detached" });
  expect((await api.get(`/agents/${id}`)).body.published_version).toBe(2);
  await page.context().close();
}, 240_000);

test("a comparison is in words, with knowledge bases, tools, agents and prompts by their names", async () => {
  const { api, id, page } = await newAgent();
  const main = { prompt_type: "main" };
  const [{ body: base }, { body: tool }, { body: billing }] = await Promise.all([
    api.post("/knowledge-bases", { name: "Price lists" }),
    api.post("/tools", { type: "client", name: "show_map", description: "Shows a map.", timeout_ms: 20_000 }),
    api.post("/agents", { agent_name: "Billing", agent_type: "INBOUND" }),
  ]);
  await api.post("/prompts", { prompt_name: "reception", prompt_content: "You are Ada.", prompt_metadata: main });
  await api.send("PUT", "/prompts/reception/labels/production", json({ prompt_version: 1 }));
  await api.send("PATCH", `/agents/${id}`, json({ custom_tools: [{ tool_id: tool.id }], tools: { end_call: true } }));
  await api.send("PATCH", `/tools/${tool.id}`, json({ timeout_ms: 4_000 }));
  const changes = {
    knowledge: [{ knowledge_base_id: base.id, mode: "always" }],
    handoffs: [{ agent_id: billing.id, when: "The caller asks about an invoice." }],
    prompt: { prompt_name: "reception", prompt_label: "production" },
    tools: { end_call: { message: "Goodbye" } },
  };
  await api.send("PATCH", `/agents/${id}`, json(changes));
  await page.goto(`/agents/${id}?tab=versions&version=4&against=2`);
  const region = (name: string) => page.getByRole("region", { name, exact: true });
  await region("Knowledge").getByText("Nothing", { exact: true }).waitFor();
  await region("Knowledge").getByText("Price lists", { exact: true }).waitFor();
  await region("Knowledge").getByText("Search every message, at most 6 chunks, at most 8,000 characters").waitFor();
  await region("Handoffs").getByText("Billing", { exact: true }).waitFor();
  await region("Your tools: show_map, timeout").getByText("4,000 ms").waitFor();
  await region("Tools: End the conversation").getByText("Goodbye").waitFor();
  await region("Prompt").getByText("“reception”, version 1, by its label production").waitFor();
  expect(await page.getByRole("tabpanel").textContent()).not.toMatch(/(agt|tol|kb)_|[{}]/);
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("conversations show their version, and are listed by it", async () => {
  const { api, id, page } = await newAgent();
  for (const agent_version of [1, "latest"]) {
    await api.post("/chat", { agent_id: id, agent_version, message: `Hello, ${agent_version}` });
    await api.send("PATCH", `/agents/${id}`, json({ agent_description: "Later" }));
  }
  await page.goto(`/conversations?agent_id=${id}`);
  await page.getByRole("link", { name: "Hello, latest" }).waitFor();
  await page.getByRole("button", { name: "Version", exact: true }).click();
  await page.getByRole("menuitem", { name: "1", exact: true }).click();
  await page.getByRole("link", { name: "Hello, latest" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Hello, 1" }).click();
  await page.getByRole("definition").getByRole("link", { name: "1", exact: true }).click();
  await page.getByText("From version 3 to version 1.").waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);
