import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { CallingType, ConversationType, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  CompleteConversationRequest,
  ConversationServiceService,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { DEFAULT_EVENTS } from "@parley/shared/portable/events";
import { createClient } from "@parley/shared/rpc/client";
import { eventually } from "@parley/testkit/eventually";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { openSignedIn } from "../kit/dashboard.ts";
import { echoOf, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent, llmOf } from "../kit/test-agent.ts";

setDefaultTimeout(300_000);
const CALLEE = "+13125558101";

const [stack, model, browser] = await Promise.all([sharedStack(), startScriptedModel(), startChromium()]);
const api = stack.api(stack.owners[0].apiKey);
const agentId = await createAgent(api, model, {
  agent_name: "=Desk",
  llm: { ...llmOf(model), pricing: { input: 1_000, output: 1_000 } },
});
model.next((exchange) => {
  exchange.text(echoOf("your parcel is on its way"));
  exchange.finish();
});
const turn = { agent_id: agentId, message: "Where is my Parcel, please?", streaming: false };
expect((await api.post("/chat", turn)).status).toBe(200);
await Promise.all([call(Outcome.OUTCOME_BUSY, "Twilio 486: busy"), call(Outcome.OUTCOME_NO_ANSWER), call(0, "", true)]);
const page = await openSignedIn(browser, stack, stack.owners[0]);
afterAll(async () => {
  await browser.close();
  await model.stop();
  await stack.stop();
});

/** An outbound call as a voice runtime reports it; one without an outcome goes on. */
async function call(outcome: Outcome, notes = "", isTestCall = false): Promise<void> {
  const client = createClient(ConversationServiceService, {
    peer: "conversation",
    address: stack.address("conversation"),
  });
  const key = { ownerId: stack.owners[0].ownerId, conversationId: newUuid() };
  const type = ConversationType.CONVERSATION_TYPE_TELEPHONY;
  const numbers = { toMobileNumber: CALLEE, fromMobileNumber: "+13125558100" };
  const begun = { ...key, agentId, type, callingType: CallingType.CALLING_TYPE_OUTBOUND, ...numbers, isTestCall };
  await client.startConversation(StartConversationRequest.fromPartial(begun));
  if (outcome !== 0)
    await client.completeConversation(CompleteConversationRequest.fromPartial({ ...key, outcome, notes }));
  client.close();
}

test("the list of conversations tells numbers, outcomes and costs, hides tests, marks what was searched, and is saved as CSV", async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`/conversations?agent_id=${agentId}`);
  const list = page.getByRole("table", { name: "Conversations" });
  const busy = list.getByRole("row").filter({ hasText: "Busy" });
  await busy.getByText("Outbound", { exact: true }).waitFor({ state: "attached" });
  await busy.getByRole("cell", { name: CALLEE }).last().waitFor();
  await busy.getByText("Twilio 486: busy").waitFor();
  await list.getByText("No answer", { exact: true }).waitFor();
  // 11 tokens of input and 7 of output, at a dollar a thousand.
  await list.getByText("$0.018", { exact: true }).waitFor();
  expect(await list.getByRole("row").count()).toBe(5);
  expect(await barriersOf(page)).toEqual([]);

  await page.getByRole("button", { name: "Tests", exact: true }).click();
  await page.getByRole("menuitem", { name: "Without tests" }).click();
  await page.waitForURL(/is_test_call=false/);
  await eventually(async () => expect(await list.getByRole("row").count()).toBe(4));

  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Number" }).click();
  for (const name of ["Messages", "Version"]) {
    await page.getByRole("checkbox", { name }).click();
    await list.getByRole("columnheader", { name }).waitFor();
  }
  await list.getByRole("columnheader", { name: "Number" }).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.reload();
  await list.getByRole("columnheader", { name: "Messages" }).waitFor();
  expect(await list.getByRole("columnheader", { name: "Number" }).count()).toBe(0);

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const file = await (await saved).path();
  const lines = (await Bun.file(file).text()).trim().split("\r\n");
  expect(lines[0]).toContain("Conversation ID,Started (UTC),Conversation,Agent");
  expect(lines).toHaveLength(4);
  expect(
    lines.filter((line) => line.includes(`'=Desk,1,Phone,Outbound,'${CALLEE},Busy,Twilio 486: busy`)),
  ).toHaveLength(1);
  expect(lines.filter((line) => line.includes(",0.018,no"))).toHaveLength(1);

  await page.getByRole("searchbox", { name: "Search what was said" }).fill("my parcel");
  await list.locator("mark").getByText("my Parcel", { exact: true }).waitFor();
  await eventually(async () => expect(await list.getByRole("row").count()).toBe(2));
  expect(await barriersOf(page)).toEqual([]);
  expect(page.failures).toEqual([]);
});

