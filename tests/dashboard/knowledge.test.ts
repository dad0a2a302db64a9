import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { pdfOf } from "@parley/testkit/pdf";
import { barriersOf } from "../kit/axe.ts";
import { startChromium } from "../kit/calls/chromium.ts";
import { openSignedIn } from "../kit/dashboard.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createOwner } from "../kit/test-owner.ts";

/** Screenshots, for people to look at; not in git. */
const PICTURES = join(import.meta.dir, "../results");
const TIMEOUT_MS = 300_000;

const [stack, browser] = await Promise.all([sharedStack(), startChromium()]);
afterAll(async () => {
  await browser.close();
  await stack.stop();
});

/** A price list with this price of a small repair. */
function priceList(price: string) {
  const rows = [
    ["Small repair", price],
    ["Large repair", "90 euros"],
  ];
  const cells = rows.flatMap(([work = "", cost = ""], at) => [
    { text: work, x: 50, y: 700 - 15 * at },
    { text: cost, x: 300, y: 700 - 15 * at },
  ]);
  const page = [{ text: "Prices of our workshop", x: 50, y: 780, size: 20 }, ...cells];
  return { name: "prices.pdf", mimeType: "application/pdf", buffer: Buffer.from(pdfOf([page])) };
}

test(
  "an owner uploads a PDF price list, asks for a price in the chat, sees the part that it is from, and gets the new price after a correction",
  async () => {
    const page = await openSignedIn(browser, stack, await createOwner(stack.accounts));
    const picture = (name: string) => page.screenshot({ path: join(PICTURES, `knowledge-${name}.png`) });

    await page.goto("/knowledge");
    await page.getByRole("button", { name: "New knowledge base" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Price lists");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const unreadable = { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4 nothing") };
    const again = { ...priceList("40 euros"), name: "again.pdf" };
    await page.getByLabel("Upload files").setInputFiles([priceList("40 euros"), unreadable, again]);
    const documents = page.getByRole("table", { name: "Documents" });
    await documents.getByRole("row", { name: /^prices.pdf Ready English/ }).waitFor();
    await documents.getByText("The file is not a PDF, or it is damaged.").waitFor();
    await page.getByRole("list", { name: "Uploads" }).getByText("a document has the same content").waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await picture("documents");

    await page.getByRole("tab", { name: "Search" }).click();
    await page.getByRole("searchbox", { name: "Question" }).fill("How much is a small repair?");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const found = page.getByRole("list", { name: "Chunks found" });
    await found.getByText(/^Score 0\.\d\d$/).waitFor();
    expect(await found.locator("mark").first().textContent()).toBe("Small");
    expect(await barriersOf(page)).toEqual([]);
    await picture("search");

    await page.goto("/agents?new=true");
    await page.getByRole("button", { name: "Create agent" }).click();
    await page.getByRole("tab", { name: "Knowledge" }).click();
    await page.getByRole("combobox", { name: "Add a knowledge base" }).selectOption("Price lists (2 documents)");
    await page.getByRole("combobox", { name: "Mode" }).selectOption("Search every message");
    // What the API refuses is told at its field.
    await page.getByRole("spinbutton", { name: "Most chunks" }).fill("51");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "must be" }).waitFor();
    expect(await page.getByRole("spinbutton", { name: "Most chunks" }).getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("spinbutton", { name: "Most chunks" }).fill("6");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved", { exact: true }).first().waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await picture("agent");

    const chat = page.getByRole("log", { name: "Chat" });
    const ask = async () => {
      await page.getByRole("textbox", { name: "Message" }).fill("How much is a small repair?");
      await page.getByRole("button", { name: "Send" }).click();
    };
    await ask();
    await chat.getByText("Small repair: 40 euros.").waitFor();
    await chat
      .getByRole("list", { name: "Sources" })
      .getByRole("link", { name: /prices.pdf/ })
      .waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await picture("chat");

    // It opens another tab.
    const stored = await page.getByRole("link", { name: /^View the stored conversation/ }).getAttribute("href");
    await page.goto(stored ?? "");
    const transcript = page.getByRole("list", { name: "Transcript" });
    await page.getByText("Documents are the same now").waitFor();
    await transcript.getByRole("link", { name: /prices.pdf/ }).click();
    const text = page.getByRole("article", { name: "Text" });
    await text.locator("mark").getByText("Small repair | 40 euros").waitFor();
    const replies = page.getByRole("list", { name: "Replies" });
    await replies.getByRole("link", { name: "Small repair: 40 euros." }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await picture("source");

    await page.getByRole("button", { name: "Actions for prices.pdf" }).click();
    await page.getByRole("menuitem", { name: "Replace content…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("File", { exact: true }).setInputFiles(priceList("45 euros"));
    await dialog.getByRole("button", { name: "Replace" }).click();
    await text.getByText("Small repair | 45 euros").waitFor();
    await page.getByText("This part is no longer in the document").waitFor();
    await page.goto(stored ?? "");
    await page.getByText("Documents have changed since").waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await picture("changed");

    await page.goto("/agents");
    await page.getByRole("table").getByRole("link").first().click();
    await page.getByRole("button", { name: "Try it" }).click();
    await ask();
    await chat.getByText("Small repair: 45 euros.").waitFor();
    expect(page.failures).toEqual([]);
  },
  TIMEOUT_MS,
);
