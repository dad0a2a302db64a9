/**
 * The sentences of a paragraph; it is their concatenation. A line of its own, such as an item of a list, ends a sentence.
 * @param language as ISO 639-1 code
 */
export function sentencesOf(paragraph: string, language: string): string[] {
  const segmenter = new Intl.Segmenter(language, { granularity: "sentence" });
  return [...segmenter.segment(paragraph)].map(({ segment }) => segment);
}
