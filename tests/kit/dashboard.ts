import { eventually } from "@parley/testkit/eventually";
import type { Browser, Page } from "playwright-core";
import type { RunningStack } from "./stack/use-stack.ts";
import { createSession, givePassword, PASSWORD, type TestOwner } from "./test-owner.ts";

/** How long a page may take while the machine runs other tests. */
export const PAGE_WITHIN_MS = 60_000;
const SETTLED_WITHIN_MS = 10_000;

/** A page of the dashboard, and its errors. */
export interface DashboardPage extends Page {
  /** Errors of its scripts, and violations of its content security policy. */
  failures: string[];
}

/** Opens a page for a visitor who is not signed in, with a client's address of its own: sign-ins are limited by it. */
export async function openDashboard(browser: Browser, stack: RunningStack): Promise<DashboardPage> {
  const context = await browser.newContext({
    baseURL: stack.url,
    viewport: { width: 1280, height: 800 },
    // Elements have other colors while they move.
    reducedMotion: "reduce",
    permissions: ["microphone", "clipboard-read", "clipboard-write"],
    extraHTTPHeaders: { "X-Forwarded-For": `10.${[...crypto.getRandomValues(new Uint8Array(3))].join(".")}` },
  });
  context.setDefaultTimeout(PAGE_WITHIN_MS);
  const page = await context.newPage();
  const failures: string[] = [];
  page.on("pageerror", (error) => failures.push(error.message));
  page.on("console", (message) => {
    // A refusal by the API is no failure: the page shows it.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) failures.push(message.text());
  });
  page.on("dialog", async (dialog) => {
    // Only a script from a user's name or text would open one.
    if (dialog.type() === "alert") failures.push(`a script ran: ${dialog.message()}`);
    // Going to another address leaves the page without a question.
    await (dialog.type() === "beforeunload" ? dialog.accept() : dialog.dismiss());
  });
  return Object.assign(page, { failures });
}

/** Answers that nothing is to be watched, so that the network of pages comes to rest. */
export async function withoutStreams(page: Pick<Page, "route">): Promise<void> {
  await page.route(/\/v1\/public\/conversations\/(?:[^/]+\/)?events$/, (route) => route.fulfill({ status: 204 }));
}

/** Waits until the open dialog has the focus: until then, it hears no keys. */
export async function untilFocused(page: Page): Promise<void> {
  await page.locator("[role=dialog]:focus-within").waitFor();
}

/** By how many pixels a page is wider than its window. Its layout may settle a moment after the window has changed. */
export async function pixelsTooWide(page: Page): Promise<number> {
  const excess = () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const none = eventually(async () => {
    if ((await excess()) > 0) throw new Error("too wide");
    return 0;
  }, SETTLED_WITHIN_MS);
  return none.catch(excess);
}

/** More than the focusable elements of any page. */
const STOPS_MAX = 120;

/** Presses Tab until the focused element has this name. @throws Error when no element on the page has it */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let at = 0; at < STOPS_MAX; at++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate<string>(
      "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.innerText ?? ''",
    );
    if (name.test(focused)) return;
  }
  throw new Error(`the keyboard does not reach ${name}`);
}

/** Opens a page for an owner who is signed in. */
export async function openSignedIn(
  browser: Browser,
  stack: RunningStack,
  owner: Pick<TestOwner, "ownerId">,
): Promise<DashboardPage> {
  const page = await openDashboard(browser, stack);
  const value = await createSession(stack, owner.ownerId);
  await page
    .context()
    .addCookies([{ name: "parley_session", value, url: stack.url, httpOnly: true, sameSite: "Strict" }]);
  return page;
}

/** The email and password of an owner. */
export async function loginOf(
  stack: RunningStack,
  { ownerId }: TestOwner,
): Promise<{ email: string; password: string }> {
  await givePassword(stack.databaseUrls, ownerId);
  const { owner } = await stack.accounts.getOwner({ ownerId });
  return { email: owner?.email ?? "", password: PASSWORD };
}
