import { describe, expect, test } from "bun:test";
import { hasNoMatch, readTally, sum } from "../tally.ts";

const OUTPUT =
  "a.test.ts:\n(pass) x\n\n 12 pass\n 1 skip\n 3 fail\n 1 error\n 40 expect() calls\nRan 16 tests across 2 files.\n";

describe("the last line of the test command", () => {
  test("reports bun's closing figures", () => {
    expect(readTally(OUTPUT, 1)).toEqual({ passed: 12, failed: 3 });
  });

  test("is not misled by colors or by figures that a test printed", () => {
    expect(readTally(` 99 pass\n\u001b[32m 2 pass\u001b[0m\n 0 fail\n`, 0)).toEqual({ passed: 2, failed: 0 });
  });

  test.each([
    ["a crash without figures", "", 139, { passed: 0, failed: 1 }],
    ["an exit code that no figure explains", " 4 pass\n 0 fail\n", 1, { passed: 4, failed: 1 }],
    ["a run without a test", " 0 pass\n 0 fail\n", 0, { passed: 0, failed: 1 }],
  ])("counts %s as a failure", (_, output, exitCode, tally) => {
    expect(readTally(output, exitCode)).toEqual(tally);
  });

  test("tells files without a test of the wanted name from those that fail", () => {
    expect(hasNoMatch('bun test v1\n\nerror: regex "x" matched 0 tests. Searched 1 file (skipping 2 tests)\n')).toBe(
      true,
    );
    expect(hasNoMatch(OUTPUT)).toBe(false);
  });

  test("sums the checks and the tests", () => {
    expect(
      sum([
        { passed: 4, failed: 0, failures: [] },
        { passed: 12, failed: 3, failures: [{ name: "a.test.ts", report: "(fail) x" }] },
      ]),
    ).toEqual({ passed: 16, failed: 3, failures: [{ name: "a.test.ts", report: "(fail) x" }] });
  });
});
