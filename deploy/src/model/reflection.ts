import { REFLECTIONS } from "./vocabulary.ts";

// The longest phrase first: "you are" must not be read as "you" and "are".
const PHRASES = Object.keys(REFLECTIONS).sort((a, b) => b.length - a.length);
const SPOKEN = new RegExp(`(?<![\\p{L}'])(?:${PHRASES.join("|")})(?![\\p{L}'])`, "giu");

/** The same words from the other side: "my work for you" is "your work for me". */
export function reflect(text: string): string {
  return text.replace(SPOKEN, (phrase) => REFLECTIONS[phrase.toLowerCase()] ?? phrase);
}
