import { afterAll, expect, test } from "bun:test";
import { startStack } from "./stack.ts";

const stack = await startStack({ needsVoice: true });
const made = await stack.parley(["owner", "create", "--name", "Acme", "--email", "acme@example.com", "--json"]);
const owner = JSON.parse(made.stdout).owner_id;
afterAll(() => stack.stop());

const doNotCall = (...args: string[]) => stack.parley(["do-not-call", ...args, "--owner", owner]);

test("numbers are added to an owner's do-not-call list, listed, and removed from it", async () => {
  expect(await doNotCall("list")).toMatchObject({ status: 0, stdout: `${owner} has no numbers on the list.\n` });
  for (const number of ["+14155550124", "+14155550123", "+14155550123"]) {
    const { status, stdout } = await doNotCall("add", number, "--json");
    expect([status, JSON.parse(stdout)]).toEqual([0, { mobile_number: number, created_at: expect.any(String) }]);
  }
  const listed = await doNotCall("list", "--page-size", "1");
  expect(listed.stdout).toMatch(/^mobile_number\s+created_at\n\+14155550123 .*\npage 1 of 2, 2 in all\n$/);
  const found = JSON.parse((await doNotCall("list", "--search", "+14155550124", "--json")).stdout);
  expect(found).toMatchObject({ numbers: [{ mobile_number: "+14155550124" }], total: 1 });
  expect((await doNotCall("list", "--search", "+49")).stdout).toContain("no number on the list");
  expect(await doNotCall("remove", "+14155550123")).toMatchObject({ status: 0, stdout: "Removed +14155550123.\n" });
  const left = JSON.parse((await doNotCall("list", "--json")).stdout);
  expect(left).toMatchObject({ numbers: [{ mobile_number: "+14155550124" }], total: 1, total_pages: 1 });
});

test("an invalid number, one that is not on the list, and an unknown owner are refused with a sentence", async () => {
  const none = await doNotCall("add", "0415");
  expect([none.status, none.stderr]).toEqual([1, expect.stringContaining("must be a phone number in E.164 form")]);
  const missing = await doNotCall("remove", "+14155550199");
  expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining("not found")]);
  const nobody = "own_00000000000000000000000000";
  for (const args of [["add", "+14155550123"], ["list"]]) {
    const refused = await stack.parley(["do-not-call", ...args, "--owner", nobody]);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("Owner not found")]);
  }
});
