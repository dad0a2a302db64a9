import { expect, test } from "bun:test";
import { NO_FILTER } from "../lists/conversation-filter.ts";
import { factsOf, factsWanted } from "./facts.ts";

const CALL = {
  agentId: "agt_1",
  agentVersion: 3,
  type: "TELEPHONY",
  callingType: "INBOUND",
  isTestCall: false,
  status: "COMPLETED",
} as const;

test("a conversation has every fact that a matching filter asks for, and lacks a fact of every other filter", () => {
  const facts = factsOf(CALL);
  const wants = (given: object) => factsWanted({ ...NO_FILTER, ownerId: "own_1", ...given });
  expect(wants({})).toEqual([]);
  expect(facts).toEqual(expect.arrayContaining(wants({ ...CALL, isTest: false })));
  for (const other of [
    { agentId: "agt_2" },
    { agentId: "agt_1", agentVersion: 2 },
    { type: "CHAT" },
    { callingType: "OUTBOUND" },
    { isTest: true },
    { status: "FAILED" },
  ]) {
    expect(facts).not.toContain(wants(other).join());
    expect(wants(other)).toHaveLength(1);
  }
  expect(factsOf({ ...CALL, agentVersion: null, callingType: null })).toEqual([
    "agent_id=agt_1",
    "type=TELEPHONY",
    "is_test=false",
    "status=COMPLETED",
  ]);
});
