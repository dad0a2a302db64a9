import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import type { Page } from "playwright-core";
import type { Api } from "../kit/api.ts";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { type DashboardPage, openSignedIn, PAGE_WITHIN_MS } from "../kit/dashboard.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createOwner } from "../kit/test-owner.ts";

setDefaultTimeout(240_000);
/** A number of an owner of this file, in Germany. */
const OWN_NUMBER = "+493025550187";

const [stack, browser] = await Promise.all([sharedStack(), startChromium()]);
afterAll(async () => {
  await browser.close();
  await stack.stop();
});

interface Visit {
  api: Api;
  page: DashboardPage;
  /** Creates an agent that the stack's stand-in model answers for. @returns its ID */
  agent(fields?: object): Promise<string>;
}

/** Opens the dashboard for an owner of its own. */
async function visit(): Promise<Visit> {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  const params = { base_url: `http://${stack.address("model")}/v1`, api_key: "sk-0123456789abcdef" };
  const llm = { provider_name: "CUSTOM_LLM", model_name: "stand-in", params };
  const given = { agent_name: "Front desk", agent_type: "INBOUND", prompt_content: "You are Ada.", llm };
  return {
    api,
    page: await openSignedIn(browser, stack, owner),
    agent: async (fields) => (await api.post("/agents", { ...given, ...fields })).body.id,
  };
}

const saveOf = (page: Page) => page.getByRole("button", { name: "Save", exact: true });
const saved = (page: Page) => page.getByText("Unsaved changes", { exact: true }).waitFor({ state: "detached" });

