import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { openSignedIn, pixelsTooWide, tabTo, untilFocused, withoutStreams } from "../kit/dashboard.ts";
import { echoOf, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent, llmOf } from "../kit/test-agent.ts";
import { createSession, PASSWORD } from "../kit/test-owner.ts";

const HOSTILE = `<img src=x onerror="alert('said')"><script>alert('script')</script>`;
setDefaultTimeout(300_000);

const [stack, model, browser] = await Promise.all([sharedStack(), startScriptedModel(), startChromium()]);
const api = stack.api(stack.owners[0].apiKey);
const agentId = await createAgent(api, model, {
  agent_name: `Desk ${HOSTILE}`,
  tools: { set_language: true },
  llm: { ...llmOf(model), pricing: { input: 1_000, output: 1_000 } },
});
model.next((exchange) => {
  exchange.toolCall(HOSTILE, { said: HOSTILE });
  exchange.finish();
});
model.next((exchange) => {
  exchange.text(echoOf(HOSTILE));
  exchange.finish();
});
const conversationId = await say(HOSTILE);
const manage = stack.manage(await createSession(stack, stack.owners[0].ownerId));
await manage.post("/keys", { name: HOSTILE });
const webhook = {
  name: HOSTILE,
  url: `https://hooks.example.com/${encodeURIComponent(HOSTILE)}`,
  request_type: "POST",
};
const destinationId = (await manage.post("/destinations", webhook)).body.destination_id;
const page = await openSignedIn(browser, stack, stack.owners[0]);
afterAll(async () => {
  await browser.close();
  await model.stop();
  await stack.stop();
});

async function say(message: string, sessionId?: string): Promise<string> {
  const turn = { agent_id: agentId, message, streaming: false, ...(sessionId && { session_id: sessionId }) };
  const { status, body } = await api.post("/chat", turn);
  expect(status).toBe(200);
  return body.session_id;
}