test("a webhook's delivery shows the payload and headers that were sent, and the webhook keeps its longer schedule", async () => {
  const headers: Record<string, string>[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      headers.push(Object.fromEntries(request.headers));
      return new Response("thanks");
    },
  });
  try {
    await page.goto("/webhooks?new=true");
    await page.getByLabel("Name").fill("Archive");
    await page.getByLabel("URL").fill(receiver.url.href);
    await page.getByRole("combobox", { name: "Attempts" }).selectOption("8 attempts over 24 hours");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    const deliveries = page.getByRole("list", { name: "Deliveries" });
    await deliveries.getByText("Delivered", { exact: true }).waitFor();
    await deliveries.getByRole("button", { expanded: false }).first().click();
    await deliveries.getByText("Payload", { exact: true }).click();
    await deliveries.getByText('"conversation_status": "COMPLETED"').waitFor();
    await deliveries.getByText("Request", { exact: true }).click();
    await deliveries.getByText(`webhook-signature: ${headers[0]?.["webhook-signature"]}`).waitFor();
    await deliveries.getByText("thanks", { exact: true }).waitFor();
    await deliveries
      .getByText(/\d:\d\d:\d\d/)
      .first()
      .waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Actions for Archive" }).click();
    await page.getByRole("menuitem", { name: "Edit…" }).click();
    expect(await page.getByRole("combobox", { name: "Attempts" }).inputValue()).toBe("extended");
    expect(page.failures).toEqual([]);
  } finally {
    await receiver.stop(true);
  }
});

test("a webhook gets the events that are chosen, and a test of one; a first alert is switched on, and counted in the navigation while it is open", async () => {
  const told: string[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      told.push(String((await request.formData()).get("event")));
      return new Response("thanks");
    },
  });
  try {
    await page.goto("/webhooks?new=true");
    await page.getByLabel("Name").fill("Pager");
    await page.getByLabel("URL").fill(receiver.url.href);
    for (const event of [...DEFAULT_EVENTS, "alert.opened", "alert.resolved"])
      await page.getByRole("checkbox", { name: event }).click();
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Send another event as a test" }).click();
    await page.getByRole("menuitem", { name: "alert.resolved" }).click();
    const deliveries = page.getByRole("list", { name: "Deliveries" });
    await deliveries.getByText("alert.resolved").first().waitFor();
    await eventually(() => expect(told).toEqual(["alert.resolved"]));
    expect(await barriersOf(page)).toEqual([]);

    const links = page.getByRole("navigation", { name: "Main" });
    await links.getByRole("link", { name: "Alerts" }).click();
    const row = page.getByRole("row").filter({ hasText: "Conversations fail" });
    await row.getByText("Off", { exact: true }).waitFor();
    await row.getByRole("switch", { name: "Check “Conversations fail”" }).click();
    await row.getByText(/^(Not checked yet|OK)$/).waitFor();
    expect(await links.getByRole("link", { name: "Alerts", exact: true }).count()).toBe(1);
    // The chat of above has cost more.
    const rule = { name: "Any cost", metric: "cost", window_minutes: 1_440, threshold: 0.001 };
    await manage("alerts", rule);
    await eventually(() => expect(told).toContain("alert.opened"));
    await page.reload();
    await links.getByRole("link", { name: "Alerts 1 open" }).waitFor();
    await page.getByRole("row").filter({ hasText: "Any cost" }).getByText("Open", { exact: true }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect(page.failures).toEqual([]);
  } finally {
    await receiver.stop(true);
  }
});

test("a batch has the name of its file, takes a dropped one, and shows its progress alone", async () => {
  await page.goto("/calls?tab=batches");
  await page.getByRole("button", { name: "New batch" }).first().click();
  expect(await page.getByRole("link", { name: "Download a sample file" }).getAttribute("href")).toStartWith(
    "data:text/csv",
  );
  const buffer = Buffer.from("to_mobile_number,name\n12,Zoe\n");
  await page.getByLabel("File").setInputFiles({ name: "june.csv", mimeType: "text/csv", buffer });
  // The field is named as the page's reader knows it, and the line as the file has it.
  await page.getByRole("alert").getByText("Line 2: phone number must").waitFor();
  expect(await page.getByLabel("Name").getAttribute("placeholder")).toBe("june.csv");
  await page.getByRole("combobox", { name: "Agent" }).selectOption(agentId);
  expect(await page.getByRole("button", { name: "Start calling" }).isDisabled()).toBeTrue();
  expect(await barriersOf(page)).toEqual([]);
  expect(page.failures).toEqual([]);
});

