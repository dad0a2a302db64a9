import { expect, test } from "bun:test";
import { readImports } from "../imports.ts";
import { circles, forbiddenImports } from "../rules/import-rules.ts";

test("files that import each other, directly or through others, are a circle, and so is one that imports itself", () => {
  const imports = new Map([
    ["a.ts", ["b.ts", "d.ts"]],
    ["b.ts", ["c.ts"]],
    ["c.ts", ["b.ts", "d.ts"]],
    ["d.ts", []],
    ["e.ts", ["e.ts"]],
  ]);
  expect(circles(imports)).toEqual([
    ["b.ts", "c.ts", "b.ts"],
    ["e.ts", "e.ts"],
  ]);
});

test("a file that two others import is not a circle", () => {
  const imports = new Map([
    ["a.ts", ["b.ts", "c.ts"]],
    ["b.ts", ["c.ts"]],
    ["c.ts", []],
  ]);
  expect(circles(imports)).toEqual([]);
});

test.each([
  ["services/agent/src/service.ts", "services/shared/src/errors.ts"],
  ["services/shared/src/errors.ts", "proto/gen/parley/common/v1/common.ts"],
  ["deploy/src/migrate/migrate-all.ts", "services/prompt/src/migrations.ts"],
  ["gateway/src/gate.ts", "gateway/src/problem.ts"],
  ["tests/api/chat.test.ts", "dev/stack/stack.ts"],
  ["services/agent/tests/agents.test.ts", "testkit/src/database.ts"],
  ["services/shared/src/egress/ask.test.ts", "testkit/src/eventually.ts"],
  ["dev/stand-ins/model/server.ts", "testkit/src/stand-ins/dialects/dialect.ts"],
  ["testkit/src/clock.ts", "services/shared/src/clock.ts"],
  ["services/agent/src/prompts/agent-prompts.ts", "services/agent/src/store/agents.ts"],
  ["services/conversation/src/store/turns/take-turns.ts", "services/conversation/src/store/session-key.ts"],
  ["services/agent/src/store/agents.ts", "services/shared/src/errors.ts"],
  ["services/shared/src/jobs/store.ts", "services/shared/src/db/database.ts"],
  ["services/messaging/src/channels/channels.ts", "services/messaging/src/channels/whatsapp/whatsapp.ts"],
  ["services/messaging/src/threads/send-next.ts", "services/messaging/src/channels/channel.ts"],
  ["dashboard/src/features/calls/text-of-file.ts", "services/shared/src/portable/text-of-bytes.ts"],
])("%s may import %s", (importer, imported) => {
  expect(forbiddenImports(new Map([[importer, [imported]]]))).toEqual([]);
});

test.each([
  ["services/agent/src/service.ts", "services/prompt/src/service.ts"],
  ["services/shared/src/errors.ts", "gateway/src/problem.ts"],
  ["deploy/src/migrate/migrate-all.ts", "services/prompt/src/service.ts"],
  ["gateway/src/gate.ts", "services/account/src/migrations.ts"],
  ["dev/stack/stack.ts", "tests/kit/stack.ts"],
  ["dev/stack/plan.ts", "testkit/src/programs/binaries.ts"],
  ["services/shared/src/process/run-process.ts", "testkit/src/clock.ts"],
  ["services/voice/src/carriers/twilio.ts", "testkit/src/stand-ins/carriers/twilio-api.ts"],
  ["testkit/src/shared-agents.ts", "dev/stack/stack.ts"],
  ["unknown/src/main.ts", "services/shared/src/errors.ts"],
  ["dashboard/src/app/routes.tsx", "services/shared/src/errors.ts"],
  ["services/shared/src/portable/text-of-bytes.ts", "services/shared/src/errors.ts"],
  ["services/agent/src/store/agents.ts", "services/agent/src/convert.ts"],
  ["services/conversation/src/store/turns/take-turns.ts", "services/conversation/src/turn/turn.ts"],
  ["services/messaging/src/threads/send-next.ts", "services/messaging/src/channels/whatsapp/graph.ts"],
])("%s may not import %s", (importer, imported) => {
  expect(forbiddenImports(new Map([[importer, [imported]]]))).toEqual([`${importer} imports ${imported}`]);
});

test("imports of types are read too, and no other import is missed", async () => {
  const [all, running] = await Promise.all([readImports("all"), readImports("runs")]);
  const missed = running
    .entries()
    .flatMap(([file, imported]) =>
      imported.filter((path) => !all.get(file)?.includes(path)).map((path) => [file, path]),
    );
  expect(missed.toArray()).toEqual([]);
  expect(all.get("gateway/src/openapi/operation.ts")).toContain("gateway/src/auth/identify.ts");
  expect(running.get("gateway/src/openapi/operation.ts")).toEqual([]);
});
