import { expect, test } from "bun:test";
import type { AgentPointer } from "@parley/proto/parley/agent/v1/agent.ts";
import fc from "fast-check";
import { type Caller, callerOf, chosenVersion, slotOf } from "./choose-version.ts";

const NOTHING_SPLIT: AgentPointer = {
  publishedVersion: 3,
  latestVersion: 5,
  salt: "",
  slots: [],
  keysRevision: 1,
  pricesHash: "",
};
const SPLIT: AgentPointer = { ...NOTHING_SPLIT, salt: "s1", slots: Array.from({ length: 100 }, (_, at) => at + 1) };

const caller: fc.Arbitrary<Caller> = fc.record({
  conversationId: fc.uuid(),
  mobileNumber: fc.option(fc.stringMatching(/^\+[1-9]\d{6,14}$/)),
  userId: fc.option(fc.oneof(fc.string(), fc.integer(), fc.object())),
});

test("a caller with a number, or else with a user_id, gets the same version in every conversation", () => {
  fc.assert(
    fc.property(caller, fc.uuid(), (given, conversationId) => {
      const isKnown =
        Boolean(given.mobileNumber) ||
        typeof given.userId === "number" ||
        (given.userId !== "" && typeof given.userId === "string");
      fc.pre(isKnown);
      expect(chosenVersion(SPLIT, { ...given, conversationId })).toBe(chosenVersion(SPLIT, given) as number);
    }),
  );
});

test("a caller's number counts before user_id, and both before the conversation's id", () => {
  const slot = (key: string) => slotOf("s1", key) + 1;
  const all = { conversationId: "c1", mobileNumber: "+14155550123", userId: "ada" };
  expect(chosenVersion(SPLIT, all)).toBe(slot("+14155550123"));
  expect(chosenVersion(SPLIT, { ...all, mobileNumber: null })).toBe(slot("ada"));
  expect(chosenVersion(SPLIT, { conversationId: "c1", userId: 17 })).toBe(slot("17"));
  expect(chosenVersion(SPLIT, { conversationId: "c1", userId: { name: "ada" } })).toBe(slot("c1"));
});

test("the slot of a caller is the first 32 bits of sha256 of salt and key, modulo 100", () => {
  const digest = new Bun.CryptoHasher("sha256").update("s1 +14155550123").digest("hex");
  expect(slotOf("s1", "+14155550123")).toBe(Number(`0x${digest.slice(0, 8)}`) % 100);
});

test("callers spread over all slots of a split, differently for another salt", () => {
  const callers = Array.from({ length: 10_000 }, (_, at) => `+1415555${String(at).padStart(4, "0")}`);
  const counts = Map.groupBy(callers, (key) => slotOf("s1", key));
  expect(counts.size).toBe(100);
  for (const [, each] of counts) expect(Math.abs(each.length - 100)).toBeLessThan(50);
  const moved = callers.filter((key) => slotOf("s1", key) !== slotOf("s2", key));
  expect(moved.length).toBeGreaterThan(9_000);
});

test("without a split everybody gets the published version, or none", () => {
  fc.assert(fc.property(caller, (given) => chosenVersion(NOTHING_SPLIT, given) === 3));
  expect(chosenVersion({ ...NOTHING_SPLIT, publishedVersion: undefined }, { conversationId: "c1" })).toBeUndefined();
});

test("the caller of an outbound call is who is called", () => {
  const call = { conversationId: "c1", toMobileNumber: "+1", fromMobileNumber: "+2", metadata: { user_id: "ada" } };
  expect(callerOf({ ...call, callingType: "OUTBOUND" }).mobileNumber).toBe("+1");
  expect(callerOf({ ...call, callingType: "INBOUND" })).toMatchObject({ mobileNumber: "+2", userId: "ada" });
});