test("work that was not saved survives a reload without its keys, is saved by a key, and is saved on leaving", async () => {
  const { api, page, agent } = await visit();
  const agentId = await agent();
  const stored = async () => (await api.get(`/agents/${agentId}`)).body;
  await page.goto(`/agents/${agentId}`);
  await page.getByRole("textbox", { name: "Greeting" }).fill("Hello, here is Ada.");
  await page.getByRole("tab", { name: "Models" }).click();
  await page.getByLabel("API key").fill("sk-typed-in-the-page");
  expect(await page.evaluate<string>("JSON.stringify(localStorage)")).toContain("here is Ada");
  expect(await page.evaluate<string>("JSON.stringify(localStorage)")).not.toContain("sk-typed");

  await page.reload();
  await page.getByText(/You left unsaved changes here/).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole("tab", { name: "Prompt" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("Greets callers.");
  await page.keyboard.press("Control+s");
  await saved(page);
  await page.getByRole("tab", { name: "Models" }).click();
  expect(await page.evaluate<string>("JSON.stringify(localStorage)")).toContain("here is Ada");
  expect(await page.evaluate<string>("JSON.stringify(localStorage)")).not.toContain("Greets callers");
  await page.getByRole("button", { name: "Restore" }).click();
  expect(await page.getByLabel("API key").inputValue()).toBe("********cdef");
  await page.getByRole("tab", { name: "Prompt" }).click();
  expect(await page.getByRole("textbox", { name: "Greeting" }).inputValue()).toBe("Hello, here is Ada.");
  await page.keyboard.press("Control+s");
  await saved(page);
  expect(await stored()).toMatchObject({ first_message_prompt: "Hello, here is Ada." });
  await page.reload();
  await page.getByRole("textbox", { name: "Greeting" }).waitFor();
  expect(await page.getByText(/You left unsaved changes here/).count()).toBe(0);

  await page.getByRole("textbox", { name: "Name" }).fill("Reception");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Save and leave" }).click();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  expect(await stored()).toMatchObject({ agent_name: "Reception" });
  expect(await page.evaluate<string>("JSON.stringify(localStorage)")).not.toContain("Reception");
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a provider without a key is marked and named with its variable before a call, and what was entered for another one comes back", async () => {
  const { page, agent } = await visit();
  await page.goto(`/agents/${await agent()}?tab=models&try=talk`);
  const providers = page.getByRole("combobox", { name: "Provider" });
  const start = page.getByRole("button", { name: "Start call" });
  await start.waitFor();
  expect(await start.isEnabled()).toBeTrue();
  await page.getByLabel("Base URL").fill("https://llm.acme.example/v1");
  await providers.first().selectOption("ANTHROPIC");
  await providers.first().selectOption("CUSTOM_LLM");
  expect(await page.getByLabel("Base URL").inputValue()).toBe("https://llm.acme.example/v1");
  expect(await page.getByLabel("API key").inputValue()).toBe("********cdef");

  await providers.nth(1).selectOption({ label: "ElevenLabs (no API key)" });
  await page.getByText("so it cannot speak").getByText("ELEVENLABS_API_KEY").waitFor();
  await page.getByLabel("Try it").getByText("ELEVENLABS_API_KEY").waitFor();
  expect(await start.isDisabled()).toBeTrue();
  await providers.nth(1).selectOption("default");
  await eventually(async () => expect(await start.isEnabled()).toBeTrue());
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a chat stores the greeting that it shows, says when the agent ends it, and offers only what can work", async () => {
  const { api, page, agent } = await visit();
  const agentId = await agent({ first_message_prompt: "Hello, this is {{company | Acme}}." });
  await page.goto(`/agents/${agentId}?tab=tools&try=chat`);
  await page.getByRole("switch", { name: /End the conversation/ }).click();
  const chat = page.getByRole("log", { name: "Chat" });
  await page.getByRole("textbox", { name: "Message" }).fill("Goodbye.");
  await page.getByRole("button", { name: "Send" }).click();
  await chat.getByText("The agent ended the conversation.").waitFor();
  expect(await chat.getByText("end_call").count()).toBe(1);
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  await page.getByRole("textbox", { name: "Message" }).fill("Are you there?");
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBeTrue();

  const link = page.getByRole("link", { name: /View the stored conversation/ });
  const conversationId = (await link.getAttribute("href"))?.split("/").at(-1) ?? "";
  const { body: conversation } = await api.get(`/conversations/${conversationId}`);
  expect(conversation.conversation_transcript[0]).toMatchObject({ content: "Hello, this is Acme." });
  expect(conversation.conversation_metadata).toMatchObject({ is_test_call: true });

  await chat.getByRole("button", { name: "Start over" }).click();
  await chat.getByText("The agent ended the conversation.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/full reply/).waitFor();
  expect(await chat.getByText("end_call").count()).toBe(0);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a message to a chat that ended elsewhere shows no tool call of the turn before, and no button that cannot work", async () => {
  const { page, agent } = await visit();
  const agentId = await agent({ tools: { end_call: true } });
  await page.goto(`/agents/${agentId}?try=chat`);
  const chat = page.getByRole("log", { name: "Chat" });
  const say = async (text: string) => {
    await page.getByRole("textbox", { name: "Message" }).fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  await say("Hello.");
  await page.getByText(/full reply/).waitFor();
  const link = page.getByRole("link", { name: /View the stored conversation/ });
  const session_id = (await link.getAttribute("href"))?.split("/").at(-1);
  const data = { agent_id: agentId, session_id, message: "Goodbye.", streaming: false, draft: {} };
  expect((await page.request.post("/v1/public/chat", { data })).status()).toBe(200);
  await say("Are you there?");
  await chat.getByText("The conversation has ended.").waitFor();
  await chat.getByText("Session has ended").waitFor();
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  await chat.getByRole("button", { name: "Start over" }).click();
  await say("Hello again.");
  await page.getByText(/full reply/).waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a call shows how long it lasts and how loud the microphone is, goes on with another one, and leads to its conversation", async () => {
  const { api, page, agent } = await visit();
  await page.goto(`/agents/${await agent({ first_message_prompt: "Hello, here is Ada." })}?try=talk`);
  await page.getByRole("button", { name: "Start call" }).click();
  await page.getByRole("log", { name: "Captions" }).getByText("here is Ada").waitFor();
  const timer = page.getByRole("timer");
  await eventually(async () => expect(await timer.textContent()).not.toBe("0:00"), PAGE_WITHIN_MS);
  const level = page.getByRole("meter", { name: "Microphone level" });
  // The browser's own microphone beeps.
  const isHeard = async () => expect(Number(await level.getAttribute("aria-valuenow"))).toBeGreaterThan(0);
  await eventually(isHeard, PAGE_WITHIN_MS);
  const microphone = page.getByRole("combobox", { name: "Microphone" });
  expect(await microphone.locator("option:checked").textContent()).toBe("Default microphone");
  await microphone.selectOption({ index: 2 });
  await eventually(isHeard, PAGE_WITHIN_MS);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Hang up" }).click();
  const link = page.getByRole("link", { name: /View the stored conversation/ });
  const conversationId = (await link.getAttribute("href"))?.split("/").at(-1) ?? "";
  const { body } = await api.get(`/conversations/${conversationId}`);
  expect(body).toMatchObject({ conversation_type: "WEB" });
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a person without the API records calls, writes a voicemail message, and adds a voice of their own", async () => {
  const { api, page, agent } = await visit();
  const agentId = await agent();
  await page.goto(`/agents/${agentId}?tab=channels`);
  await page.getByRole("switch", { name: /Record calls/ }).click();
  await page.getByRole("switch", { name: /Answer voice messages/ }).click();
  await page.getByLabel("Voicemail message").fill("Please call us back.");
  await page.getByLabel("Apology").fill("I am sorry.");
  await page.getByRole("tab", { name: "Models" }).click();
  await page.getByRole("combobox", { name: "Provider" }).nth(1).selectOption({ label: "OpenAI (no API key)" });
  await page.getByRole("button", { name: "Add your own voice" }).click();
  await page.getByLabel("Voice ID").fill("our-receptionist");
  await page.getByRole("dialog").getByLabel("Name").fill("Our receptionist");
  await page.getByRole("button", { name: "Add voice" }).click();
  await page.getByRole("list", { name: "Your own voices" }).getByText("Our receptionist").waitFor();
  await saveOf(page).click();
  await saved(page);
  expect((await api.get(`/agents/${agentId}`)).body).toMatchObject({
    recording: true,
    whatsapp: { voice_replies: true },
    call_settings: { voicemail_message: "Please call us back.", apology: "I am sorry." },
    tts: { provider_name: "OPENAI", voice_id: "our-receptionist" },
  });
  await page.getByRole("button", { name: "Remove Our receptionist" }).click();
  await page.getByRole("button", { name: "Remove voice" }).click();
  await page.getByRole("list", { name: "Your own voices" }).waitFor({ state: "detached" });
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a new call begins with the only agent, shows defaults, marks what needs a value, and reads a number as it is dialed", async () => {
  const { page, agent } = await visit();
  const name = { mobile_number: OWN_NUMBER, telephony_provider: "TWILIO" };
  await page.request.post("/v1/manage/mobile-numbers", { data: name });
  await agent({
    agent_type: "OUTBOUND",
    agent_mobile_number: [OWN_NUMBER],
    first_message_prompt: "Hello {{customer name}}, this is {{company | Acme}}.",
  });
  await page.goto("/calls?new=true");
  const form = page.getByRole("dialog", { name: "New call" });
  await form.getByLabel(/^company/).waitFor();
  expect(await form.getByLabel(/^company/).getAttribute("placeholder")).toBe("Acme");
  await form.locator("label").filter({ hasText: "customer_name" }).getByText("needs a value").waitFor();
  await form.getByLabel("Phone number").fill("030 901820");
  await form.getByText("Calls +4930901820.").waitFor();
  await form.getByLabel("If voicemail answers").selectOption("leave_message");
  await form.getByText("Front desk has no voicemail message.").waitFor();
  expect(await barriersOf(page)).toEqual([]);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("an agent is duplicated with its key, and the two are told apart where one is chosen", async () => {
  const { api, page, agent } = await visit();
  const agentId = await agent({ tools: { end_call: true } });
  await page.goto(`/agents/${agentId}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByRole("heading", { name: "Front desk (copy)" }).waitFor();
  const copyId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { body: copy } = await api.get(`/agents/${copyId}`);
  expect(copy).toMatchObject({
    tools: { end_call: true },
    prompt: { prompt_name: `agent-${copyId}`, prompt_content: "You are Ada." },
    llm: { params: { api_key: "********cdef" } },
  });
  const reply = await api.post("/chat", { agent_id: copyId, message: "Hello", streaming: false });
  expect(reply.status).toBe(200);

  await page.getByRole("textbox", { name: "Name" }).fill("Front desk");
  await page.keyboard.press("Control+s");
  await saved(page);
  await page.goto("/calls?new=true");
  const labels = page.getByRole("combobox", { name: "Agent" }).locator("option");
  await eventually(async () => {
    const shown = (await labels.allTextContents()).filter((label) => label.startsWith("Front desk"));
    expect(new Set(shown).size).toBe(2);
    expect(shown.some((label) => label.endsWith(`…${copyId.slice(-4)})`))).toBeTrue();
  }, PAGE_WITHIN_MS);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a new prompt never overwrites one that has its name, and versions are compared without light bars in the dark", async () => {
  const { api, page } = await visit();
  const lines = Array.from({ length: 20 }, (_, at) => `Rule ${at}.`).join("\n");
  for (const prompt_content of [lines, `${lines}\nBe kind.`])
    await api.post("/prompts", { prompt_name: "refunds", prompt_content });
  await page.goto("/prompts?new=true");
  await page.getByLabel("Name").fill("refunds");
  await page.getByLabel("Text").fill("Overwritten.");
  await page.getByRole("button", { name: "Create prompt" }).click();
  await page.getByText("A prompt with this name exists.").waitFor();
  await page.getByRole("link", { name: "Open “refunds” to add a version" }).waitFor();
  expect((await api.get("/prompts/refunds")).body).toMatchObject({ prompt_version: 2 });

  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/prompts/refunds?version=2");
  await page.locator(".cm-collapsedLines").first().waitFor();
  const look = (selector: string, property: string, pseudo?: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector("${selector}"), ${JSON.stringify(pseudo ?? null)}).getPropertyValue("${property}")`,
    );
  expect(await look(".cm-gutters", "background-color")).toBe("rgba(0, 0, 0, 0)");
  expect(await look(".cm-collapsedLines", "content", "::before")).toBe('"···"');
  expect(await page.locator(".cm-changedLine").allTextContents()).toEqual(["Be kind."]);
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("the page of the sample receiver says where it listens, and why and how another installation reaches it", async () => {
  const { page } = await visit();
  await page.goto("/webhooks");
  await page.getByText(/It listens on this machine only/).waitFor();
  for (const words of ["http://127.0.0.1:9000/", "bun run start", "PARLEY_ALLOWED_PRIVATE_HOSTS"])
    await page.getByText(words, { exact: true }).waitFor();
  await page.context().close();
});
