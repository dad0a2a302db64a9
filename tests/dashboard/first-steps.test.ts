import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { eventually } from "@parley/testkit/eventually";
import { startChromium } from "../kit/calls/chromium.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { PASSWORD } from "../kit/test-owner.ts";

/** Screenshots of the journey, for people to look at; not in git. */
const PICTURES = join(import.meta.dir, "../results");
const TIMEOUT_MS = 300_000;

const received: { body: string; signature: string | null }[] = [];
const [stack, browser] = await Promise.all([sharedStack(), startChromium()]);
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    received.push({ body: await request.text(), signature: request.headers.get("webhook-signature") });
    return new Response("thanks");
  },
});
afterAll(async () => {
  await browser.close();
  await receiver.stop(true);
  await stack.stop();
});

test(
  "first steps lead a new owner, without a terminal, from signing in to an agent, its conversation, a key and a webhook",
  async () => {
    const email = `${Bun.randomUUIDv7("hex")}@example.com`;
    const made = { name: "Newcomer", email, tier: Tier.TIER_PRO, rateLimitPerMinute: undefined };
    const { owner } = await stack.accounts.createOwner(made);
    await stack.accounts.setPassword({ ownerId: owner?.ownerId ?? "", password: PASSWORD });
    const page = await openDashboard(browser, stack);
    let pictures = 0;
    const picture = (name: string) =>
      page.screenshot({ path: join(PICTURES, `first-steps-${++pictures}-${name}.png`) });
    const done = async (count: number) => {
      await page.getByRole("link", { name: "Overview" }).click();
      await page.getByText(`${count} of 4 done`).waitFor();
    };

    await page.goto("/");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("0 of 4 done").waitFor();
    await picture("overview");

    await page.getByRole("link", { name: "New agent" }).click();
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("Hello, when are you open?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/full reply/).waitFor();
    await picture("agent");

    await page.getByRole("link", { name: "Conversations" }).click();
    await page
      .getByRole("table", { name: "Conversations" })
      .getByRole("link", { name: /when are you open/ })
      .click();
    await page.getByRole("list", { name: "Transcript" }).getByText("Hello, when are you open?").waitFor();
    await picture("conversation");
    await page.getByRole("tab", { name: "Deliveries" }).click();
    await page.getByText("Test conversations are not sent to webhooks.").waitFor();

    await done(2);
    await page.getByRole("link", { name: "New key" }).click();
    await page.getByLabel("Name").fill("My program");
    await page.getByRole("button", { name: "Create key" }).click();
    const apiKey = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
    expect((await stack.api(apiKey).get("/agents")).status).toBe(200);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: /^My program/ }).waitFor();
    await picture("key");

    await done(3);
    await page.getByRole("link", { name: "Add webhook" }).click();
    await page.getByLabel("Name").fill("Ledger");
    await page.getByLabel("URL").fill(receiver.url.href);
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByRole("list", { name: "Deliveries" }).getByText("Delivered", { exact: true }).waitFor();
    await picture("delivery");
    expect(received).toEqual([
      { body: expect.stringContaining("conversation"), signature: expect.stringMatching(/^v1,/) },
    ]);

    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("button", { name: "Actions for My program" }).click();
    await page.getByRole("menuitem", { name: "Revoke…" }).click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("No API keys yet").waitFor();
    await eventually(async () => expect((await stack.api(apiKey).get("/agents")).status).toBe(401));
    expect(page.failures).toEqual([]);
  },
  TIMEOUT_MS,
);
