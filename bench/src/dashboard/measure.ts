import type { Browser, CDPSession } from "playwright-core";
import type { Measured } from "./pages.ts";

export interface Figures {
  /** Milliseconds until the largest part of the page was painted. */
  lcp: number;
  /** Milliseconds from the slowest interaction to the next paint; 0 without interactions. */
  inp: number;
  /** Milliseconds of CPU that the page's main thread took until it was at rest, as without throttling. */
  cpu: number;
  scripts: number;
  /** Compressed bytes of them. */
  bytes: number;
}

export interface Visit {
  url: string;
  /** The token of a session. */
  token: string;
  /** How many times slower the CPU is made. */
  throttle: number;
}

/** A visit: its figures, and what took the slowest interaction, such as `click on “New agent”`; "" without interactions. */
export interface Measurement {
  figures: Figures;
  slowest: string;
}

const SIZE = { width: 1280, height: 800 };
const PATIENCE_MS = 120_000;

/** Opens a page with an empty cache, uses it, and measures what a person waits for. */
export async function measurePage(browser: Browser, page: Measured, visit: Visit): Promise<Measurement> {
  const { figures, slowest } = await load(browser, page, visit);
  const unthrottled = await load(browser, { ...page, use: async () => {} }, { ...visit, throttle: 1 });
  return { figures: { ...figures, cpu: unthrottled.figures.cpu }, slowest };
}

async function load(browser: Browser, { path, use }: Measured, { url, token, throttle }: Visit): Promise<Measurement> {
  const context = await browser.newContext({ baseURL: url, viewport: SIZE });
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    await context.addCookies([{ name: "parley_session", value: token, url, httpOnly: true, sameSite: "Strict" }]);
    const page = await context.newPage();
    // Another origin's page would be another process, whose figures are not this one's.
    await page.goto("/openapi.json");
    const devtools = await context.newCDPSession(page);
    await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: throttle });
    await page.addInitScript(OBSERVE);
    // The network comes to rest only if nothing is watched.
    await page.route(/\/v1\/public\/conversations\/(?:[^/]+\/)?events$/, (route) => route.fulfill({ status: 204 }));
    const before = await taskMs(devtools);
    // Waiting for an element runs Playwright's scripts in the page, which takes a tenth of the CPU until its largest part is painted.
    await page.goto(path, { waitUntil: "networkidle" });
    const cpu = (await taskMs(devtools)) - before;
    await page.locator("#root:not([inert])").waitFor();
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.evaluate(PAINTED);
    const { lcp, scripts, bytes } = await page.evaluate<Omit<Figures, "inp" | "cpu">>(LOADED);
    await use(page);
    await page.evaluate(PAINTED);
    const { inp, slowest } = await page.evaluate<{ inp: number; slowest: string }>(USED);
    return { figures: { lcp, inp, cpu, scripts, bytes }, slowest };
  } finally {
    await context.close();
  }
}

async function taskMs(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
}

/** Resolves when what was rendered before has been painted and reported. */
const PAINTED = "new Promise((told) => requestAnimationFrame(() => setTimeout(told, 500)))";

const USED = "({ inp: benchInp, slowest: benchSlowest })";

/** Events of one press have one id; the longest of all is what counts. What was pressed may be gone by the time its event is reported. */
const OBSERVE = `
  globalThis.benchLcp = 0;
  globalThis.benchInp = 0;
  globalThis.benchSlowest = "";
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) benchLcp = startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration, name, target } of list.getEntries()) {
      if (!interactionId || duration <= benchInp) continue;
      benchInp = duration;
      const pressed = target && (target.ariaLabel || target.name || target.textContent).trim().slice(0, 30);
      benchSlowest = pressed ? name + " on “" + pressed + "”" : name;
    }
  }).observe({ type: "event", durationThreshold: 16, buffered: true });`;

const LOADED = `(() => {
  const scripts = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"));
  const bytes = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  return { lcp: benchLcp, scripts: scripts.length, bytes };
})()`;