test("what does not exist is told alike, and what a dialog says is impossible cannot be pressed", async () => {
  const missing = {
    "/agents/agt_01m7yyhwdzeb28n9gms8rr2qyg": "agent",
    [`/conversations/${newUuid()}`]: "conversation",
    "/prompts/nothing": "prompt",
    "/webhooks/whd_01m7yyhwdzeb28n9gms8rr2qyg": "webhook",
  };
  for (const [path, what] of Object.entries(missing)) {
    await page.goto(path);
    await page.getByRole("heading", { name: `This ${what} does not exist` }).waitFor();
    await page.getByRole("link", { name: `All ${what}s` }).waitFor();
  }
  const prompt = { prompt_name: "greeting-everyone", prompt_content: "Greet." };
  await api.post("/prompts", prompt);
  await api.post("/agents", {
    agent_name: "שולחן",
    agent_type: "INBOUND",
    prompt: { prompt_name: prompt.prompt_name },
  });
  await page.goto(`/prompts/${prompt.prompt_name}`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Agents use this prompt. Give each of them a different prompt first.").waitFor();
  expect(await page.getByRole("button", { name: "Delete prompt" }).isDisabled()).toBeTrue();
  expect(await barriersOf(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.goto("/agents");
  await page.getByRole("link", { name: "שולחן" }).waitFor();
  const link = `[...document.querySelectorAll("a")].find(({ textContent }) => textContent === "שולחן")`;
  expect(await page.evaluate<string>(`getComputedStyle(${link}).direction`)).toBe("rtl");
  expect(page.failures).toEqual([]);
});

test("Escape closes a dialog at once, also while the page tells that something was done", async () => {
  await page.goto("/keys?new=true");
  await page.getByLabel("Name").fill("Short lived");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('denied'))");
  await page.getByRole("button", { name: /^Copy/ }).first().click();
  await page.getByRole("list", { name: "Notifications" }).getByRole("listitem").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(page.failures).toEqual([]);
});

/** Calls the management API with the session of the page. */
function manage(path: string, body: object) {
  const headers = { "content-type": "application/json" };
  const request = JSON.stringify({ method: "POST", headers, body: JSON.stringify(body) });
  return page.evaluate<Record<string, string>>(`fetch("/v1/manage/${path}", ${request}).then((each) => each.json())`);
}

test("at 360 px the button that removes a number can be seen, and a strip of tabs shows that it scrolls", async () => {
  await page.goto("/numbers");
  const { carrier_id } = await manage("carriers", { provider: "SIP", host: "127.0.0.1:9" });
  await manage(`carriers/${carrier_id}/numbers`, { mobile_number: "+13125558177" });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto("/numbers");
  const row = page.getByRole("row").filter({ hasText: "+13125558177" });
  const remove = await row.getByRole("button", { name: "Remove" }).boundingBox();
  expect((remove?.x ?? 360) + (remove?.width ?? 0)).toBeLessThanOrEqual(360);
  // The carrier has a number, so it cannot be disconnected.
  await page
    .getByRole("listitem")
    .filter({ hasText: "127.0.0.1:9" })
    .getByRole("button", { name: "Disconnect" })
    .click();
  await page.getByText("Its phone numbers are still here. Remove them first.").waitFor();
  expect(await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).isDisabled()).toBeTrue();
  await page.goto(`/agents/${agentId}`);
  await page.getByRole("tablist", { name: "Agent settings" }).waitFor();
  const strip = `document.querySelector("[aria-label='Agent settings']")`;
  expect(await page.evaluate<string>(`getComputedStyle(${strip}).backgroundAttachment`)).toContain("local");
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(page.failures).toEqual([]);
});

test("a number is shown with the agent whose published version answers it, and with the agent that waits for it", async () => {
  const mobileNumber = "+13125558178";
  const agent = { agent_name: "Later", publishing: "manual", agent_mobile_number: [mobileNumber] };
  const id = await createAgent(api, model, agent);
  await page.goto("/numbers");
  const { carrier_id } = await manage("carriers", { provider: "SIP", host: "127.0.0.1:9" });
  await manage(`carriers/${carrier_id}/numbers`, { mobile_number: mobileNumber });
  await page.goto("/numbers");
  const row = page.getByRole("row").filter({ hasText: mobileNumber });
  const waits = row.getByRole("link", { name: "Unpublished change in “Later”" });
  await waits.waitFor();
  expect(await row.getByRole("combobox").inputValue()).toBe("nobody");
  expect((await api.post(`/agents/${id}/versions/1/publish`, {})).status).toBe(200);
  await page.reload();
  await row.getByRole("combobox").waitFor();
  expect([await row.getByRole("combobox").inputValue(), await waits.count()]).toEqual([id, 0]);
  expect(page.failures).toEqual([]);
});