test("conversations are filtered by the address, show hostile words as text, and grow while they are live", async () => {
  await page.goto(`/conversations?agent_id=${agentId}&conversation_status=IN_PROGRESS`);
  const list = page.getByRole("table", { name: "Conversations" });
  await list.getByRole("link", { name: HOSTILE, exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove filter: Status" }).click();
  await page.waitForURL((url) => !url.search.includes("conversation_status"));
  await page.getByRole("button", { name: "Channel", exact: true }).click();
  await page.getByRole("menuitem", { name: "Phone" }).click();
  await page.getByText("No matching conversations").waitFor();
  expect(new URL(page.url()).searchParams.get("conversation_type")).toBe("TELEPHONY");
  await page.getByRole("button", { name: "Clear filters" }).click();
  // A click anywhere on a row opens it, on its time too.
  await list.getByRole("row").filter({ hasText: HOSTILE }).first().locator("td:last-child time").click();

  const transcript = page.getByRole("list", { name: "Transcript" });
  await transcript.getByText(`You said: ${HOSTILE}`).waitFor();
  expect(await transcript.getByRole("listitem").count()).toBe(2);
  const call = transcript.getByRole("button", { name: "Tool call" });
  await call.filter({ hasText: `${HOSTILE}Failed` }).click();
  await transcript.getByText(JSON.stringify({ said: HOSTILE }, null, 2)).waitFor();
  await transcript.getByText("There is no such tool.").waitFor();
  // Two calls of the model, each with 11 tokens of input and 7 of output.
  await transcript.getByText("$0.036").waitFor();
  await page.getByText("$0.036", { exact: true }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  expect(await page.locator("#root :is(img, script)").count()).toBe(0);
  // What is read stays where it is while the transcript grows below it.
  await page.setViewportSize({ width: 1280, height: 300 });
  await page.evaluate("scrollTo(0, 0)");
  await page.evaluate("new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)))");
  await say("Is anybody there?", conversationId);
  await transcript.getByText("You said: Is anybody there?").waitFor();
  expect(await page.evaluate<number>("scrollY")).toBe(0);
  await page.setViewportSize(USUAL);
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByText(`"conversation_id": "${conversationId}"`).waitFor();
  await page.goto("/conversations?page=9");
  await page.getByRole("button", { name: "Go to the first page" }).click();
  await list.waitFor();
  expect(page.failures).toEqual([]);
});

test("a transcript says where another agent takes over, and names that agent at its replies", async () => {
  const billing = await createAgent(api, model, { agent_name: "Billing" });
  const handoffs = [{ agent_id: billing, when: "The user asks about money", message: "I pass you on." }];
  const desk = await createAgent(api, model, { agent_name: "Reception", handoffs });
  model.next((exchange) => {
    exchange.toolCall(`hand_over_to_${billing}`, {});
    exchange.finish();
  });
  const turn = { agent_id: desk, message: "What do I owe?", streaming: false };
  const { session_id } = (await api.post("/chat", turn)).body;
  await api.post("/chat", { ...turn, session_id, message: "And now?" });
  await page.goto(`/conversations/${session_id}`);
  const lines = page.getByRole("list", { name: "Transcript" }).getByRole("listitem");
  await lines
    .nth(1)
    .getByText(/^I pass you on\.$/)
    .waitFor();
  await lines.nth(1).getByText("Billing takes over", { exact: true }).waitFor();
  await eventually(async () => {
    const named = (await lines.allInnerTexts()).map((text) => text.split("\n")[0]);
    expect(named).toEqual(["User", "Reception", "User", "Billing"]);
  });
  expect(await barriersOf(page)).toEqual([]);
});

test("an analysis appears when it is ready, after a conversation has ended and when it is asked for again", async () => {
  // The stand-in follows the requested schema, and calls end_call when the user says goodbye.
  const standIn = await createAgent(
    api,
    { baseUrl: `http://${stack.address("model")}/v1` },
    {
      tools: { end_call: true },
      call_analysis_enabled: true,
      call_analysis_prompt: { custom_prompt: "What became of it?" },
      call_analysis_schema: { solved: { type: "bool" } },
    },
  );
  const turn = { agent_id: standIn, message: "Hello!", streaming: false };
  const { body } = await api.post("/chat", turn);
  await page.goto(`/conversations/${body.session_id}?tab=analysis`);
  await page.getByText("Not analyzed yet").waitFor();
  await api.post("/chat", { ...turn, message: "Thank you, goodbye!", session_id: body.session_id });
  await page.getByRole("term").filter({ hasText: "solved" }).waitFor();
  const schema = { call_analysis_schema: { followed: { type: "bool" } } };
  const headers = { "content-type": "application/json" };
  await api.send("PATCH", `/agents/${standIn}`, { body: JSON.stringify(schema), headers });
  await page.getByRole("button", { name: "Analyze again" }).click();
  await page.getByRole("term").filter({ hasText: "followed" }).waitFor();
  expect(page.failures).toEqual([]);
});

test("a webhook is made, its failed test is read attempt by attempt, and it is resent when the receiver works", async () => {
  let status = 500;
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(status === 500 ? `out of order ${HOSTILE}` : "thanks", { status }),
  });
  try {
    await page.goto("/webhooks?new=true");
    await page.getByLabel("Name").fill("Ledger");
    await page.getByLabel("URL").fill("ftp://nowhere");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText("URL must be an https:// address").waitFor();
    await page.getByLabel("URL").fill(receiver.url.href);
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText(/^whsec_/).waitFor();
    // A press beside the dialog does not hide what is shown only once.
    await page.mouse.click(2, 2);
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))");
    await page.getByRole("button", { name: "Copy secret" }).click();
    await page.getByText("Your browser did not let this page copy.").first().waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("heading", { level: 1, name: "Ledger" }).waitFor();

    await page.getByRole("button", { name: "Send a test" }).click();
    const deliveries = page.getByRole("list", { name: "Deliveries" });
    await deliveries.getByText("Failed", { exact: true }).waitFor();
    await deliveries.getByRole("button", { expanded: false }).first().click();
    await deliveries.getByText("Attempt 4").waitFor();
    await deliveries.getByText(`out of order ${HOSTILE}`).first().waitFor();
    status = 200;
    await deliveries.getByRole("button", { name: "Resend" }).click();
    await deliveries.getByText("Delivered", { exact: true }).waitFor();
    await deliveries.getByText("Attempt 5").waitFor();
    expect(page.failures).toEqual([]);
  } finally {
    await receiver.stop(true);
  }
});

