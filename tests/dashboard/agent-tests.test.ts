import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { type DashboardPage, openSignedIn, pixelsTooWide } from "../kit/dashboard.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner } from "../kit/test-owner.ts";

const [stack, browser, model] = await Promise.all([sharedStack(), startChromium(), startScriptedModel()]);
afterAll(async () => {
  await browser.close();
  await model.stop();
  await stack.stop();
});

test("a test that an owner writes leads to what is missing in it, fails beside what it expected, and passes once that is mended", async () => {
  const owner = await createOwner(stack.accounts);
  const agentId = await createAgent(stack.api(owner.apiKey), model);
  const page = await openSignedIn(browser, stack, owner);
  const barriers: string[] = [];

  await page.goto(`/agents/${agentId}?tab=tests`);
  await page.getByText("Write the first test").waitFor();
  await page.getByRole("link", { name: "New test" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Tells where an order is");
  await page.getByRole("textbox", { name: "Message 1" }).fill("Where is my order?");
  await page.getByRole("spinbutton", { name: "Turn" }).fill("2");
  await page.getByRole("button", { name: "Create test" }).click();
  await page.getByText("Enter the text.").waitFor();
  await page.getByRole("textbox", { name: "Text", exact: true }).and(page.locator(":focus")).waitFor();
  await page.getByRole("textbox", { name: "Text", exact: true }).fill("on its way");
  await page.getByRole("button", { name: "Create test" }).click();
  await page.getByRole("alert").filter({ hasText: "at most 1, the last turn" }).waitFor();
  await page.getByRole("spinbutton", { name: "Turn" }).and(page.locator(":focus")).waitFor();
  expect(await page.getByRole("spinbutton", { name: "Turn" }).getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("spinbutton", { name: "Turn" }).fill("1");
  await page.getByRole("button", { name: "Create test" }).click();
  await page.getByRole("heading", { name: "Tells where an order is" }).waitFor();
  barriers.push(...(await barriersAt("the editor", page)));

  const run = async () => {
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Run 1 test" }).click();
  };
  await run();
  const turn = page.getByRole("list", { name: "Transcript" }).getByRole("listitem").filter({ hasText: "Turn 1" });
  await turn.getByText("You said: Where is my order?", { exact: true }).waitFor();
  await turn
    .getByRole("list", { name: "Expected of turn 1" })
    .getByText(/contains "on its way"/)
    .waitFor();
  barriers.push(...(await barriersAt("a failed run", page)));

  await page.getByRole("link", { name: "Edit this test" }).click();
  await page.getByRole("textbox", { name: "Text", exact: true }).fill("you said");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  await run();
  await page.getByRole("status").getByText("Passed", { exact: true }).waitFor();

  await page.getByRole("link", { name: "View the stored conversation" }).click();
  await page.getByRole("button", { name: "Make a test of this conversation" }).click();
  await page.getByRole("heading", { name: "Where is my order?" }).waitFor();
  expect(await page.getByRole("textbox", { name: "Message 1" }).inputValue()).toBe("Where is my order?");
  await page.getByRole("link", { name: "All tests of the agent" }).click();
  await page.getByRole("row", { name: /Tells where an order is .*Passed/ }).waitFor();
  barriers.push(...(await barriersAt("the list", page)));
  expect(barriers).toEqual([]);
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("a test of an agent that publishes what is saved at once cannot be required, and leads to the setting", async () => {
  const owner = await createOwner(stack.accounts);
  const agentId = await createAgent(stack.api(owner.apiKey), model);
  const page = await openSignedIn(browser, stack, owner);
  await page.goto(`/agents/${agentId}/tests/new`);
  const required = page.getByRole("switch", { name: "Required" });
  const link = page.getByRole("link", { name: "agent's versions" });
  await link.waitFor();
  expect(await required.isDisabled()).toBe(true);
  await link.click();
  await page.getByRole("switch", { name: "Publish what I save at once" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Version 2, published").or(page.getByText("Version 2 is not published")).waitFor();
  await page.goBack();
  await link.waitFor({ state: "detached" });
  expect(await required.isDisabled()).toBe(false);
  await page.context().close();
}, 240_000);

test("a replay calls each conversation by its user's first words, with when it began", async () => {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  const agentId = await createAgent(api, model);
  const { headers } = await api.post("/chat", { agent_id: agentId, message: "Where is my order?" });
  const conversationId = headers.get("x-session-id") ?? "";
  const conversations = { conversation_ids: [conversationId] };
  const { body } = await api.post(`/agents/${agentId}/replays`, { agent_version: "latest", conversations });
  const { created_at } = (await api.get(`/conversations/${conversationId}`)).body;
  const page = await openSignedIn(browser, stack, owner);
  await page.goto(`/agents/${agentId}/replays/${body.replay_id}`);
  const card = page.getByRole("list", { name: "Conversations" }).getByRole("listitem");
  await card.getByRole("heading", { name: "1. Where is my order?" }).waitFor();
  expect(await card.locator("time").getAttribute("datetime")).toBe(created_at);
  await card.getByRole("link", { name: "As it is stored" }).click();
  await page.waitForURL(`**/conversations/${conversationId}`);
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("a link to the last tab of an agent shows that tab as chosen on a narrow phone", async () => {
  const [owner] = stack.owners;
  const agentId = await createAgent(stack.api(owner.apiKey), model);
  const page = await openSignedIn(browser, stack, owner);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`/agents/${agentId}?tab=tests`);
  const tab = page.getByRole("tab", { name: "Tests", selected: true });
  await eventually(async () => {
    const { x = 0, width = 0 } = (await tab.boundingBox()) ?? {};
    expect(x).toBeGreaterThan(0);
    expect(x + width).toBeLessThanOrEqual(360);
  });
  await page.context().close();
}, 240_000);

/** The accessibility issues of a page, and whether it is too wide for a narrow phone. */
async function barriersAt(name: string, page: DashboardPage): Promise<string[]> {
  const found = await barriersOf(page);
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  await page.setViewportSize({ width: 360, height: 740 });
  const tooWide = await pixelsTooWide(page);
  await page.setViewportSize(size);
  if (tooWide > 0) found.push(`${tooWide} px too wide`);
  return found.map((barrier) => `${name}: ${barrier}`);
}
