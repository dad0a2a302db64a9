import { afterAll, expect, test } from "bun:test";
import type { CommandCallRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { systemClock } from "@parley/shared/clock";
import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import type { Call } from "@parley/shared/rpc/call";
import { createSealer } from "@parley/shared/sealing";
import { createTestDatabase, TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { type CallCommand, callCommands } from "../src/call/operator/commands.ts";
import { MIGRATIONS } from "../src/migrations.ts";
import type { CallKey } from "../src/store/calls.ts";

const database = await createTestDatabase();
const open = () => openDatabase({ url: database.urls.voice, name: "test" });
const db = open();
await migrate(db, MIGRATIONS);
const key: CallKey = { ownerId: newOwner(), conversationId: newUuid() };
const done: CallCommand[] = [];
let refusal: string | null = null;
const isHere = (call: CallKey) => call.ownerId === key.ownerId && call.conversationId === key.conversationId;
const replicas = ["holds", "elsewhere"].map((where) =>
  callCommands({
    ...{ db, direct: db, clock: systemClock, log: silentLogger, watched: () => {}, sealer: createSealer(TEST_SECRET) },
    command: async (call, command) => {
      if (where === "elsewhere" || !isHere(call)) return null;
      done.push(command);
      return { refusal, answer: "v=0" };
    },
  }),
);
// The replicas share a connection that listens. It does before the first command, as in processes before they take a call.
await eventually(async () => {
  const listening = await db`
    select from pg_stat_activity where datname = current_database() and query = 'listen "voice.call_commands"'`;
  expect(listening).not.toHaveLength(0);
});
afterAll(async () => {
  for (const { stop } of replicas) await stop?.();
  await db.end();
  await database.drop();
});

const ask = (command: CommandCallRequest["command"], call = key) =>
  replicas[1]?.handlers?.commandCall?.({ ...call, command }, {} as Call) ?? Promise.reject(new Error("no handler"));

test("a command reaches the process that holds the call, whichever one is asked, and leaves nothing behind", async () => {
  const text = "x".repeat(4_000);
  expect(await ask({ $case: "say", value: text })).toEqual({ answer: "v=0" });
  expect(done).toEqual([{ $case: "say", value: text }]);
  refusal = "The agent is not on the line with the user";
  const failed = await serviceErrorOf(ask({ $case: "mute", value: true }));
  expect([failed.kind, failed.detail]).toEqual(["condition", refusal]);
  expect(await db`select from call_commands`).toHaveLength(0);
});

test("a command for a call that no process holds is a conflict", async () => {
  const failed = await serviceErrorOf(ask({ $case: "say", value: "Hello?" }, { ...key, ownerId: newOwner() }));
  expect(failed.kind).toBe("conflict");
  expect(await db`select from call_commands`).toHaveLength(0);
});