test("retention is shortened only after a question, and another session is ended", async () => {
  const [{ ownerId }] = stack.owners;
  const { owner } = await stack.accounts.getOwner({ ownerId });
  const { token } = await stack.accounts.signIn({
    email: owner?.email ?? "",
    password: PASSWORD,
    userAgent: "curl/8",
  });
  await page.goto("/settings");
  await page.getByLabel("Days").fill("30");
  const retention = page.locator("form").filter({ has: page.getByLabel("Days") });
  await retention.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Delete conversations after 30 days?" }).waitFor();
  await page.getByRole("button", { name: "Shorten retention" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const other = page.getByRole("listitem").filter({ hasText: "curlSigned in" });
  await other.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  // The dialog hides the list as well.
  await page.getByText("Signed out of curl", { exact: true }).waitFor();
  await other.waitFor({ state: "detached" });
  expect((await stack.manage(token).get("/me")).status).toBe(401);
  expect(page.failures).toEqual([]);
});

test("a trunk is connected, its number is given to an agent, and a call that the agent makes is followed and hung up", async () => {
  const number = "+13125557311";
  await page.goto("/numbers?new=true");
  await page.getByRole("combobox", { name: "Provider" }).selectOption("SIP trunk");
  await page.getByLabel("Server").fill("not a host");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "host" }).waitFor();
  // Nothing listens at this address.
  await page.getByLabel("Server").fill("127.0.0.1:9");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  const trunk = page.getByRole("list", { name: "Carriers" }).getByRole("listitem").filter({ hasText: "SIP trunk" });
  await trunk.getByText("No registration").waitFor();
  await trunk.getByText("The trunk has no username and password").waitFor();
  await page.getByRole("button", { name: "Add a number" }).click();
  await page.getByLabel("Phone number", { exact: true }).fill(number);
  await page.getByRole("button", { name: "Import" }).click();
  await page.getByRole("combobox", { name: `Agent that answers ${number}` }).selectOption(agentId);
  const numbersOf = async (id: string) => (await api.get(`/agents/${id}`)).body.agent_mobile_number;
  await eventually(async () => expect(await numbersOf(agentId)).toEqual([number]));
  // The editor of another agent says whose number it is, and takes it over.
  const { body: other } = await api.post("/agents", { agent_name: "Night desk", agent_type: "INBOUND" });
  await page.goto(`/agents/${other.id}?tab=channels`);
  const choice = page.getByRole("checkbox", { name: number });
  await page.getByText(/^Answered by /).waitFor();
  await choice.click();
  await page.getByText(/^Saving moves it here from /).waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await eventually(async () => expect([await numbersOf(agentId), await numbersOf(other.id)]).toEqual([[], [number]]));
  await page.goto("/numbers");
  const answers = page.getByRole("combobox", { name: `Agent that answers ${number}` });
  await eventually(async () => expect(await answers.inputValue()).toBe(other.id));
  await answers.selectOption(agentId);
  await eventually(async () => expect([await numbersOf(agentId), await numbersOf(other.id)]).toEqual([[number], []]));

  await page.goto("/calls?new=true");
  await page.getByLabel("Phone number", { exact: true }).fill("12");
  await page.getByRole("combobox", { name: "Agent" }).selectOption(agentId);
  const call = page.getByRole("button", { name: "Call", exact: true });
  await call.click();
  await page.getByRole("alert").filter({ hasText: "E.164" }).waitFor();
  await page.getByLabel("Phone number", { exact: true }).fill("+1 312 555 7399");
  await call.click();
  const row = page.getByRole("row").filter({ hasText: "+13125557399" });
  await row.getByRole("button").click();
  await page
    .getByText(/^(Removed from the queue|Hanging up)$/)
    .first()
    .waitFor();
  expect(page.failures).toEqual([]);
});

