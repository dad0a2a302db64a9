import { codePoints } from "@parley/shared/text/length";
import type { FillerPlace } from "../store/messages.ts";

/** Where in what was heard a runtime's own words stand; the last ones may have been heard in part. */
export function fillerPlaces(heard: string, fillers: readonly string[]): FillerPlace[] {
  const places: FillerPlace[] = [];
  let from = 0;
  for (const filler of fillers.map((text) => text.trim()).filter((text) => text !== "")) {
    const at = heard.indexOf(filler, from);
    const begin = at === -1 ? beginOfPart(heard, filler, from) : at;
    if (begin === null) continue;
    const end = Math.min(heard.length, begin + filler.length);
    places.push([codePoints(heard.slice(0, begin)), codePoints(heard.slice(0, end))]);
    from = end;
  }
  return places;
}

/** Where the beginning of a filler ends what was heard; null if nothing of it was heard. A filler begins with a word. */
function beginOfPart(heard: string, filler: string, from: number): number | null {
  for (let begin = Math.max(from, heard.length - filler.length); begin < heard.length; begin++) {
    const isWord = begin === 0 || /\s/.test(heard[begin - 1] ?? "");
    if (isWord && filler.startsWith(heard.slice(begin))) return begin;
  }
  return null;
}

/** What the model said of a reply. */
export function withoutFillers(content: string, places: readonly FillerPlace[] | null): string {
  if (!places || places.length === 0) return content;
  const characters = Array.from(content);
  let from = 0;
  let said = "";
  for (const [begin, end] of places) {
    said += characters.slice(from, begin).join("");
    // The space behind a filler separated it.
    from = /\s/.test(characters[end] ?? "") ? end + 1 : end;
  }
  return said + characters.slice(from).join("");
}
