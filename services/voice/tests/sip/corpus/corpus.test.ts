import { afterEach, beforeEach, expect, test } from "bun:test";
import { readNameAddress } from "../../../src/transport/sip/address.ts";
import { NAME_ADDRESSES } from "./name-addresses.ts";
import { NUMBERS } from "./numbers.ts";
import { startSender } from "./sender.ts";

let sender: Awaited<ReturnType<typeof startSender>>;
beforeEach(async () => {
  sender = await startSender();
});
afterEach(() => sender.stop());

test.each([...NAME_ADDRESSES, ...NUMBERS])(
  "an INVITE with %s is answered or refused rightly",
  async (_what, message, right) => {
    const { answer: _answer, ...outcome } = await sender.outcomeOf(message);
    expect(outcome).toEqual(right);
  },
);

test.each([
  ['"Ada" <sip:a@b>', "Ada"],
  ['"Ada \\"B\\" King, \\\\" <sip:a@b>', 'Ada "B" King, \\'],
  ['"<sip:x@y>;tag=1" <sip:a@b>;tag=2', "<sip:x@y>;tag=1"],
  ["Ada Lovelace <sip:a@b>", "Ada Lovelace"],
  ['"Ada" sip:a@b;tag=2', "Ada"],
  ["<sip:a@b>", ""],
  ["sip:a@b", ""],
])("the name in %p is %p, and the address is the same", (value, name) => {
  expect(readNameAddress(value)).toMatchObject({ name, uri: "sip:a@b" });
});