test("a batch names its wrong rows before anybody is called, and is then paused and cancelled", async () => {
  const csv = (rows: string) => ({
    name: "calls.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(`to_mobile_number,name\n${rows}`),
  });
  await page.goto("/calls?tab=batches");
  await page.getByRole("button", { name: "New batch" }).click();
  await page.getByLabel("File").setInputFiles(csv(`+13125557398,Ada\n12,<b>Zoe</b>\nnobody,Bob\n`));
  await page.getByRole("combobox", { name: "Agent" }).selectOption(agentId);
  const start = page.getByRole("button", { name: "Start calling" });
  await page.getByRole("alert").getByText("Line 4").waitFor();
  expect(await page.getByRole("alert").getByRole("listitem").count()).toBe(2);
  expect(await start.isDisabled()).toBe(true);
  await page.getByLabel("File").setInputFiles(csv("+13125557398,<b>Ada</b>\n+13125557397,Bob\n"));
  await page.getByRole("cell", { name: "<b>Ada</b>", exact: true }).waitFor();
  await start.click();
  const batch = page.getByRole("list", { name: "Batches" }).getByRole("listitem");
  await batch.getByRole("button", { name: "Pause" }).click();
  await batch.getByText("Paused", { exact: true }).waitFor();
  await batch.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel batch" }).click();
  await batch.getByText("Cancelled", { exact: true }).first().waitFor();
  // Calls of other batches, and single ones, are left out.
  await batch.getByRole("link", { name: "Show calls" }).click();
  await page.waitForURL(/batch_id=bat_/);
  const all = page.getByRole("button", { name: "Calls of one batch" });
  await page
    .getByText("No matching calls")
    .or(page.getByText(/^\+1312555739[78]$/).first())
    .waitFor();
  expect(await page.getByText("+13125557399").count()).toBe(0);
  await all.click();
  await page.getByText("+13125557399").first().waitFor();
  expect(page.failures).toEqual([]);
});

test("the pages of conversations and calls work with the keyboard alone", async () => {
  const { keyboard } = page;
  const focused = () => page.evaluate<string>("document.activeElement?.innerText ?? ''");
  await page.goto(`/conversations?agent_id=${agentId}`);
  const list = page.getByRole("table", { name: "Conversations" });
  await list.waitFor();
  await tabTo(page, /^Status/);
  await keyboard.press("Enter");
  const live = page.getByRole("menuitem", { name: "In progress" });
  await live.waitFor();
  // The menu takes keys once its first item has the focus.
  await eventually(async () => expect(await live.evaluate((item) => item.matches(":focus"))).toBeTrue());
  await keyboard.press("Enter");
  await page.waitForURL(/conversation_status=IN_PROGRESS/);
  await list.getByRole("link", { name: HOSTILE, exact: true }).first().waitFor();
  await tabTo(page, /^<img/);
  await keyboard.press("Enter");
  const transcript = page.getByRole("list", { name: "Transcript" });
  await transcript.waitFor();
  await tabTo(page, /^Tool call/);
  await keyboard.press("Enter");
  await transcript.getByText("There is no such tool.").waitFor();
  await tabTo(page, /^Transcript/);
  await keyboard.press("ArrowRight");
  await page.waitForURL(/tab=latency/);

  await page.goto("/calls?tab=do-not-call");
  await page.getByText("No numbers on the list").waitFor();
  const listed = (number: string) => page.getByRole("cell", { name: number, exact: true });
  for (const number of ["+13125557397", "+49301234567"]) {
    await page.getByLabel("Phone number", { exact: true }).fill(number);
    await page.getByRole("button", { name: "Add to list" }).click();
    await listed(number).waitFor();
  }
  const search = page.getByRole("searchbox", { name: "Search numbers" });
  await search.fill("1 (312)");
  await listed("+49301234567").waitFor({ state: "detached" });
  await listed("+13125557397").waitFor();
  await search.fill("+1 312 555 7390");
  await page.getByText("No matching numbers").waitFor();
  await page.goto("/calls?tab=do-not-call");
  await tabTo(page, /^Do not call/);
  // First the tab's panel, then its field.
  await keyboard.press("Tab");
  await keyboard.press("Tab");
  await keyboard.type("+1 312 555 7396");
  await keyboard.press("Enter");
  await page.getByRole("cell", { name: "+13125557396", exact: true }).waitFor();
  await tabTo(page, /^Remove \+13125557396/);
  await keyboard.press("Enter");
  const question = page.getByRole("dialog", { name: /call \+13125557396 again/ });
  await untilFocused(page);
  await keyboard.press("Escape");
  await question.waitFor({ state: "hidden" });
  await eventually(async () => expect(await focused()).toBe("Remove"));
  await keyboard.press("Enter");
  await question.waitFor();
  await tabTo(page, /^Remove from list/);
  await keyboard.press("Enter");
  await listed("+13125557396").waitFor({ state: "detached" });
  expect(page.failures).toEqual([]);
});

