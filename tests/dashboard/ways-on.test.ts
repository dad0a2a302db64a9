import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import type { Api } from "../kit/api.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { type DashboardPage, openSignedIn } from "../kit/dashboard.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner, type TestOwner } from "../kit/test-owner.ts";
import { addTrunkNumber } from "../kit/trunk.ts";
import { connectWhatsApp } from "../kit/whatsapp.ts";

/** What an owner meets on the way and has to be told: each page says what is wrong or missing, and the way on. */
setDefaultTimeout(240_000);

const [stack, model, browser] = await Promise.all([sharedStack(), startScriptedModel(), startChromium()]);
afterAll(async () => {
  await browser.close();
  await model.stop();
  await stack.stop();
});

async function newcomer(): Promise<{ owner: TestOwner; api: Api; page: DashboardPage }> {
  const owner = await createOwner(stack.accounts);
  return { owner, api: stack.api(owner.apiKey), page: await openSignedIn(browser, stack, owner) };
}

test("a chat goes on after a reply was stopped, and begins anew only when it is started over", async () => {
  const { api, page } = await newcomer();
  const agentId = await createAgent(api, model);
  await page.goto(`/agents/${agentId}?try=chat`);
  const chat = page.getByRole("log", { name: "Chat" });
  const message = page.getByRole("textbox", { name: "Message" });
  const ask = async (text: string) => {
    await message.fill(text);
    await message.press("Enter");
  };
  const conversations = async () => (await api.get("/conversations?shape=flat")).body.total;
  const asked = model.next((exchange) => exchange.text("Once upon a time, there was "));
  await ask("Tell me a story.");
  await asked;
  await chat.getByText(/Once upon a time/).waitFor();
  await page.getByRole("button", { name: "Stop the reply" }).click();
  await chat.getByText("Stopped", { exact: true }).waitFor();
  // Nobody types so fast that the reply has not ended on the server yet.
  await eventually(async () => {
    const { data } = (await api.get("/conversations")).body;
    expect(data[0].conversation_transcript).toHaveLength(2);
  });
  await ask("Shorter, please.");
  await chat.getByText("You said: Shorter, please.").waitFor();
  expect(await conversations()).toBe(1);
  await page.getByRole("button", { name: "Start over" }).click();
  await ask("Another one.");
  await chat.getByText("You said: Another one.").waitFor();
  expect(await conversations()).toBe(2);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("an owner without an agent or a number is sent to where one is added, and an agent without a number calls from a chosen one", async () => {
  const { owner, api, page } = await newcomer();
  await page.goto("/calls?new=true");
  const dialog = page.getByRole("dialog", { name: "New call" });
  await dialog.getByText("You have no agent yet.").waitFor();
  await dialog.getByRole("link", { name: "Create one" }).click();
  await page.getByRole("dialog", { name: "New agent" }).waitFor();

  const agentId = await createAgent(api, model);
  await page.goto(`/agents/${agentId}?tab=channels`);
  await page.getByText("No phone numbers yet.").waitFor();
  await page.getByRole("link", { name: "Add a number" }).click();
  await page.getByRole("heading", { name: "Numbers & carriers" }).waitFor();

  await page.goto("/calls?new=true");
  await dialog.getByText("You have no phone number to call from.").waitFor();
  await dialog.getByRole("link", { name: "Add one" }).click();
  await page.getByRole("heading", { name: "Numbers & carriers" }).waitFor();

  await addTrunkNumber(stack.accounts, owner.ownerId, "+13125558301");
  await page.goto("/calls?new=true");
  await dialog.getByLabel("Phone number", { exact: true }).fill("+13125558399");
  await dialog.getByRole("combobox", { name: "Agent" }).selectOption("Front desk");
  await dialog.getByText("The agent has no number of its own.").waitFor();
  const call = dialog.getByRole("button", { name: "Call", exact: true });
  await call.click();
  const from = dialog.getByRole("combobox", { name: "Call from" });
  expect(await from.evaluate((field: { validity: { valueMissing: boolean } }) => field.validity.valueMissing)).toBe(
    true,
  );
  await from.selectOption("+13125558301");
  await call.click();
  await page.getByRole("row").filter({ hasText: "+13125558399" }).waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a chat with an agent without a model leads to where one is chosen", async () => {
  const { api, page } = await newcomer();
  const { body } = await api.post("/agents", { agent_name: "Front desk", agent_type: "INBOUND" });
  await page.goto(`/agents/${body.id}?try=chat`);
  await page.getByText("This agent has no language model yet.").waitFor();
  await page.getByRole("link", { name: "Choose one under Models" }).click();
  await page.getByRole("tab", { name: "Models", selected: true }).waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a connected WhatsApp number has the callback URL that Meta asks for", async () => {
  const owner = await createOwner(stack.accounts);
  const agentId = await createAgent(stack.api(owner.apiKey), model);
  // It signs in as the owner with another password, which ends earlier sessions.
  const { callbackUrl } = await connectWhatsApp(stack, owner.ownerId, "+13125558302", agentId);
  const page = await openSignedIn(browser, stack, owner);
  await page.goto("/numbers");
  const carrier = page.getByRole("list", { name: "Carriers" }).getByRole("listitem").filter({ hasText: "WhatsApp" });
  await carrier.getByRole("button", { name: "Copy callback URL" }).click();
  await carrier.getByRole("button", { name: "Copied callback URL" }).waitFor();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(callbackUrl);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("the form for a SIP trunk and the connected trunk say where the trunk sends its calls", async () => {
  const { page } = await newcomer();
  await page.goto("/numbers?new=true");
  const dialog = page.getByRole("dialog", { name: "Connect a carrier" });
  await dialog.getByRole("combobox", { name: "Provider" }).selectOption("SIP trunk");
  await dialog.getByText(/^sip:127\.0\.0\.1:\d+$/).waitFor();
  await dialog.getByRole("combobox", { name: "Transport" }).selectOption("TLS");
  await dialog.getByText(/does not take SIP calls over TLS/).waitFor();
  await dialog.getByRole("combobox", { name: "Transport" }).selectOption("UDP");

  await dialog.getByLabel("Server").fill("127.0.0.1");
  await dialog.getByLabel("Trunk IP addresses").fill("203.0.113.0/24, everywhere");
  await dialog.getByRole("button", { name: "Connect" }).click();
  await dialog.getByRole("alert").getByText('not "everywhere"').waitFor();
  await dialog.getByLabel("Trunk IP addresses").fill("203.0.113.0/24");
  await dialog.getByRole("button", { name: "Connect" }).click();
  const carrier = page.getByRole("list", { name: "Carriers" }).getByRole("listitem");
  await carrier.getByRole("button", { name: "Copy address for calls" }).click();
  await carrier.getByRole("button", { name: "Copied address for calls" }).waitFor();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toMatch(/^sip:127\.0\.0\.1:\d+$/);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a file with semicolons between its columns, as Excel saves it, is shown before it is called", async () => {
  const { api, page } = await newcomer();
  await createAgent(api, model);
  await page.goto("/calls?tab=batches");
  await page.getByRole("button", { name: "New batch" }).click();
  const dialog = page.getByRole("dialog", { name: "New batch" });
  const buffer = Buffer.from("to_mobile_number;customer\r\n+13125558398;Zoë\r\n", "latin1");
  await dialog.getByLabel("File").setInputFiles({ name: "customers.csv", mimeType: "text/csv", buffer });
  await dialog.getByRole("cell", { name: "Zoë" }).waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("the versions of an agent's own prompt are one click from its editor", async () => {
  const { api, page } = await newcomer();
  const agent = { agent_name: "Front desk", agent_type: "INBOUND", prompt_content: "You are Ada." };
  const { body } = await api.post("/agents", agent);
  await page.goto(`/agents/${body.id}`);
  await page.getByRole("textbox", { name: "Prompt" }).fill("You are Zoe.");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: "Prompt versions" }).click();
  await page.getByRole("button", { name: /^2 Latest/ }).waitFor();
  await page.getByRole("button", { name: /^1 / }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: /^3 Latest/ }).waitFor();
  await eventually(async () =>
    expect((await api.get(`/agents/${body.id}`)).body.prompt.prompt_content).toBe("You are Ada."),
  );
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a page says that the server cannot be reached, shows its list as soon as it can, and says that a session has ended", async () => {
  const { page } = await newcomer();
  await page.goto("/settings");
  await page.getByRole("button", { name: "Change password" }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await page.context().setOffline(false);
  await page.getByText("No webhooks yet").waitFor();

  await page.context().clearCookies();
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByText("Your session has ended.").waitFor();
  await page.goto("/settings");
  await page.getByRole("heading", { name: "Sign in to your account" }).waitFor();
  expect(await page.getByText("Your session has ended.").count()).toBe(0);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a website that is listed without https:// for the website chat is called wrong once it is typed", async () => {
  const { api, page } = await newcomer();
  const agentId = await createAgent(api, model);
  await page.goto(`/agents/${agentId}?tab=channels`);
  const origins = page.getByLabel("Allowed origins");
  await origins.fill("https://shop.example\nwww.shop.example");
  await origins.blur();
  await page.getByRole("alert").getByText("“www.shop.example” is not an origin.").waitFor();
  await origins.fill("https://shop.example\nhttps://www.shop.example");
  await origins.blur();
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(page.failures).toEqual([]);
  await page.context().close();
});
