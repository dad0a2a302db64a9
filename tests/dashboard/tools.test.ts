import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { openSignedIn, tabTo } from "../kit/dashboard.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createOwner } from "../kit/test-owner.ts";

/** Screenshots, for people to look at; not in git. */
const PICTURES = join(import.meta.dir, "../results");
const SECRET = "sk_live_51H8mC2eZvKYlo2C";
const TIMEOUT_MS = 300_000;

const ORDER_ID = { name: "id", in: "path", required: true, schema: { type: "string" } };
const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1" },
  paths: {
    "/orders": { get: { operationId: "listOrders", summary: "Lists orders." } },
    "/orders/{id}": {
      get: { operationId: "getOrder", summary: "Reads an order.", parameters: [ORDER_ID] },
      delete: { operationId: "cancelOrder", summary: "Cancels an order.", parameters: [ORDER_ID] },
    },
  },
  components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  security: [{ token: [] }],
};

const received: { path: string; authorization: string | null }[] = [];
/** What the shop waits for before it answers. */
let held: Promise<void> | null = null;
const [stack, browser] = await Promise.all([sharedStack(), startChromium()]);
const shop = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/openapi.json") return Response.json(DOCUMENT);
    const authorization = request.headers.get("authorization");
    await held;
    received.push({ path: `${pathname}${search}`, authorization });
    return Response.json({ status: "shipped", echo: authorization });
  },
});
afterAll(async () => {
  await browser.close();
  await shop.stop(true);
  await stack.stop();
});