const PAGES = [
  "/",
  "/agents",
  "/tools",
  "/tools?new=true",
  "/tools/new",
  "/tools/new?type=client",
  "/tools/new?type=mcp",
  "/tools/import",
  "/conversations",
  "/calls",
  "/calls?new=true",
  "/calls?tab=batches",
  "/calls?tab=do-not-call",
  "/numbers",
  "/numbers?new=true",
  "/webhooks",
  "/keys",
  "/secrets",
  "/secrets?new=true",
  "/usage",
  "/settings",
];
const TABS = ["", "?tab=latency", "?tab=analysis", "?tab=deliveries", "?tab=json"];
const NARROW = { width: 360, height: 740 };
const USUAL = { width: 1280, height: 800 };
const WIDE = { width: 2560, height: 1440 };

test("the pages have no barrier in light or dark, show hostile names as text, and fit windows of 360 and 2560 px", async () => {
  await withoutStreams(page);
  const ofOne = [...TABS.map((tab) => `/conversations/${conversationId}${tab}`), `/webhooks/${destinationId}`];
  for (const path of [...PAGES, ...ofOne]) {
    await page.goto(path);
    await page.waitForLoadState("networkidle");
    expect([path, await barriersOf(page)]).toEqual([path, []]);
    expect([path, await page.locator("#root :is(img, b, script)").count()]).toEqual([path, 0]);
    for (const size of [NARROW, WIDE]) {
      await page.setViewportSize(size);
      expect([path, size, await pixelsTooWide(page)]).toEqual([path, size, 0]);
    }
    await page.setViewportSize(USUAL);
  }
  expect(page.failures).toEqual([]);
});

test("on a narrow screen, the button that copies code does not cover it", async () => {
  await page.goto(`/webhooks/${destinationId}?tab=receiver`);
  await page.setViewportSize(NARROW);
  const button = await page.getByRole("button", { name: "Copy the TypeScript receiver" }).boundingBox();
  const firstLine = await page.locator("pre").evaluate((block) => {
    const range = block.ownerDocument.createRange();
    range.selectNodeContents(block);
    return range.getClientRects()[0]?.top ?? 0;
  });
  await page.setViewportSize(USUAL);
  if (!button) throw new Error("the code has no button that copies it");
  expect(button.y + button.height).toBeLessThanOrEqual(firstLine);
});

test("the receivers that the dashboard shows are those that the documentation's test runs", async () => {
  const documentation = await Bun.file(new URL("../../docs/webhooks.md", import.meta.url)).text();
  for (const [name, language] of [
    ["typescript", "ts"],
    ["python", "python"],
  ]) {
    const file = new URL(`../../dashboard/src/features/webhooks/receivers/${name}.txt`, import.meta.url);
    expect(documentation).toContain(`\`\`\`${language}\n${await Bun.file(file).text()}\`\`\``);
  }
});
