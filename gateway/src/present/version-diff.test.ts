import { expect, test } from "bun:test";
import { diffOf } from "./version-diff.ts";

const NAMES = { from: "version 1", to: "version 2" };

test("a diff names each part of an object that differs, lists as a whole, and what only one version has", async () => {
  const from = { name: "a", llm: { model: "x", params: { temperature: 0.5 } }, tips: ["one"], sts: { voice: "v" } };
  const to = { name: "a", llm: { model: "x", params: { temperature: 1, api_key: "****" } }, tips: ["one", "two"] };
  expect(await diffOf(from, to, NAMES)).toEqual([
    { field: "llm.params.temperature", from: 0.5, to: 1 },
    { field: "llm.params.api_key", from: null, to: "****" },
    { field: "tips", from: ["one"], to: ["one", "two"] },
    { field: "sts", from: { voice: "v" }, to: null },
  ]);
});

test("prompts and texts of several lines have a unified diff, other texts none", async () => {
  const changes = await diffOf(
    { prompt: { prompt_content: "Be brief." }, name: "Desk" },
    { prompt: { prompt_content: "Be kind." }, name: "Front desk" },
    NAMES,
  );
  expect(changes.map(({ diff }) => diff)).toEqual([expect.stringContaining("-Be brief.\n"), undefined]);
});
