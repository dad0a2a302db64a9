import { expect, test } from "bun:test";
import { inBatches } from "../running/batches.ts";

const short = (name: string) => `services/shared/tests/${name}.test.ts`;

test("unit tests of a part share a process, short files of a folder share one in isolation, others have their own", () => {
  const files = [
    "gateway/src/a.test.ts",
    "gateway/tests/a.test.ts",
    "gateway/tests/b.test.ts",
    "gateway/src/http/b.test.ts",
    "services/voice/tests/a.test.ts",
    "services/voice/tests/b.test.ts",
    short("a"),
    "cli/src/a.test.ts",
  ];
  expect(inBatches(files)).toEqual([
    { files: [short("a")], isolated: false },
    { files: ["gateway/tests/a.test.ts", "gateway/tests/b.test.ts"], isolated: true },
    { files: ["services/voice/tests/a.test.ts"], isolated: false },
    { files: ["services/voice/tests/b.test.ts"], isolated: false },
    { files: ["gateway/src/a.test.ts", "gateway/src/http/b.test.ts"], isolated: false },
    { files: ["cli/src/a.test.ts"], isolated: false },
  ]);
});

test("short files of services whose tests leave nothing behind share a process without isolation", () => {
  const files = ["services/account", "services/conversation"].flatMap((part) => [
    `${part}/tests/a.test.ts`,
    `${part}/tests/b.test.ts`,
  ]);
  expect(inBatches(files)).toEqual([
    { files: files.slice(2), isolated: false },
    { files: files.slice(0, 2), isolated: false },
  ]);
});

test("at most ten short files share a process, and no file is left out", () => {
  const files = [..."abcdefghijkl"].map(short);
  const batches = inBatches(files).map((batch) => batch.files);
  expect(batches.map(({ length }) => length)).toEqual([6, 6]);
  expect(batches.flat().toSorted()).toEqual(files);
});

test("the API's short files share a process in isolation, and its long ones have their own", () => {
  const [short, long] = [
    ["a", "b"],
    ["contract", "documentation", "openapi-examples"],
  ].map((names) => names.map((name) => `tests/api/${name}.test.ts`)) as [string[], string[]];
  const batches = inBatches([...short, ...long]);
  expect(batches.filter(({ isolated }) => isolated)).toEqual([{ files: short, isolated: true }]);
  expect(batches.filter(({ isolated }) => !isolated).map(({ files }) => files)).toEqual(long.map((file) => [file]));
});

test("the files that take longest start first", () => {
  const files = ["gateway/tests/a.test.ts", "tests/api/a.test.ts", "tests/faults/a.test.ts"];
  expect(inBatches(files).map((batch) => batch.files)).toEqual(files.toReversed().map((file) => [file]));
});
