import { expect, test } from "bun:test";
import { checkTransfer } from "./check-transfer.ts";

const NUMBER = { transfer_phone_number: "+14155550199" };
const BRIEFING = { briefing: "Say who it is." };
const check =
  (transfer_call: unknown, sts: unknown = undefined) =>
  () =>
    checkTransfer({ tools: { transfer_call }, sts } as never);

test.each([
  [false],
  [NUMBER],
  [{ ...NUMBER, mode: "cold" }],
  [{ ...NUMBER, mode: "warm", ...BRIEFING, hold_sound: "none", accept_seconds: 60 }],
])("an agent may transfer calls with %j", (config) => {
  expect(check(config)).not.toThrow();
});

test.each([
  [{ ...NUMBER, mode: "warm" }, undefined, "tools.transfer_call.briefing is required for warm transfers"],
  [
    { ...NUMBER, ...BRIEFING },
    undefined,
    'tools.transfer_call.briefing is for warm transfers only: set mode to "warm"',
  ],
  [{ ...NUMBER, accept_seconds: 60 }, undefined, "tools.transfer_call.accept_seconds is for warm transfers only"],
  [{ ...NUMBER, mode: "warm", ...BRIEFING }, {}, 'tools.transfer_call.mode cannot be "warm" with sts'],
])("a transfer with %j is refused, and told why", (config, sts, why) => {
  expect(check(config, sts)).toThrow(why);
});
