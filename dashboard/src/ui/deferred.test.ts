import { expect, test } from "bun:test";
import { join } from "node:path";

// Its types are those of browsers.
const { renderedDeferred } = await import(join(import.meta.dir, "../testing/rendered-deferred.tsx"));

test("a part of a page whose script cannot be loaded says so, and leaves the page as it is", async () => {
  expect(await renderedDeferred(async () => "Loaded.")).toContain("<p>Loaded.</p>");
  const html = await renderedDeferred(() => Promise.reject(new TypeError("Failed to fetch")));
  expect(html).toContain("Part of this page could not be loaded.");
  expect(html).toContain("Reload");
});
