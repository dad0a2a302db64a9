import { expect, test } from "bun:test";
import { rememberModels } from "./remembered-models.ts";

test("an owner with many models of its own takes the place of nobody else's, and keeps the newest", () => {
  const models = rememberModels<{ name: string }>();
  const make = (name: string) => () => ({ name });
  const theirs = models.custom("own_1", "theirs", make("theirs"));
  const standard = models.standard("standard", make("standard"));
  for (let at = 0; at < 2_000; at++) models.custom("own_2", `${at}`, make(`${at}`));
  expect(models.custom("own_1", "theirs", make("made again"))).toBe(theirs);
  expect(models.standard("standard", make("made again"))).toBe(standard);
  expect(models.custom("own_2", "1999", make("made again")).name).toBe("1999");
  expect(models.custom("own_2", "0", make("made again")).name).toBe("made again");
});

test("owners with models of the same key have one each", () => {
  const models = rememberModels<object>();
  expect(models.custom("own_1", "key", () => ({}))).not.toBe(models.custom("own_2", "key", () => ({})));
});
