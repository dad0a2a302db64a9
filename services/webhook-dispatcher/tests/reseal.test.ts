import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { silentLogger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import { TEST_SECRET } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { readDispatcherConfig } from "../src/config.ts";
import { resealDestinations } from "../src/reseal.ts";
import { signer } from "../src/secrets.ts";
import { listDestinationRows } from "../src/store/destinations.ts";
import { newDestination, startTestDispatcher } from "./kit.ts";

const NEXT = Buffer.alloc(32, 9).toString("base64");

const service = await startTestDispatcher();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", max: 1, name: "reseal-test" });
afterAll(async () => {
  await db.end();
  await service.stop();
});

test("after a reseal, the new key alone opens all secrets, rotated ones too, and signatures stay the same", async () => {
  const ownerId = newOwner();
  const { destinationId } = await newDestination(service.client, "https://receiver.example/", { ownerId });
  await service.client.rotateSecret({ ownerId, destinationId });
  const signature = async (keys: string) => {
    const [row] = await listDestinationRows(db, ownerId);
    if (!row) throw new Error("the destination is gone");
    return signer(createSealer(keys), row)("evt_1", "{}", new Date(0));
  };
  const before = await signature(TEST_SECRET);
  expect(before["webhook-signature"].split(" ")).toHaveLength(2);

  const env = { ...service.env, PARLEY_ENCRYPTION_KEY: `${NEXT},${TEST_SECRET}` };
  await resealDestinations(readDispatcherConfig(env), silentLogger);
  expect(await signature(NEXT)).toEqual(before);
});
