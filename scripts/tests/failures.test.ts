import { expect, test } from "bun:test";
import { tellCutOff, tellFailures } from "../failures.ts";

const REPORT = `bun test v1
gateway/src/a.test.ts:
(pass) a is one
gateway/src/b.test.ts:
error: expected 1, got 2
(fail) b is one [2.00ms]
(pass) b is two
`;

test("nothing is reported when nothing failed", () => {
  expect(tellFailures([])).toBe("");
});

test("the report of the file that failed is repeated, then the failed tests are listed by file", () => {
  expect(tellFailures([{ name: "gateway/src/", report: REPORT }])).toBe(`--- gateway/src/b.test.ts
error: expected 1, got 2
(fail) b is one [2.00ms]

--- Failed:
gateway/src/b.test.ts
  (fail) b is one [2.00ms]
`);
});

test("a test that failed stands once, under its file, although bun repeats it at the end", () => {
  const rest = `gateway/src/c.test.ts:
(pass) c is one

1 tests failed:
(fail) b is one [2.00ms]

 2 pass
 1 fail
`;
  const told = tellFailures([{ name: "gateway/src/", report: `${REPORT}${rest}` }]);
  expect(told).toBe(tellFailures([{ name: "gateway/src/", report: REPORT }]));
});

test("a batch that ended without a failed test is reported in full", () => {
  expect(tellFailures([{ name: "a.test.ts", report: "panic: out of memory" }])).toBe(
    "--- a.test.ts\npanic: out of memory\n\n--- Failed:\na.test.ts\n",
  );
});

test("a file that ends its process is named with the test that ended before, also if another file failed", () => {
  const cutOff = `${REPORT}gateway/src/c.test.ts:\n(pass) c is one [1.00ms]\n`;
  const told = tellCutOff(cutOff, ["gateway/src/b.test.ts", "gateway/src/c.test.ts"], "ended by SIGSEGV", false);
  expect(tellFailures([{ name: "gateway/src/", report: cutOff + told }])).toEndWith(`--- Failed:
gateway/src/b.test.ts
  (fail) b is one [2.00ms]
gateway/src/c.test.ts
  (fail) gateway/src/c.test.ts ended by SIGSEGV after (pass) c is one [1.00ms]
`);
});

test("a file that hangs before its first test is named", () => {
  const hung = "bun test v1\n\ncli/tests/a.test.ts:\n";
  expect(tellCutOff(hung, ["cli/tests/a.test.ts"], "did not end within 600 s, and hung", true)).toBe(
    "(fail) cli/tests/a.test.ts did not end within 600 s, and hung before its first test was over\n",
  );
  expect(tellCutOff("panic: out of memory", ["a.test.ts", "b.test.ts"], "ended with exit code 132", false)).toBe(
    "(fail) a.test.ts, b.test.ts ended with exit code 132 before its first test was over\n",
  );
});

test("of a process that ran all of its tests, only that it hung is told", () => {
  const whole = `${REPORT}\n 2 pass\n 1 fail\nRan 3 tests across 2 files. [1.00s]\n`;
  expect(tellCutOff(whole, ["a.test.ts"], "ended with exit code 1", false)).toBe("");
  expect(tellCutOff(whole, ["a.test.ts"], "hung", true)).toBe("(fail) a.test.ts hung after all tests\n");
});

test("a long report is cut to its end, and many reports share the space", () => {
  const long = (name: string) => ({ name, report: `${"a long line\n".repeat(10_000)}(fail) ${name}` });
  expect(tellFailures([long("one")])).toEndWith(`a long line\n(fail) one\n\n--- Failed:\none\n  (fail) one\n`);
  const all = tellFailures(Array.from({ length: 100 }, (_, n) => long(`test ${n}`)));
  expect(all.length).toBeLessThan(70_000);
  for (let n = 0; n < 100; n++) expect(all).toContain(`\n  (fail) test ${n}\n`);
});
