import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { openSignedIn } from "../kit/dashboard.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createOwner } from "../kit/test-owner.ts";

setDefaultTimeout(240_000);

const [stack, browser] = await Promise.all([sharedStack(), startChromium()]);
afterAll(async () => {
  await browser.close();
  await stack.stop();
});

test("of two people who edit an agent, the second one's save keeps the first one's changes, and asks where both changed the same", async () => {
  const owner = await createOwner(stack.accounts);
  const api = stack.api(owner.apiKey);
  const made = { agent_name: "Front desk", agent_type: "INBOUND", prompt_content: "You are Ada." };
  const { id } = (await api.post("/agents", made)).body;
  const stored = async () => (await api.get(`/agents/${id}`)).body;
  const patch = (body: object) =>
    api.send("PATCH", `/agents/${id}`, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  const page = await openSignedIn(browser, stack, owner);
  await page.goto(`/agents/${id}`);
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  const save = page.getByRole("button", { name: "Save", exact: true });

  // Another field: both changes stay.
  await prompt.fill("You are Zoe.");
  await patch({ agent_name: "Reception" });
  await save.click();
  await page.getByText("Unsaved changes").waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Reception" }).waitFor();
  expect(await stored()).toMatchObject({ agent_name: "Reception", prompt: { prompt_content: "You are Zoe." } });

  // The same field: nothing is saved and no text is lost.
  await prompt.fill("You are Zoe. Be brief.");
  await patch({ prompt_content: "You are Bob." });
  await save.click();
  await page.getByText("You are Bob.").waitFor();
  expect(await prompt.textContent()).toBe("You are Zoe. Be brief.");
  expect((await stored()).prompt.prompt_content).toBe("You are Bob.");
  expect(await save.isDisabled()).toBeTrue();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Keep mine: Prompt" }).click();
  await save.click();
  await page.getByText("Unsaved changes").waitFor({ state: "detached" });
  expect((await stored()).prompt.prompt_content).toBe("You are Zoe. Be brief.");

  await prompt.fill("You are nobody.");
  await patch({ prompt_content: "You are Eve." });
  await save.click();
  await page.getByRole("button", { name: "Use theirs: Prompt" }).click();
  await page.getByText("Unsaved changes").waitFor({ state: "detached" });
  expect(await prompt.textContent()).toBe("You are Eve.");
  expect(page.failures).toEqual([]);
  await page.context().close();
});

test("a page whose server hangs says so, offers to try again, and shows its list once the server responds", async () => {
  const owner = await createOwner(stack.accounts);
  const page = await openSignedIn(browser, stack, owner);
  await page.goto("/settings");
  await page.getByRole("button", { name: "Change password" }).waitFor();
  let isHanging = true;
  // A request that is neither answered nor refused.
  await page.route("**/v1/public/agents?*", (route) => (isHanging ? undefined : route.continue()));
  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByText("Still loading").waitFor();
  await page.getByRole("alert").getByText("The server did not respond in time.").waitFor();
  isHanging = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Create your first agent").waitFor();
  expect(page.failures).toEqual([]);
  await page.context().close();
});
