import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programWords } from "@parley/shared/process/program-words";

const folder = await mkdtemp(join(tmpdir(), "parley-program-words-test-"));
await Bun.write(join(folder, "agent"), "");
afterAll(() => rm(folder, { recursive: true }));

test("a program runs from its binary, and from its source if it has none", () => {
  const fromSource = [process.execPath, "--no-env-file", "main.ts"];
  expect(programWords("agent", "main.ts", folder)).toEqual([join(folder, "agent")]);
  expect(programWords("voice", "main.ts", folder)).toEqual(fromSource);
  expect(programWords("agent", "main.ts", "")).toEqual(fromSource);
});
