import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@parley/shared/config";
import { failureOf } from "@parley/testkit/failures";
import { BUILT_IN } from "../src/catalogue/built-in.ts";
import { loadCatalogue } from "../src/catalogue/load.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-catalogue-"));
afterAll(() => rm(folder, { recursive: true }));

async function written(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test("without a file, the built-in catalogue is used", async () => {
  expect(await loadCatalogue("")).toBe(BUILT_IN);
});

test("a file without a date dates the catalogue by its modification time", async () => {
  const path = await written("models.json", '{"llm":{"MISTRAL":{"models":["house-model"]}}}');
  const modified = new Date("2099-03-04T05:06:07Z");
  await utimes(path, modified, modified);
  const { llm, updatedAt } = await loadCatalogue(path);
  expect(llm.MISTRAL).toContain("house-model");
  expect(updatedAt).toEqual(modified);
});

test.each([
  ["absent.json", null, "cannot be read (ENOENT): name a JSON file that this process may read"],
  ["text.json", "tts: {}", "is not JSON"],
  ["form.json", '{"llm":{"GROQ":{"models":[1]}}}', "is not a catalogue: llm.GROQ.models.0 must be the name of a model"],
  [
    "model.json",
    '{"tts":{"GOOGLE":{"voices":[{"voice_id":"v","name":"V","gender":"MALE","language":"en","models":["x"]}]}}}',
    "is not a catalogue: tts.GOOGLE.voices.0.models names x",
  ],
])("%s stops the start with an error that names the variable, the file and the fix", async (name, text, what) => {
  const path = text === null ? join(folder, name) : await written(name, text);
  const error = await failureOf(loadCatalogue(path));
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ message: expect.stringContaining(`PARLEY_CATALOGUE: ${path} ${what}`) });
});
