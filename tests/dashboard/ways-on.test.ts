import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@parley/shared/testing/eventually";
import type { Browser } from "playwright-core";
import type { Api } from "../kit/api.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { type DashboardPage, openSignedIn } from "../kit/dashboard.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner, type TestOwner } from "../kit/test-owner.ts";
import { addTrunkNumber } from "../kit/trunk.ts";
import { connectWhatsApp } from "../kit/whatsapp.ts";

/** What an owner meets on the way and has to be told: each page says what is wrong or missing, and the way on. */
const TIMEOUT_MS = 240_000;

let stack: RunningStack;
let model: ScriptedModel;
let browser: Browser;
beforeAll(async () => {
  [stack, model, browser] = await Promise.all([sharedStack(), startScriptedModel(), startChromium()]);
}, TIMEOUT_MS);
afterAll(async () => {
  await browser?.close();
  await model?.stop();
  await stack?.stop();
});

async function newcomer(): Promise<{ owner: TestOwner; api: Api; page: DashboardPage }> {
  const owner = await createOwner(stack.accounts);
  return { owner, api: stack.api(owner.apiKey), page: await openSignedIn(browser, stack, owner) };
}

test(
  "a chat goes on after a reply was stopped, and begins anew only when it is started over",
  async () => {
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
    await ask("Shorter, please.");
    await chat.getByText("You said: Shorter, please.").waitFor();
    expect(await conversations()).toBe(1);
    await page.getByRole("button", { name: "Start over" }).click();
    await ask("Another one.");
    await chat.getByText("You said: Another one.").waitFor();
    expect(await conversations()).toBe(2);
    expect(page.failures).toEqual([]);
    await page.context().close();
  },
  TIMEOUT_MS,
);