test(
  "an owner makes a secret and a tool that uses it, tries the tool, gives it to an agent, and sees the agent's call in chat and transcript",
  async () => {
    const owner = await createOwner(stack.accounts);
    const page = await openSignedIn(browser, stack, owner);
    const picture = (name: string) => page.screenshot({ path: join(PICTURES, `tools-${name}.png`) });

    await page.goto("/secrets");
    await page.getByRole("button", { name: "New secret" }).click();
    const secret = page.getByRole("dialog", { name: "New secret" });
    await secret.getByLabel("Name").fill("shop_key");
    await secret.getByLabel("Value").fill("short");
    await secret.getByRole("button", { name: "Add secret" }).click();
    await secret.getByRole("alert").filter({ hasText: "8" }).waitFor();
    await secret.getByLabel("Value").fill(SECRET);
    await secret.getByRole("button", { name: "Add secret" }).click();
    await page.getByRole("cell", { name: "shop_key", exact: true }).waitFor();

    await page.getByRole("link", { name: "Tools", exact: true }).click();
    await page.getByText("Create your first tool").waitFor();
    await page.getByRole("button", { name: "New tool" }).click();
    await page.getByRole("link", { name: /^HTTP/ }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("look_up_order");
    await page.getByRole("textbox", { name: "Description" }).first().fill("Looks up an order by its number.");
    await page.getByRole("textbox", { name: "URL" }).fill(`${shop.url.href}orders/{order_id}`);
    await page.getByRole("combobox", { name: "Authentication" }).selectOption("Bearer token");
    await page.getByRole("combobox", { name: "Token" }).selectOption("shop_key");
    const create = page.getByRole("button", { name: "Create tool" });
    await create.click();
    // What the API refuses is told at its field.
    const url = page.getByRole("textbox", { name: "URL" });
    await page.getByRole("alert").filter({ hasText: "URL has {order_id}" }).waitFor();
    expect(await url.getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Add order_id of the URL" }).click();
    const parameter = page.getByRole("group", { name: "Parameter order_id" });
    await parameter.getByRole("textbox", { name: "Description" }).fill("Number of the order.");
    await page.getByRole("button", { name: "Add assignment" }).click();
    const assignment = page.getByRole("group", { name: "assignment 1" });
    await assignment.getByLabel("Variable").fill("order_status");
    await assignment.getByLabel("Pointer").fill("/status");
    expect(await barriersOf(page)).toEqual([]);
    await picture("new");
    await create.click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();

    await page.getByRole("button", { name: "Try", exact: true }).click();
    const panel = page.getByRole("dialog", { name: "Try it" });
    await panel.getByLabel("order_id").fill("1001");
    await panel.getByRole("button", { name: "Call the tool" }).click();
    const result = panel.getByRole("region", { name: "Result" });
    await result.getByText("Status 200").waitFor();
    expect(await result.textContent()).toMatch(/GET \S+\/orders\/1001/);
    expect(await result.textContent()).toContain('"order_status": "shipped"');
    expect(received.splice(0)).toEqual([{ path: "/orders/1001", authorization: `Bearer ${SECRET}` }]);
    // The secret went to the server, and stands nowhere on the page, although the server's answer has it.
    expect(await page.content()).not.toContain(SECRET);
    expect(await barriersOf(page)).toEqual([]);
    await picture("try");

    const api = stack.api(owner.apiKey);
    const seat = { name: "row", required: true, schema: { type: "integer" } };
    await api.post("/tools", { name: "show_seats", type: "client", description: "Shows seats.", parameters: [seat] });
    await page.goto("/agents?new=true");
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("tab", { name: "Tools" }).click();
    await page.getByRole("combobox", { name: "Add a tool" }).selectOption("show_seats (Client)");
    await page.getByRole("combobox", { name: "Add a tool" }).selectOption("look_up_order (HTTP)");
    await page.getByRole("list", { name: "Tools of this agent" }).getByText("look_up_order").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved", { exact: true }).first().waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Look up order id 1002");
    const answer = Promise.withResolvers<void>();
    held = answer.promise;
    await page.getByRole("button", { name: "Send" }).click();
    const chat = page.getByRole("log", { name: "Chat" });
    await chat.getByRole("button", { name: /look_up_order Running/ }).waitFor();
    answer.resolve();
    await chat.getByRole("button", { name: /look_up_order Succeeded/ }).waitFor();
    expect(received).toEqual([{ path: "/orders/1002", authorization: `Bearer ${SECRET}` }]);
    await picture("chat");
    // The person makes the calls of client tools, and the reply goes on.
    await page.getByRole("textbox", { name: "Message" }).fill("Show seats of row 14");
    await page.getByRole("button", { name: "Send" }).click();
    const form = chat.getByRole("form", { name: "Result of show_seats" });
    await form.getByLabel("Result").fill("Seat 14C is yours.");
    expect(await chat.textContent()).toContain('"row": 14');
    expect(await barriersOf(page)).toEqual([]);
    await picture("client-call");
    await form.getByRole("button", { name: "Send result" }).click();
    await chat.getByText(/Agent: .*Seat 14C is yours/).waitFor();
    await chat.getByRole("button", { name: /show_seats Succeeded/ }).waitFor();

    const { body } = await api.get("/conversations?shape=flat");
    await page.goto(`/conversations/${body.conversations[0].conversation_id}`);
    const call = page.getByRole("list", { name: "Transcript" });
    await call.getByRole("button", { name: /look_up_order Succeeded/ }).click();
    await call.getByText("HTTP status 200 · 1 attempt").waitFor();
    expect(await call.textContent()).toContain('"order_id": "1002"');
    expect(await call.textContent()).toContain('"status": "shipped"');
    expect(await page.content()).not.toContain(SECRET);
    expect(await barriersOf(page)).toEqual([]);
    await picture("transcript");

    // What is used cannot be deleted, and the page says by whom.
    const { tools } = (await api.get("/tools?search=look_up_order")).body;
    const toolId = tools[0].id;
    await page.goto(`/tools/${toolId}`);
    await page.getByRole("button", { name: "Actions for look_up_order" }).click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete tool" }).click();
    await page.getByRole("alert").filter({ hasText: "Tool look_up_order is used by the agent “" }).waitFor();
    expect(page.failures).toEqual([]);
    await page.context().close();
  },
  TIMEOUT_MS,
);

test(
  "changes of a tool do not overwrite what somebody else has changed since, until their owner says so",
  async () => {
    const owner = await createOwner(stack.accounts);
    const api = stack.api(owner.apiKey);
    const { body: tool } = await api.post("/tools", {
      ...{ name: "show_map", type: "client", description: "Shows a map." },
      parameters: [{ name: "place", required: true, schema: { type: "string", format: "date" } }],
    });
    const patch = (change: object) =>
      api.send("PATCH", `/tools/${tool.id}`, {
        body: JSON.stringify(change),
        headers: { "content-type": "application/json" },
      });
    const stored = async () => (await api.get(`/tools/${tool.id}`)).body;
    const page = await openSignedIn(browser, stack, owner);
    await page.goto(`/tools/${tool.id}`);
    const description = page.getByRole("textbox", { name: "Description" }).first();
    // A schema that the form cannot show is edited as JSON.
    expect(JSON.parse(await page.getByRole("textbox", { name: "JSON Schema" }).inputValue())).toMatchObject({
      format: "date",
    });
    await description.fill("Shows a place.");
    await patch({ timeout_ms: 5_000, description: "Theirs." });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("changed in another tab or by someone else").waitFor();
    expect(await stored()).toMatchObject({ description: "Theirs." });
    await page.getByRole("button", { name: "Keep my changes" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await eventually(async () =>
      expect(await stored()).toMatchObject({ description: "Shows a place.", timeout_ms: 5_000 }),
    );

    // What is left unsaved is asked about, and kept by the browser.
    await description.fill("Not saved.");
    await page.reload();
    await page.getByRole("button", { name: "Restore" }).click();
    expect(await description.inputValue()).toBe("Not saved.");
    await page.getByRole("link", { name: "All tools" }).click();
    await page
      .getByRole("dialog", { name: /without saving/ })
      .getByRole("button", { name: "Discard changes" })
      .click();
    await page.getByRole("table", { name: "Tools" }).waitFor();
    expect(await stored()).toMatchObject({ description: "Shows a place." });
    expect(page.failures).toEqual([]);
    await page.context().close();
  },
  TIMEOUT_MS,
);

test(
  "an agent hands over to another one as the editor says, and the keyboard reaches the fields",
  async () => {
    const owner = await createOwner(stack.accounts);
    const api = stack.api(owner.apiKey);
    const make = async (agent_name: string) => (await api.post("/agents", { agent_name, agent_type: "INBOUND" })).body;
    const [first, billing] = [await make("Front desk"), await make("Billing")];
    const page = await openSignedIn(browser, stack, owner);
    await page.goto(`/agents/${first.id}?tab=tools`);
    await tabTo(page, /^Add handoff/);
    await page.keyboard.press("Enter");
    const handoff = page.getByRole("group", { name: "Handoff 1" });
    await handoff.getByRole("combobox", { name: "Agent" }).selectOption("Billing");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await handoff.getByRole("alert").waitFor();
    await handoff.getByRole("textbox", { name: "When" }).fill("The caller asks about an invoice.");
    await handoff.getByRole("combobox", { name: /learns/ }).selectOption("The last ten messages");
    await handoff.getByRole("checkbox", { name: /greeting/ }).click();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await eventually(async () =>
      expect((await api.get(`/agents/${first.id}`)).body.handoffs).toEqual([
        {
          agent_id: billing.id,
          when: "The caller asks about an invoice.",
          context: "last_messages",
          keep_voice: false,
          greet: true,
        },
      ]),
    );
    expect(page.failures).toEqual([]);
    await page.context().close();
  },
  TIMEOUT_MS,
);

test(
  "the operations of an OpenAPI document that an owner chooses become tools, with the secrets that they need, and so does a curl command",
  async () => {
    const owner = await createOwner(stack.accounts);
    const api = stack.api(owner.apiKey);
    const page = await openSignedIn(browser, stack, owner);
    await page.goto("/tools");
    await page.getByRole("link", { name: "Import" }).click();
    const show = page.getByRole("button", { name: "Show the tools" });
    await page.getByRole("textbox", { name: "OpenAPI address" }).fill("https://169.254.169.254/openapi.json");
    await show.click();
    await page.getByRole("alert").waitFor();
    await page.getByRole("textbox", { name: "OpenAPI address" }).fill(`${shop.url.href}openapi.json`);
    await show.click();
    await page.getByRole("checkbox", { name: /getOrder/ }).click();
    await page.getByRole("checkbox", { name: /cancelOrder/ }).click();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole("button", { name: /^Add / }).click();
    await page.getByRole("dialog", { name: "New secret" }).getByLabel("Value").fill(SECRET);
    await page.getByRole("button", { name: "Add secret" }).click();
    await page.getByText("secrets that you have not added").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Create 2 tools" }).click();
    await page.getByRole("button", { name: "Copy signing secret of getOrder" }).waitFor();
    await page.getByRole("button", { name: "Copy signing secret of cancelOrder" }).waitFor();

    await page.getByRole("button", { name: "curl command" }).click();
    await page
      .getByRole("textbox", { name: "curl command" })
      .fill(`curl ${shop.url.href}orders --json '{ "product": "lamp" }'`);
    await show.click();
    await page.getByRole("button", { name: "Create 1 tool" }).click();
    await page.getByRole("button", { name: "Copy signing secret of post_orders" }).waitFor();
    const { tools } = (await api.get("/tools")).body;
    expect(tools.map(({ name }: { name: string }) => name).sort()).toEqual(["cancelOrder", "getOrder", "post_orders"]);

    // A tool without a signing secret opens as soon as it is stored.
    await page.goto("/tools/new?type=client");
    await page.getByRole("textbox", { name: "Name" }).fill("show_map");
    await page.getByRole("textbox", { name: "Description" }).fill("Shows a map.");
    await page.getByRole("button", { name: "Create tool" }).click();
    await page.getByRole("heading", { name: "show_map" }).waitFor();
    expect(page.failures).toEqual([]);
    await page.context().close();
  },
  TIMEOUT_MS,
);
