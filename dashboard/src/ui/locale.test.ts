import { expect, test } from "bun:test";
import { englishOf } from "./locale.ts";

test.each([
  [["de-DE", "de", "en-GB", "en"], "en-GB"],
  [["en-US"], "en-US"],
  [["ar-EG", "fr"], "en"],
  [[], "en"],
])("dates and numbers of an English page are in English for a viewer who reads %j", (languages, locale) => {
  expect(englishOf(languages)).toBe(locale);
});
