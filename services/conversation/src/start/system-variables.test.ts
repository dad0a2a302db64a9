import { expect, test } from "bun:test";
import { type Circumstances, systemVariables } from "./system-variables.ts";

const CALL: Circumstances = {
  conversationId: "0199d0c4-5c1f-7c5e-8f70-4a9a5c1b2d3e",
  agentId: "agt_1",
  channel: "telephony",
  direction: "inbound",
  caller: "+14155550123",
  called: "+493012345678",
  timezone: "Europe/Berlin",
  beganAt: new Date("2026-11-27T23:29:30.400Z"),
};

test("system variables tell the time, the date and the seconds of a call in the zone of its agent", () => {
  expect(systemVariables(CALL, new Date("2026-11-27T23:30:59.999Z"))).toEqual({
    system_time: "2026-11-28T00:30:59+01:00",
    system_date: "Saturday, 28 November 2026",
    system_timezone: "Europe/Berlin",
    system_caller: "+14155550123",
    system_called: "+493012345678",
    system_conversation_id: CALL.conversationId,
    system_channel: "telephony",
    system_direction: "inbound",
    system_agent_id: "agt_1",
    system_call_seconds: 89,
  });
});

test("a call whose first word is not heard yet, or lies ahead of the clock, has lasted for no seconds", () => {
  for (const beganAt of [null, new Date("2026-07-01T12:00:01Z")]) {
    const variables = systemVariables({ ...CALL, timezone: "UTC", beganAt }, new Date("2026-07-01T12:00:00Z"));
    expect(variables.system_call_seconds).toBe(0);
    expect(variables.system_time).toBe("2026-07-01T12:00:00+00:00");
  }
});
