import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import type { Browser } from "playwright-core";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { spokenSentence } from "../kit/calls/spoken-sentence.ts";
import {
  loginOf,
  openDashboard,
  openSignedIn,
  PAGE_WITHIN_MS,
  pixelsTooWide,
  tabTo,
  untilFocused,
  withoutStreams,
} from "../kit/dashboard.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner } from "../kit/test-owner.ts";

const SENTENCE = "when are you open";
/** Thirteen sentences take longer to say than the microphone's pause, so that they are interrupted. */
const LONG_GREETING =
  `Hello, this is Acme. ${"Before we begin, here is some news about our opening hours. ".repeat(12)}`.trim();
/** The bytes of the scripts that a page loads, compressed with gzip -9; 23,158 of them draw charts, once there are figures to draw. */
const SCRIPT_BYTES_MAX = 180_000;

const stack = await sharedStack();
const folder = await mkdtemp(join(tmpdir(), "parley-dashboard-"));
const microphone = join(folder, "microphone.wav");
const speechUrl = `http://${stack.address("speech")}/v1`;
// What the browser sends is recognized in tests/calls/web-call.test.ts.
const speech = startScriptedSpeech(SENTENCE, 4);
await Bun.write(microphone, await spokenSentence(speechUrl, SENTENCE, { beforeSeconds: 6, afterSeconds: 5 }));
const browser = await startChromium({ microphone });
afterAll(async () => {
  await browser.close();
  await speech.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a new owner signs in, makes an agent, chats with it, and makes and revokes a key, with the keyboard alone", async () => {
  const owner = await createOwner(stack.accounts);
  const { email, password } = await loginOf(stack, owner);
  const page = await openDashboard(browser, stack);
  const { keyboard } = page;

  await page.goto("/keys?new=true");
  await page.getByRole("heading", { name: "Sign in to your account" }).waitFor();
  await keyboard.type(email);
  await keyboard.press("Tab");
  await keyboard.type(password);
  await keyboard.press("Enter");

  // The requested address opens, with its dialog. Going back leads to before it, not to the sign-in page.
  await page.getByRole("dialog", { name: "New API key" }).waitFor();
  expect(await page.evaluate<number>("history.length")).toBe(2);
  await untilFocused(page);
  await keyboard.type("From the test");
  await keyboard.press("Enter");
  const shown = page.getByRole("dialog", { name: "Copy your key now" });
  const apiKey = await shown.locator("code").textContent();
  expect((await stack.api(apiKey ?? "").get("/agents")).status).toBe(200);
  await keyboard.press("Escape");
  await shown.waitFor({ state: "hidden" });
  await tabTo(page, /^Actions for From the test/);
  await keyboard.press("Enter");
  // The menu takes keys once it has the focus, a moment after it appears.
  const revoke = page.getByRole("menuitem", { name: "Revoke…" });
  await revoke.waitFor();
  await eventually(async () => {
    await keyboard.press("End");
    expect(await revoke.evaluate((item) => item.matches(":focus"))).toBeTrue();
  });
  await keyboard.press("Enter");
  const question = page.getByRole("dialog", { name: "Revoke “From the test”?" });
  await question.waitFor();
  await tabTo(page, /^Revoke key/);
  await keyboard.press("Enter");
  await question.waitFor({ state: "hidden" });
  await eventually(async () => expect((await stack.api(apiKey ?? "").get("/agents")).status).toBe(401));

  await keyboard.press("Control+k");
  // Nobody waits for the palette before typing.
  await keyboard.type("new agent");
  const palette = page.getByRole("dialog", { name: "Search or jump to" }).getByRole("combobox");
  await palette.waitFor();
  await eventually(async () => expect(await palette.inputValue()).toBe("new agent"));
  await keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New agent" }).waitFor();
  await untilFocused(page);
  await keyboard.press("Enter");
  const message = page.getByRole("textbox", { name: "Message" });
  await message.waitFor();
  await eventually(async () => expect(await message.evaluate((field) => field.matches(":focus"))).toBeTrue());
  await keyboard.type("Hello, when are you open?");
  await keyboard.press("Enter");
  await page.getByText(/full reply/).waitFor();
  const { body } = await stack.api(owner.apiKey).get("/conversations?shape=flat");
  expect(body.conversations[0]).toMatchObject({ conversation_metadata: { is_test_call: true } });
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("a chat tries what is on the screen, and only saving changes the agent", async () => {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  const page = await openSignedIn(browser, stack, owner);
  await page.goto("/agents?new=true");
  await page.getByRole("button", { name: "Create agent" }).click();
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("You are Zoe. Be brief.");
  await page.getByRole("textbox", { name: "Message" }).fill("Who are you?");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("log", { name: "Chat" }).getByText(/Zoe/).waitFor();
  const stored = async () => (await api.get("/agents")).body.agents[0].prompt.prompt_content;
  expect(await stored()).toContain("You are Ada");

  // Leaving the page asks for confirmation.
  await page.getByRole("link", { name: "API keys" }).click();
  const question = page.getByRole("dialog", { name: /without saving/ });
  await question.getByRole("button", { name: "Keep editing" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  expect(await stored()).toBe("You are Zoe. Be brief.");

  // A session that ends does not take the changes with it.
  const session = await page.context().cookies();
  await page.context().clearCookies();
  await page.getByRole("textbox", { name: "Name" }).fill("Reception");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const signedOut = page.getByRole("dialog", { name: "You are signed out" });
  await signedOut.getByRole("link", { name: "Sign in in a new tab" }).waitFor();
  await page.context().addCookies(session);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await eventually(async () => expect((await api.get("/agents")).body.agents[0].agent_name).toBe("Reception"));

  await page.getByRole("textbox", { name: "Name" }).fill("Not kept");
  await page.getByRole("link", { name: "API keys" }).click();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  expect((await api.get("/agents")).body.agents[0].agent_name).toBe("Reception");
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("a refused change tells the API's message once, at its field, or with the way to it from another tab", async () => {
  const owner = await createOwner(stack.accounts);
  const { body: agent } = await stack.api(owner.apiKey).post("/agents", { agent_name: "A", agent_type: "INBOUND" });
  const page = await openSignedIn(browser, stack, owner);
  await page.goto(`/agents/${agent.id}?tab=tools`);
  await page.getByRole("switch", { name: /Transfer the call/ }).click();
  await page.getByLabel(/^Phone number/).fill("12");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const field = page.getByLabel(/^Phone number/);
  await field.and(page.locator(":focus")).waitFor();
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByRole("alert").allTextContents()).toEqual([expect.stringContaining("E.164")]);
  await page.getByRole("tab", { name: "Models" }).click();
  await page.getByRole("alert").filter({ hasText: "Could not save" }).filter({ hasText: "E.164" }).waitFor();
  await page.getByRole("button", { name: "Show it in Tools" }).click();
  await field.and(page.locator(":focus")).waitFor();
  expect(await page.getByRole("alert").count()).toBe(1);
  await page.context().close();
}, 240_000);

test.each([
  ["prompt", "main", ""],
  ["call_analysis_prompt", "analysis", "?tab=analysis"],
] as const)(
  "a refused version of an agent's %s is told at the version",
  async (_field, prompt_type, tab) => {
    const owner = await createOwner(stack.accounts);
    const api = stack.api(owner.apiKey);
    const write = (prompt_content: string) =>
      api.post("/prompts", { prompt_name: "desk", prompt_content, prompt_metadata: { prompt_type } });
    for (const text of ["You are Ada.", "You are Zoe."]) await write(text);
    const call_analysis_prompt = { custom_prompt: "Look for names." };
    const { body: agent } = await api.post("/agents", { agent_name: "A", agent_type: "INBOUND", call_analysis_prompt });
    const page = await openSignedIn(browser, stack, owner);
    await page.goto(`/agents/${agent.id}${tab}`);
    const source = page.getByRole("combobox", { name: "Source" });
    await source.selectOption("Shared prompt “desk”");
    const version = page.getByRole("combobox", { name: "Version" });
    await version.selectOption("Version 2");
    await api.send("DELETE", "/prompts/desk");
    await write("You are Ada again.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "Prompt not found" }).waitFor();
    expect(await version.getAttribute("aria-invalid")).toBe("true");
    expect(await source.getAttribute("aria-invalid")).toBeNull();
    await page.context().close();
  },
  240_000,
);

test("a version gets a label that an agent follows, and the label says who follows it when it is moved or deleted", async () => {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  for (const prompt_content of ["You are Ada.", "You are Zoe."])
    await api.post("/prompts", { prompt_name: "desk", prompt_content });
  const page = await openSignedIn(browser, stack, owner);
  await page.goto("/prompts/desk?version=1");
  const label = async (heading: string) => {
    await page.getByRole("button", { name: "Label", exact: true }).click();
    await page.getByRole("dialog", { name: heading }).getByRole("combobox", { name: "Label" }).fill("production");
  };
  await label("Label version 1");
  await page.getByRole("button", { name: "Set label" }).click();
  await page.getByRole("button", { name: /^1 production/ }).waitFor();

  const { body: agent } = await api.post("/agents", {
    agent_name: "Front desk",
    agent_type: "INBOUND",
    prompt: { prompt_name: "desk" },
  });
  await page.goto(`/agents/${agent.id}`);
  await page.getByRole("combobox", { name: "Version" }).selectOption("Always production");
  await page.getByText("You are Ada.").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const stored = async () => (await api.get(`/agents/${agent.id}`)).body.prompt;
  await eventually(async () => expect(await stored()).toMatchObject({ prompt_label: "production", prompt_version: 1 }));

  await page.goto("/prompts/desk?version=2");
  await label("Label version 2");
  await page.getByText("Moves from version 1. Front desk follows it.").waitFor();
  await page.getByRole("button", { name: "Move label" }).click();
  await page.getByRole("button", { name: /^2 Latest production/ }).waitFor();
  expect(await stored()).toMatchObject({ prompt_label: "production", prompt_version: 2 });
  await page.getByRole("button", { name: "Delete label production" }).click();
  await page.getByText("Front desk follows it. Give them another label or a version first.").waitFor();
  expect(await page.getByRole("button", { name: "Delete label", exact: true }).isDisabled()).toBeTrue();
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a shared prompt is shown in the version that the agent uses, until the latest or a text of its own is chosen", async () => {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  for (const prompt_content of ["You are Ada.", "You are Zoe."])
    await api.post("/prompts", { prompt_name: "desk", prompt_content });
  const pinned = { prompt_name: "desk", prompt_version: 1 };
  const { body: agent } = await api.post("/agents", { agent_name: "A", agent_type: "INBOUND", prompt: pinned });
  const stored = async () => (await api.get(`/agents/${agent.id}`)).body.prompt;
  const page = await openSignedIn(browser, stack, owner);
  await page.goto(`/agents/${agent.id}`);
  const version = page.getByRole("combobox", { name: "Version" });
  await page.getByText("You are Ada.").waitFor();
  await eventually(async () => expect(await version.inputValue()).toBe("1"));
  await version.selectOption("Always the latest");
  await page.getByText("You are Zoe.").waitFor();
  const save = page.getByRole("button", { name: "Save", exact: true });
  await save.click();
  await eventually(async () => expect(await stored()).toMatchObject({ prompt_name: "desk", prompt_version: 2 }));

  // The latest version, chosen by its number, is not the same as always the latest.
  const second = JSON.stringify({ prompt: { prompt_name: "desk", prompt_version: 2 } });
  await api.send("PATCH", `/agents/${agent.id}`, { body: second, headers: { "content-type": "application/json" } });
  await page.reload();
  await page.getByText("You are Zoe.").waitFor();
  await eventually(async () => expect(await version.inputValue()).toBe("2"));

  await page.getByRole("combobox", { name: "Source" }).selectOption("This agent only");
  await page.getByRole("textbox", { name: "Prompt" }).getByText("You are Zoe.").waitFor();
  await save.click();
  await eventually(async () =>
    expect(await stored()).toMatchObject({ prompt_name: `agent-${agent.id}`, prompt_content: "You are Zoe." }),
  );

  // How long ago something was follows the clock, though nothing changes.
  await page.clock.install();
  await page.goto("/prompts/desk");
  await page.getByRole("button", { name: /^2 Latest/ }).waitFor();
  await page.clock.fastForward("20:00");
  await page.getByRole("button", { name: /^2 Latest 2\d minutes ago/ }).waitFor();

  // A version that was saved elsewhere shows, unless something was typed; restoring one keeps what was typed.
  const text = page.getByRole("textbox", { name: "Prompt text" });
  await api.post("/prompts", { prompt_name: "desk", prompt_content: "You are Bea." });
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
  await text.getByText("You are Bea.").waitFor();
  expect(await page.getByRole("button", { name: "Save as version 4" }).isDisabled()).toBeTrue();
  await text.fill("You are Eve.");
  await page.getByRole("button", { name: /^1 / }).click();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Save as version 5" }).waitFor();
  await text.getByText("You are Eve.").waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("an owner states what a model of its own costs, and a price that lacks a part is refused at its field", async () => {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  const params = { base_url: "https://llm.example.com/v1", api_key: "sk-0123456789" };
  const llm = { provider_name: "CUSTOM_LLM", model_name: "own", params };
  const { body: agent } = await api.post("/agents", { agent_name: "A", agent_type: "INBOUND", llm });
  const page = await openSignedIn(browser, stack, owner);
  await page.goto(`/agents/${agent.id}?tab=models`);
  await page.getByLabel(/^Input price/).fill("0.4");
  const save = page.getByRole("button", { name: "Save", exact: true });
  await save.click();
  const output = page.getByLabel(/^Output price/);
  await page.getByRole("alert").filter({ hasText: "Output price is required" }).waitFor();
  expect(await output.getAttribute("aria-invalid")).toBe("true");
  await output.fill("1.6");
  await save.click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  const stored = async () => (await api.get(`/agents/${agent.id}`)).body.llm;
  expect(await stored()).toMatchObject({ params: { base_url: params.base_url }, pricing: { input: 0.4, output: 1.6 } });

  for (const label of [/^Input price/, /^Output price/]) await page.getByLabel(label).fill("");
  await save.click();
  await eventually(async () => expect(await stored()).not.toHaveProperty("pricing"));
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("a page hears its agent, interrupts it by speaking, and shows what both say and how long an answer took", async () => {
  const owner = await createOwner(stack.accounts);
  const model = { baseUrl: `http://${stack.address("model")}/v1` };
  const agentId = await createAgent(stack.api(owner.apiKey), model, speech.settings);
  const page = await openSignedIn(browser, stack, owner);
  await page.addInitScript(`{
    const { createDataChannel } = RTCPeerConnection.prototype;
    RTCPeerConnection.prototype.createDataChannel = function (...args) {
      return (window.captions = createDataChannel.apply(this, args));
    };
  }`);
  await page.goto(`/agents/${agentId}?try=chat`);
  // The greeting on the screen is not saved, but the call uses it.
  await page.getByRole("textbox", { name: "Greeting" }).fill(LONG_GREETING);
  await page.getByRole("tab", { name: "Talk" }).click();
  await page.getByRole("button", { name: "Start call" }).click();
  const captions = page.getByRole("log", { name: "Captions" });
  const within = { timeout: 2 * PAGE_WITHIN_MS };
  await captions.getByText(/this is Acme/).waitFor(within);
  await captions.getByText(/^You:/).first().waitFor(within);
  await captions
    .getByTestId("latency")
    .getByText(/\d+ m?s/)
    .first()
    .waitFor(within);
  // The agent has answered since, so the greeting was interrupted: the page shows the part that was heard.
  const greeting = (await captions.getByText(/this is Acme/).textContent())?.replace(/^Agent: /, "").trim() ?? "";
  expect(LONG_GREETING).toStartWith(greeting);
  expect(greeting.length).toBeLessThan(LONG_GREETING.length);
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByRole("button", { name: "Call again" }).waitFor();
  // One that was on its way.
  await page.evaluate(`captions.onmessage?.({ data: '{"type":"state","state":"listening"}' })`);
  expect(await page.getByRole("button", { name: "Hang up" }).count()).toBe(0);
  await eventually(async () => {
    const { body } = await stack.api(owner.apiKey).get("/conversations?shape=flat");
    expect(body.conversations[0]).toMatchObject({ conversation_type: "WEB", conversation_status: "COMPLETED" });
  }, PAGE_WITHIN_MS);
  await page.getByRole("button", { name: "Call again" }).click();
  await captions.getByText(/this is Acme/).waitFor(within);
  // The browser's tools do not see what a page sends while it is left.
  await page.evaluate(`{
    const send = window.fetch;
    window.fetch = (to, options) => {
      localStorage.setItem("left with", JSON.stringify([options.method, options.keepalive]));
      return send(to, options);
    };
  }`);
  await page.goto("/sign-in");
  expect(await page.evaluate("localStorage.getItem('left with')")).toBe('["DELETE",true]');
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 300_000);

test("a wrong password is refused without saying what was wrong, and too many attempts are counted down", async () => {
  const { email } = await loginOf(stack, stack.owners[0]);
  const page = await openDashboard(browser, stack);
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill("not the password");
  const submit = page.getByRole("button", { name: "Sign in" });
  await submit.click();
  const refusal = await page.getByRole("alert").textContent();
  expect(refusal).not.toMatch(/exist|unknown|no such/i);
  const countdown = page.getByText(/try again in \d+ seconds/);
  await eventually(async () => {
    // Without effect while an attempt is in progress. A click would wait for the end of the countdown.
    await page.getByLabel("Password").press("Enter");
    expect(await countdown.isVisible()).toBeTrue();
  }, PAGE_WITHIN_MS);
  expect(await submit.isDisabled()).toBeTrue();
  const noHttps = page.getByText("This page was opened without HTTPS");
  expect(await noHttps.isVisible()).toBeFalse();

  // Browsers keep no secure cookie of such an address, so signing in there would lead nowhere.
  const address = "http://parley.example";
  await page.route(`${address}/**`, async (route) => {
    const url = route.request().url().replace(address, stack.url);
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto(`${address}/sign-in`);
  await noHttps.waitFor();
  await page.context().close();
}, 240_000);

test("a tab shows another owner's data only under that owner's name", async () => {
  const [first, second] = await Promise.all([createOwner(stack.accounts), createOwner(stack.accounts)]);
  const accountOf = async ({ ownerId }: typeof first) => {
    const { owner } = await stack.accounts.getOwner({ ownerId });
    return page.getByRole("button").filter({ hasText: owner?.email ?? "" });
  };
  const page = await openSignedIn(browser, stack, first);
  // Whoever is signed in already goes on to the page that a link to signing in names.
  await page.goto("/sign-in?next=%2Fkeys");
  await (await accountOf(first)).waitFor();
  expect(new URL(page.url()).pathname).toBe("/keys");
  const other = await openSignedIn(browser, stack, second);
  await page.context().addCookies(await other.context().cookies());
  await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
  await eventually(
    async () => expect(await page.evaluate("performance.getEntriesByType('navigation')[0].type")).toBe("reload"),
    PAGE_WITHIN_MS,
  );
  await (await accountOf(second)).waitFor();
  expect(page.failures).toEqual([]);
  await Promise.all([page.context().close(), other.context().close()]);
}, 240_000);

test("names and prompts with markup are text on every page", async () => {
  const hostile = `<img src=x onerror="document.title='run'"><b>bold</b>`;
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  await api.post("/prompts", { prompt_name: hostile, prompt_content: hostile });
  const { body: agent } = await api.post("/agents", {
    agent_name: hostile,
    agent_type: "INBOUND",
    agent_description: hostile,
    first_message_prompt: hostile,
    prompt: { prompt_name: hostile },
  });
  const page = await openSignedIn(browser, stack, owner);
  for (const path of [
    "/agents",
    `/agents/${agent.id}?try=chat`,
    "/prompts",
    `/prompts/${encodeURIComponent(hostile)}`,
  ]) {
    await page.goto(path);
    await page.getByText("onerror").first().waitFor();
    expect(await page.locator("main img, main b").count()).toBe(0);
    expect(await page.title()).not.toBe("run");
  }
  expect(page.failures).toEqual([]);
  await page.context().close();
}, 240_000);

test("no page has an accessibility issue in either theme, is wider than a narrow phone, or changes when opened", async () => {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  await api.post("/prompts", { prompt_name: "refunds", prompt_content: "You handle refunds for {{company}}." });
  await api.post("/prompts", {
    prompt_name: "refunds",
    prompt_content: "You handle exchanges for {{company | Acme}}.",
  });
  const { body: agent } = await api.post("/agents", {
    agent_name: "Front desk",
    agent_type: "INBOUND",
    prompt: { prompt_name: "refunds" },
    first_message_prompt: "Hello, this is {{company | Acme}}.",
    llm: { provider_name: "OPENAI", model_name: "gpt-5-mini" },
    tools: { end_call: true, user_idle: { timeout_seconds: 10, max_reminders: 2 } },
    call_analysis_enabled: true,
    call_analysis_prompt: { custom_prompt: "Sum up." },
    call_analysis_schema: { summary: { type: "str" }, mood: { type: 'Literal["good","bad"]' } },
  });
  await api.send("PATCH", `/agents/${agent.id}`, {
    body: JSON.stringify({ agent_description: "Answers calls.", publishing: "manual", version_note: "Described" }),
    headers: { "content-type": "application/json" },
  });
  const tabs = ["prompt", "models", "tools", "analysis", "channels", "versions"].map(
    (tab) => `/agents/${agent.id}?tab=${tab}`,
  );
  const paths = [
    "/agents?new=true",
    ...tabs,
    `/agents/${agent.id}?tab=versions&version=2&against=1`,
    `/agents/${agent.id}?try=chat`,
    `/agents/${agent.id}?try=talk`,
    "/agents/agt_unknown",
    "/prompts",
    "/prompts/refunds",
    "/prompts/refunds?version=2",
    "/keys?new=true",
    "/nowhere",
  ];
  const visit = async (page: Awaited<ReturnType<typeof openSignedIn>>, path: string) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(path);
    await page.waitForLoadState("networkidle");
    const found = (await barriersOf(page)).map((barrier) => `${path}: ${barrier}`);
    if (await page.getByText("Unsaved changes", { exact: true }).isVisible()) found.push(`${path} is called changed`);
    // From this width on, the navigation is beside the page.
    await page.setViewportSize({ width: 1_024, height: 768 });
    const navigation = page.locator('nav[aria-label="Main"]');
    if (path !== "/sign-in" && !(await navigation.isVisible())) found.push(`${path} has no navigation at 1,024 px`);
    await page.setViewportSize({ width: 360, height: 740 });
    const tooWide = await pixelsTooWide(page);
    if (tooWide > 0) found.push(`${path} is ${tooWide} px too wide`);
    return found;
  };
  const signedOut = await openDashboard(browser, stack);
  const found = await visit(signedOut, "/sign-in");
  const page = await openSignedIn(browser, stack, owner);
  await withoutStreams(page);
  for (const path of paths) found.push(...(await visit(page, path)));
  expect(found).toEqual([]);
  expect(page.failures).toEqual([]);
  await Promise.all([signedOut.context().close(), page.context().close()]);
}, 300_000);

test("the scripts of the first page stay small, signed out and signed in", async () => {
  for (const open of [openDashboard, (...to: [Browser, RunningStack]) => openSignedIn(...to, stack.owners[1])]) {
    const page = await open(browser, stack);
    const scripts = new Set<string>();
    page.on("response", (response) => {
      if (/\.js$/.test(response.url())) scripts.add(response.url());
    });
    await withoutStreams(page);
    await page.goto("/", { waitUntil: "networkidle" });
    const sizes = [...scripts].map(
      async (url) => Bun.gzipSync(await (await fetch(url)).arrayBuffer(), { level: 9 }).length,
    );
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(SCRIPT_BYTES_MAX);
    await page.context().close();
  }
}, 240_000);
