import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Tier } from "../proto/gen/parley/account/v1/account.ts";
import { eventually } from "../testkit/src/eventually.ts";
import type { Api } from "../tests/kit/api.ts";
import { startChromium } from "../tests/kit/calls/chromium.ts";
import { type DashboardPage, openSignedIn, withoutStreams } from "../tests/kit/dashboard.ts";
import { startTestStack } from "../tests/kit/stack/test-stack.ts";
import type { RunningStack } from "../tests/kit/stack/use-stack.ts";
import { createKey } from "../tests/kit/test-owner.ts";
import { startTestbed } from "./testbed.ts";

/** `bun run screenshots` retakes the README's pictures of the dashboard, on a stack of its own. */
const FOLDER = join(import.meta.dir, "../docs/images");
const SIZE = { width: 1280, height: 800 };
const MESSAGES = ["Hello, when are you open?", "I would like to book a table for two, please.", "Thank you, goodbye."];
/** Conversations behind the charts. */
const CONVERSATIONS = 24;

const testbed = await startTestbed();
Object.assign(process.env, testbed.env);
try {
  const stack = await startTestStack();
  const browser = await startChromium();
  try {
    const ownerId = await createAcme(stack);
    const { apiKey } = await createKey(stack.accounts, ownerId);
    await takeAll(await openSignedIn(browser, stack, { ownerId }), stack.api(apiKey));
  } finally {
    await browser.close();
    await stack.stop();
  }
} finally {
  await testbed.stop();
}

async function createAcme({ accounts }: RunningStack): Promise<string> {
  const acme = { name: "Acme", email: "ops@acme.example", tier: Tier.TIER_ENTERPRISE, rateLimitPerMinute: 1_000 };
  const { owner } = await accounts.createOwner(acme);
  if (!owner) throw new Error("the account service returned no owner");
  return owner.ownerId;
}

async function takeAll(page: DashboardPage, api: Api): Promise<void> {
  await page.setViewportSize(SIZE);
  await mkdir(FOLDER, { recursive: true });

  await page.goto("/agents?new=true");
  await page.getByRole("button", { name: "Create agent" }).click();
  for (const [at, message] of MESSAGES.entries()) {
    await page.getByRole("textbox", { name: "Message" }).fill(message);
    await page.getByRole("button", { name: "Send" }).click();
    await page
      .getByText(/full reply/)
      .nth(at)
      .waitFor();
  }
  await take(page, "agent");

  const [agent] = (await api.get("/agents")).body.agents;
  // So that the conversations end with their last message.
  const tools = { body: JSON.stringify({ tools: { end_call: {} } }), headers: { "content-type": "application/json" } };
  await api.send("PATCH", `/agents/${agent.id}`, tools);
  let conversationId = "";
  for (let at = 0; at < CONVERSATIONS; at++) conversationId = await converse(api, agent.id);
  await page.goto(`/conversations/${conversationId}`);
  await page.getByRole("list", { name: "Transcript" }).getByText("goodbye").first().waitFor();
  await take(page, "conversation");

  const webhook = { name: "Ledger", url: "https://hooks.acme.example/parley", request_type: "POST" };
  await page.request.post("/v1/manage/destinations", { data: webhook });
  await eventually(async () => {
    const answer = await page.request.get("/v1/manage/statistics");
    if ((await answer.json()).total.completed < CONVERSATIONS) throw new Error("the statistics lag behind");
  });
  await page.goto("/?days=7");
  await page.getByRole("heading", { name: "Conversations per day" }).waitFor();
  await take(page, "overview");
}

async function converse(api: Api, agentId: string): Promise<string> {
  let sessionId: string | null = null;
  for (const message of MESSAGES) {
    const reply = await api.chat({ agent_id: agentId, message, session_id: sessionId });
    await reply.text();
    sessionId = reply.headers.get("x-session-id");
  }
  return sessionId ?? "";
}

async function take(page: DashboardPage, name: string): Promise<void> {
  await withoutStreams(page);
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(FOLDER, `dashboard-${name}.png`), animations: "disabled", caret: "hide" });
}
