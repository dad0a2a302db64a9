import { eld } from "eld/small";
import { UNKNOWN_LANGUAGE } from "./languages.ts";

/** Enough to tell, from the beginning, the middle and the end: a text may begin with a notice in another language. */
const SAMPLE_CHARACTERS = 2_000;

/** The language of a text, as ISO 639-1 code; `und` if it cannot be told. */
export function languageOf(text: string): string {
  const places = [0, (text.length - SAMPLE_CHARACTERS) / 2, text.length - SAMPLE_CHARACTERS];
  const sample = places.map((at) => text.slice(Math.max(0, at), Math.max(0, at) + SAMPLE_CHARACTERS)).join("\n");
  return eld.detect(sample).language || UNKNOWN_LANGUAGE;
}
