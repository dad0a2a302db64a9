import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const script = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
let source: string | null = null;

/**
 * The accessibility issues that axe-core finds on a page in both themes, each with its elements. The second theme is
 * only checked for its colors, because everything else is the same.
 */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: "light" });
  const light = await run(page, "{}");
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await run(page, `{ runOnly: ["color-contrast", "link-in-text-block"] }`);
  return [...light, ...dark.map((barrier) => `dark: ${barrier}`)];
}

async function run(page: Page, options: string): Promise<string[]> {
  source ??= await Bun.file(script).text();
  // Bypasses the content security policy, which allows only the dashboard's scripts.
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(source);
  return page.evaluate<
    string[]
  >(`axe.run(document, { resultTypes: ["violations"], ...${options} }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 200))))`);
}
