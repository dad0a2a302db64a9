import { expect, test } from "bun:test";
import { readTestOptions } from "../test-options.ts";

const ALL = { paths: [], changedSince: undefined, name: undefined };

test.each<[string[], object]>([
  [[], ALL],
  [["gateway", "cli/"], { ...ALL, paths: ["gateway", "cli/"] }],
  [["--changed"], { ...ALL, changedSince: "HEAD" }],
  [["--changed=main"], { ...ALL, changedSince: "main" }],
  [["gateway", "-t", "is refused"], { ...ALL, paths: ["gateway"], name: "is refused" }],
  [["--test-name-pattern=is refused", "--changed"], { ...ALL, changedSince: "HEAD", name: "is refused" }],
  [["--test-name-pattern", "^a", "cli"], { ...ALL, paths: ["cli"], name: "^a" }],
])("the arguments %j of the test command select tests", (given, options) => {
  expect(readTestOptions(given)).toEqual(options as never);
});

test.each([
  [["--watch"], "Unknown option '--watch'"],
  [["gateway", "-x"], "Unknown option '-x'"],
  [["-t"], "Option '-t, --test-name-pattern <value>' argument missing"],
  [["gateway", "--changed"], "gateway cannot be combined with --changed"],
])("the arguments %j of the test command are refused with what it takes", (given, fault) => {
  expect(() => readTestOptions(given)).toThrow(
    `${fault}. The test command takes words that paths contain or --changed[=ref], and -t PATTERN for the names of tests.`,
  );
});
