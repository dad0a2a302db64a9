import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

test("docs/operations.md says of every alert what it means, and of no other", async () => {
  const page = await Bun.file(join(ROOT, "docs/operations.md")).text();
  const rules = await Bun.file(join(ROOT, "deploy/observability/alerts.yaml")).text();
  const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);
  const told = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name);
  expect(alerts.length).toBeGreaterThan(5);
  expect(told).toEqual(alerts);
});
