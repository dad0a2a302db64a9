import { afterAll, afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import type { Page } from "playwright-core";
import postgres from "postgres";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const HOSTILE = '<img src=x onerror="window.attacked = true"><script>window.attacked = true</script>';
const WITHIN_MS = 60_000;

/** What the site's page shows. */
let page = "";

const stack = await sharedStack();
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text(`We open at nine. ${HOSTILE}`);
  exchange.finish();
});
const api = stack.api(stack.owners[0].apiKey);
const browser = await startChromium();
// The strictest policy under which a page can still load the widget.
const policy = `default-src 'none'; script-src ${stack.url}; connect-src ${stack.url}`;
const headers = { "Content-Type": "text/html", "Content-Security-Policy": policy };
/** A customer's site, on another origin than Parley. */
const site = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(page, { headers }) });
const agentId = await createAgent(api, model, {
  agent_name: "Front desk",
  widget_config: {
    title: HOSTILE,
    subtitle: "We answer at once",
    greeting: "How can I help you?",
    primary_color: "#ffe000",
    position: "bottom-left",
    suggested_messages: ["When do you open?"],
    allowed_origins: [site.url.origin],
  },
});
afterAll(async () => {
  await browser.close();
  await site.stop(true);
  await model.stop();
  await stack.stop();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

const pageOf = (agent: string) =>
  `<!doctype html><html lang="en"><head><title>Shop</title></head><body><main><h1>Shop</h1></main>
   <script src="${stack.url}/widget.js" data-agent="${agent}" async></script></body></html>`;
page = pageOf(agentId);

async function openPage(): Promise<Page> {
  const opened = await (await browser.newContext()).newPage();
  opened.setDefaultTimeout(WITHIN_MS);
  await opened.goto(site.url.href);
  return opened;
}

const messagesOf = (opened: Page) => opened.getByRole("log").locator(".message").allTextContents();
const isAnswered = (opened: Page) =>
  eventually(async () => expect(await opened.getByRole("log").getAttribute("aria-busy")).toBe("false"));
const isAttacked = (opened: Page) => opened.evaluate("window.attacked === true");

test("a visitor of another origin's site chats by keyboard alone, and continues after the next page", async () => {
  const opened = await openPage();
  await opened.getByRole("button", { name: "Open chat" }).focus();
  await opened.keyboard.press("Enter");
  await opened.getByRole("dialog").waitFor();
  expect(await messagesOf(opened)).toEqual(["How can I help you?"]);
  // The field has the focus.
  await opened.keyboard.type("When do you open?");
  await opened.keyboard.press("Enter");
  const reply = `We open at nine. ${HOSTILE}`;
  await eventually(async () =>
    expect(await messagesOf(opened)).toEqual(["How can I help you?", "When do you open?", reply]),
  );
  await isAnswered(opened);
  await opened.keyboard.press("Escape");
  expect(await opened.getByRole("dialog").count()).toBe(0);

  await opened.goto(`${site.url.href}another`);
  await opened.getByRole("button", { name: "Open chat" }).click();
  await eventually(async () => expect(await messagesOf(opened)).toEqual(["When do you open?", reply]));
  await opened.getByLabel("Your message").fill("And on Sundays?");
  await opened.getByRole("button", { name: "Send" }).click();
  await eventually(async () => expect(await messagesOf(opened)).toHaveLength(4));
  await eventually(async () => {
    const { data } = (await api.get(`/conversations?agent_id=${agentId}`)).body;
    expect(data).toMatchObject([
      { conversation_type: "CHAT", conversation_metadata: { widget_origin: site.url.origin } },
    ]);
    expect(data[0].conversation_transcript).toHaveLength(4);
  });
});

test("what an operator writes appears in the widget, and the visitor's messages are left to them", async () => {
  const opened = await openPage();
  await opened.getByRole("button", { name: "Open chat" }).click();
  await opened.getByLabel("Your message").fill("Hello?");
  await opened.keyboard.press("Enter");
  await eventually(async () => expect((await messagesOf(opened)).at(-1)).toContain("We open at nine."));
  // While a reply is written, the widget sends nothing.
  await isAnswered(opened);
  const { body } = await api.get(`/conversations?agent_id=${agentId}&shape=flat&page_size=1`);
  const sessionId = body.conversations[0].conversation_id;
  const control = (action: object) => api.post(`/conversations/${sessionId}/control`, action);
  expect((await control({ action: "take_over" })).status).toBe(200);
  await opened.getByLabel("Your message").fill("Is anybody there?");
  await opened.keyboard.press("Enter");
  await control({ action: "say", text: "Ada here. How can I help?" });
  await eventually(async () =>
    expect((await messagesOf(opened)).slice(-2)).toEqual(["Is anybody there?", "Ada here. How can I help?"]),
  );
});

test("a message that could not be sent returns to the field, and one whose page is left is shown on the next page", async () => {
  const opened = await openPage();
  await opened.getByRole("button", { name: "Open chat" }).click();
  await opened.route("**/widget-messages", (route) => route.abort(), { times: 1 });
  const field = opened.getByLabel("Your message");
  await field.fill("Are you there?");
  await field.press("Enter");
  await opened.getByRole("alert").filter({ hasText: "could not be sent" }).waitFor();
  expect(await field.inputValue()).toBe("Are you there?");
  expect(await messagesOf(opened)).toEqual(["How can I help you?"]);
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  // Never answered.
  await opened.route("**/widget-messages", () => resolve());
  await field.press("Enter");
  await asked;
  await opened.goto(`${site.url.href}another`);
  await opened.getByRole("dialog").waitFor();
  expect(await messagesOf(opened)).toEqual(["Are you there?"]);
});

test("the chat has no barriers on a page of another origin, in both themes, and keys reach all of it", async () => {
  const opened = await openPage();
  await opened.getByRole("button", { name: "Open chat" }).waitFor();
  expect(await barriersOf(opened)).toEqual([]);
  const focused = () =>
    opened.evaluate<string>(`(() => {
      const { activeElement: at } = document.querySelector("parley-chat").shadowRoot;
      return at?.getAttribute("aria-label") ?? at?.textContent ?? at?.id ?? "";
    })()`);
  await opened.keyboard.press("Tab");
  expect(await focused()).toBe("Open chat");
  await opened.keyboard.press("Enter");
  await opened.getByRole("button", { name: "When do you open?" }).waitFor();
  expect(await barriersOf(opened)).toEqual([]);
  const reached: string[] = [];
  for (let presses = 0; presses < 3; presses++) {
    await opened.keyboard.press("Shift+Tab");
    reached.push(await focused());
  }
  expect(reached).toEqual(["When do you open?", "Messages", "Close chat"]);
  await opened.keyboard.press("Tab");
  await opened.keyboard.press("Tab");
  await opened.keyboard.press("Enter");
  await eventually(async () => expect((await messagesOf(opened)).at(-1)).toStartWith("We open at nine."));
  await isAnswered(opened);
  expect(await barriersOf(opened)).toEqual([]);
});

test("what agent and model say is plain text in the page, and the look is the owner's", async () => {
  const opened = await openPage();
  await opened.getByRole("button", { name: "Open chat" }).click();
  expect(await opened.getByRole("heading", { level: 2 }).textContent()).toBe(HOSTILE);
  await opened.getByRole("button", { name: "When do you open?" }).click();
  await eventually(async () => expect((await messagesOf(opened)).at(-1)).toContain("<script>"));
  expect(await isAttacked(opened)).toBeFalse();
  const host = opened.locator("parley-chat");
  expect(await host.getAttribute("data-corner")).toBe("bottom-left");
  // Dark text on a light color.
  const letters = "document.querySelector('parley-chat').style.getPropertyValue('--on-color')";
  expect(await opened.evaluate<string>(letters)).toBe("#16181d");
});

test("a page that has the script twice shows one chat", async () => {
  const [, script = ""] = /(<script.*<\/script>)/.exec(page) ?? [];
  page = page.replace(script, script + script);
  const context = await browser.newContext();
  const opened = await context.newPage();
  const requests: string[] = [];
  opened.on("request", (request) => requests.push(request.url()));
  await opened.goto(site.url.href);
  await opened.getByRole("button", { name: "Open chat" }).waitFor();
  expect(requests.filter((url) => url.endsWith("/widget-tokens"))).toHaveLength(1);
  expect(await opened.locator("parley-chat").count()).toBe(1);
});

test("a page whose origin is not listed shows no chat, and says why in its console", async () => {
  page = pageOf(await createAgent(api, model, { widget_config: { allowed_origins: ["https://shop.example"] } }));
  const context = await browser.newContext();
  const opened = await context.newPage();
  const said: string[] = [];
  opened.on("console", (message) => said.push(message.text()));
  await opened.goto(site.url.href);
  await eventually(() =>
    expect(said.join()).toContain("is not in widget_config.allowed_origins of the agent's published version"),
  );
  expect(await opened.locator("parley-chat").count()).toBe(0);
});

test("the script weighs at most 30 kB gzipped, and browsers keep it", async () => {
  const response = await fetch(`${stack.url}/widget.js`, { headers: { "Accept-Encoding": "gzip" }, decompress: false });
  expect((await response.bytes()).length).toBeLessThan(30_000);
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
  const etag = response.headers.get("etag") ?? "";
  const again = await fetch(`${stack.url}/widget.js`, {
    headers: { "Accept-Encoding": "gzip", "If-None-Match": etag },
  });
  expect(again.status).toBe(304);
});

let addresses = 0;
/** Each test acts as another visitor. */
const address = () => `10.77.0.${++addresses}`;

function ask(body: object, { origin = site.url.origin, from = address() } = {}) {
  const headers = { "Content-Type": "application/json", Origin: origin, "X-Forwarded-For": from };
  return fetch(`${stack.url}/v1/public/widget-tokens`, { method: "POST", headers, body: JSON.stringify(body) });
}

function say(token: string, message: string, { origin = site.url.origin, from = address() } = {}) {
  const headers = {
    ...{ "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    ...{ Origin: origin, "X-Forwarded-For": from },
  };
  const init = { method: "POST", headers, body: JSON.stringify({ message }) };
  return fetch(`${stack.url}/v1/public/widget-messages`, init);
}

// biome-ignore lint/suspicious/noExplicitAny: the answer as it comes
const tokenBody = async (response: Promise<Response>): Promise<any> => (await response).json();
const tokenOf = async (agent = agentId): Promise<string> => (await tokenBody(ask({ agent_id: agent }))).token;

test("a token opens one session with one agent, from one origin, and nothing else of the API", async () => {
  const token = await tokenOf();
  const reply = await say(token, "Hi");
  expect(reply.status).toBe(200);
  expect(await reply.text()).toStartWith("We open at nine.");
  expect((await say(token, "Hi", { origin: "https://evil.example" })).status).toBe(401);
  expect((await say(`${token.slice(0, -3)}AAA`, "Hi")).status).toBe(401);
  expect((await say("nonsense", "Hi")).status).toBe(401);
  expect((await fetch(`${stack.url}/v1/public/agents`, { headers: { "X-API-Key": token } })).status).toBe(401);
  expect((await fetch(`${stack.url}/v1/public/widget-messages`, { method: "POST", body: "{}" })).status).toBe(401);
  const another = await tokenOf();
  expect((await say(another, "Hi")).headers.get("x-session-id")).not.toBe(reply.headers.get("x-session-id"));
});

test("a token is refused to pages that are not listed, and for agents that do not exist", async () => {
  expect((await ask({ agent_id: agentId }, { origin: "https://evil.example" })).status).toBe(403);
  expect((await ask({ agent_id: agentId }, { origin: "null" })).status).toBe(403);
  expect((await ask({ agent_id: "agt_01m7yyhwdzeb28n9gms8rr2qyg" })).status).toBe(404);
  expect((await ask({ agent_id: agentId, token: "nonsense" })).status).toBe(401);
  expect((await ask({})).status).toBe(422);
  expect((await ask({ agent_id: agentId, filler: "x".repeat(40_000) })).status).toBe(413);
  const shown = await tokenBody(ask({ agent_id: agentId }));
  expect(shown.widget_config.allowed_origins).toBeUndefined();
});

test("a message that is empty or too long is refused, and does not count towards the owner's day", async () => {
  const sql = postgres(stack.databaseUrls.messaging, { max: 1 });
  const counted = async () => {
    const [row] = await sql`
      select coalesce(sum(messages), 0)::integer as total from message_days
      where owner_id = ${stack.owners[0].ownerId} and channel = 'widget'`;
    return row?.total;
  };
  const before = await counted();
  const token = await tokenOf();
  for (const message of ["", "x".repeat(4_001)]) expect((await say(token, message)).status).toBe(400);
  expect(await counted()).toBe(before);
  expect((await say(token, "Hi")).status).toBe(200);
  expect(await counted()).toBe(before + 1);
  await sql.end();
});

test("a visitor who floods is stopped, in the chat and at the address, while others and the owner's API continue", async () => {
  const token = await tokenOf();
  const flood = await Promise.all(Array.from({ length: 30 }, () => say(token, "Hi")));
  expect(flood.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(10);
  await Promise.all(flood.map((response) => response.text().catch(() => {})));
  const from = address();
  const opened = await Promise.all(Array.from({ length: 70 }, () => ask({ agent_id: agentId }, { from })));
  expect(opened.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(10);
  expect((await say(await tokenOf(), "Hi")).status).toBe(200);
  const chat = await api.post("/chat", { agent_id: agentId, message: "Hi", streaming: false });
  expect(chat.status).toBe(200);
});

test("a browser may send requests from any origin: its preflight is answered", async () => {
  for (const path of ["widget-tokens", "widget-messages"]) {
    const response = await fetch(`${stack.url}/v1/public/${path}`, {
      method: "OPTIONS",
      headers: { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-headers")).toBe("Authorization, Content-Type, Last-Event-ID");
  }
});
