import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { openDashboard, openSignedIn } from "../kit/dashboard.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner, PASSWORD } from "../kit/test-owner.ts";

setDefaultTimeout(300_000);

const [stack, model, browser] = await Promise.all([sharedStack(), startScriptedModel(), startChromium()]);
const owner = await createOwner(stack.accounts);
const api = stack.api(owner.apiKey);
const agentId = await createAgent(api, model, { agent_name: "Front desk" });
afterAll(async () => {
  await browser.close();
  await model.stop();
  await stack.stop();
});

const say = (message: string, session_id?: string) =>
  api.post("/chat", { agent_id: agentId, message, streaming: false, ...(session_id && { session_id }) });

/** A second session of the same owner. */
async function openSecond() {
  const { owner: found } = await stack.accounts.getOwner({ ownerId: owner.ownerId });
  const { token } = await stack.accounts.signIn({ email: found?.email ?? "", password: PASSWORD });
  const page = await openDashboard(browser, stack);
  const cookie = { name: "parley_session", value: token, url: stack.url, httpOnly: true, sameSite: "Strict" } as const;
  await page.context().addCookies([cookie]);
  return page;
}

test("a chat is taken over, answered and given back by one person, while a second one is told who has it", async () => {
  const sessionId = (await say("When do you open?")).body.session_id;
  const ada = await openSignedIn(browser, stack, owner);
  const bob = await openSecond();
  for (const page of [ada, bob]) {
    await page.goto(`/conversations/${sessionId}`);
    await page.getByText("The agent answers.").waitFor();
  }
  await ada.getByRole("button", { name: "Take over" }).click();
  await ada.getByText("You answer in the agent's place").waitFor();
  await bob.getByText(/Somebody else \(session ses_\w+\) answers in the agent's place/).waitFor();
  expect((await say("Is anybody there?", sessionId)).body).toMatchObject({ response: "", answered_by: "operator" });
  await bob.getByRole("list", { name: "Transcript" }).getByText("Is anybody there?", { exact: true }).waitFor();
  await ada.getByLabel("Say as the agent").fill("Ada here. We open at nine.");
  await ada.getByRole("button", { name: "Say" }).click();
  for (const page of [ada, bob])
    await page.getByRole("list", { name: "Transcript" }).getByText("Ada here. We open at nine.").waitFor();
  expect(await barriersOf(ada)).toEqual([]);
  await ada.getByRole("button", { name: "Give back" }).click();
  for (const page of [ada, bob]) await page.getByText("The agent answers.").waitFor();

  await bob.goto("/");
  await bob.getByRole("button", { name: "Take over" }).click();
  await ada.getByText(/Somebody else/).waitFor();
  await bob.getByLabel("Say as the agent").fill("Bob here too.");
  await bob.getByRole("button", { name: "Say" }).last().click();
  await ada.getByRole("list", { name: "Transcript" }).getByText("Bob here too.").waitFor();
  expect(await barriersOf(bob)).toEqual([]);
  await bob.getByRole("button", { name: "Give back" }).click();
  await ada.getByText("The agent answers.").waitFor();
  await bob.goto(`/conversations/${sessionId}`);
  expect((await say("Thanks", sessionId)).body.response).toContain("Thanks");
  await ada.getByRole("button", { name: "End" }).click();
  await ada.getByRole("button", { name: "End conversation" }).click();
  await bob.getByText("Completed").first().waitFor();
  expect([...ada.failures, ...bob.failures]).toEqual([]);
});
