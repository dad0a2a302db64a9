/**
 * The sentences of a paragraph; it is their concatenation. A line of its own, such as an item of a list, ends a sentence.
 * @param language as ISO 639-1 code
 */
export function sentencesOf(paragraph: string, language: string): string[] {
  return [...segmenterOf(language, "sentence").segment(paragraph)].map(({ segment }) => segment);
}

/** To make one takes as long as to read a page. */
const segmenters = new Map<string, Intl.Segmenter>();

export function segmenterOf(language: string, granularity: "sentence" | "word"): Intl.Segmenter {
  const key = `${language} ${granularity}`;
  const segmenter = segmenters.get(key) ?? new Intl.Segmenter(language, { granularity });
  segmenters.set(key, segmenter);
  return segmenter;
}
