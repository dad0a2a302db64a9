import { expect, test } from "bun:test";
import { checkTransfer } from "./check-transfer.ts";

const NUMBER = { transfer_phone_number: "+14155550199" };
const BRIEFING = { briefing: "Say who it is." };
const check = (transfer_call: unknown) => () => checkTransfer({ tools: { transfer_call } } as never);

test.each([
  [false],
  [NUMBER],
  [{ ...NUMBER, mode: "cold" }],
  [{ ...NUMBER, mode: "warm", ...BRIEFING, hold_sound: "none", accept_seconds: 60 }],
])("an agent may transfer calls with %j", (config) => {
  expect(check(config)).not.toThrow();
});

test.each([
  [{ ...NUMBER, mode: "warm" }, "tools.transfer_call.briefing is required for warm transfers"],
  [{ ...NUMBER, ...BRIEFING }, 'tools.transfer_call.briefing is for warm transfers only: set mode to "warm"'],
  [{ ...NUMBER, accept_seconds: 60 }, "tools.transfer_call.accept_seconds is for warm transfers only"],
])("a transfer with %j is refused, and told why", (config, why) => {
  expect(check(config)).toThrow(why);
});
