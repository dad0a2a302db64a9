import { expect, test } from "bun:test";
import { join } from "node:path";
import { composeSettings } from "../kit/deploy/compose.ts";

const ROOT = join(import.meta.dir, "../..");

test("docs/operations.md explains exactly the alerts that exist", async () => {
  const page = await Bun.file(join(ROOT, "docs/operations.md")).text();
  const rules = await Bun.file(join(ROOT, "deploy/observability/alerts.yaml")).text();
  const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name);
  const told = [...page.matchAll(/^\| `(Parley\w+)` +\|/gm)].map(([, name]) => name);
  expect(alerts.length).toBeGreaterThan(5);
  expect(told).toEqual(alerts);
});

test("docs/deployment.md lists exactly the settings that compose.yaml takes", async () => {
  const page = await Bun.file(join(ROOT, "docs/deployment.md")).text();
  const told = [...page.matchAll(/^\| `(PARLEY_\w+)` +\|/gm)].map(([, name = ""]) => name);
  expect(told.toSorted()).toEqual((await composeSettings()).toSorted());
});

test.each([
  ["Every process", ["services/shared/src/rpc/tls/credentials.ts", "services/shared/src/telemetry/telemetry.ts"]],
  ["Every service", ["services/shared/src/process/service.ts"]],
  ["account", ["services/account/src/config.ts", "services/shared/src/carriers/base-urls.ts"]],
  [
    "messaging",
    ["config.ts", "channels/whatsapp/variables.ts", "channels/widget/variables.ts"].map(
      (file) => `services/messaging/src/${file}`,
    ),
  ],
  ["knowledge", ["config.ts", "search/semantic/config.ts"].map((file) => `services/knowledge/src/${file}`)],
  ...["agent", "prompt", "conversation", "webhook-dispatcher", "voice"].map((name) => [
    name,
    [`services/${name}/src/config.ts`],
  ]),
  ["gateway", ["gateway/src/config.ts"]],
  ["migrate", ["deploy/src/migrate/config.ts"]],
  ["parley, the command line", ["cli/src/connection.ts"]],
] as [string, string[]][])("docs/configuration.md lists exactly the variables of %s", async (section, files) => {
  const page = await Bun.file(join(ROOT, "docs/configuration.md")).text();
  const [, text = ""] = page.split(`\n## ${section}\n`);
  const rows = text.split("\n## ")[0]?.match(/^\| `.+?\|/gm) ?? [];
  const told = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const sources = await Promise.all(files.map((file) => Bun.file(join(ROOT, file)).text()));
  const read = [...sources.join("\n").matchAll(/^ {2}([A-Z][A-Z0-9_]+): \w+[(.]/gm)].map(([, name]) => name);
  // This variable is read before the configuration.
  if (section === "Every process") read.push("PARLEY_LOG_LEVEL");
  expect(told.toSorted()).toEqual(read.toSorted());
});
