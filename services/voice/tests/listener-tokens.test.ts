import { afterAll, expect, test } from "bun:test";
import type { CommandCallRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import type { Call } from "@parley/shared/rpc/call";
import { createSealer } from "@parley/shared/sealing";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, TEST_SECRET } from "@parley/testkit/database";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { listenerHandlers } from "../src/call/operator/listener-tokens.ts";
import { MIGRATIONS } from "../src/migrations.ts";
import { takeCall } from "../src/store/calls.ts";
import { browser } from "./webrtc/browser.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
await migrate(db, MIGRATIONS);
const clock = fakeClock();
const asked: CommandCallRequest[] = [];
const CALL = { log: silentLogger, actor: { kind: "key", id: "key_ada" } } as Call;
const handlers = listenerHandlers({
  ...{ db, clock, sealer: createSealer(TEST_SECRET) },
  ask: async (command) => {
    asked.push(command);
    if (command.command?.$case === "leave") throw new ServiceError("conflict", "Nobody is on the line in this call");
    return { answer: "v=0" };
  },
});
const page = await browser();
afterAll(async () => {
  page.close();
  await db.end();
  await database.drop();
});

async function heldCall() {
  const key = { ownerId: newOwner(), conversationId: newUuid() };
  const now = clock.now();
  await takeCall(db, { ...key, farEnd: null, processId: newUuid(), now, until: new Date(now.getTime() + 6_000) }, 10);
  return key;
}

test("a listener's token opens its own call, for five minutes", async () => {
  const [key, other] = [await heldCall(), await heldCall()];
  const { token } = await handlers.createListener(key, CALL);
  const { conversationId } = key;
  const connect = (given: object) =>
    handlers.connectListener({ conversationId, token, offer: page.offer, ...given }, CALL);
  expect(await connect({})).toEqual({ answer: "v=0" });
  expect(asked.at(-1)).toMatchObject({ ...key, command: { $case: "listen", value: { offer: page.offer } } });
  for (const wrong of [{ conversationId: other.conversationId }, { token: `${token}x` }, { token: "" }])
    expect((await serviceErrorOf(connect(wrong))).kind).toBe("unauthenticated");
  expect((await serviceErrorOf(connect({ offer: "v=0" }))).kind).toBe("invalid");
  clock.advance(5 * 60_000);
  expect((await serviceErrorOf(connect({}))).kind).toBe("unauthenticated");
  expect(await handlers.endListener({ conversationId, token })).toEqual({});
});

test("nobody listens to another owner's call, or to one that no process holds", async () => {
  const key = await heldCall();
  for (const each of [
    { ...key, ownerId: newOwner() },
    { ...key, conversationId: newUuid() },
  ])
    expect((await serviceErrorOf(handlers.createListener(each, CALL))).kind).toBe("conflict");
});
