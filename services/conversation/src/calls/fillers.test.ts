import { expect, test } from "bun:test";
import { fillerPlaces, withoutFillers } from "./fillers.ts";

test.each([
  ["whole", "Sure. One moment. Here it is.", ["One moment."], "Sure. Here it is."],
  ["in part, because the caller interrupted", "Sure. One mo", ["One moment.", "Nearly."], "Sure. "],
  ["not at all, though the model's last letters are its first", "Hello", ["one moment", "ok"], "Hello"],
])("a filler that was heard %s is told apart from what the model said", (_how, heard, fillers, said) => {
  expect(withoutFillers(heard, fillerPlaces(heard, fillers))).toBe(said);
});
