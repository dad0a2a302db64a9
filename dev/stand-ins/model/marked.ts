/** Parley puts what came from outside between two equal marks. */
const MARKED = /^(===\w+===)\n(.*?)\n\1$/gms;

/** The texts from outside in a message, such as what documents say. */
export function markedIn(text: string): string[] {
  return [...text.matchAll(MARKED)].map(([, , marked = ""]) => marked);
}

/** What a user said after the texts that Parley put before it. */
export function afterMarked(text: string): string {
  const last = [...text.matchAll(MARKED)].at(-1);
  return last ? text.slice(last.index + last[0].length).trimStart() : text;
}

/** A prompt without the texts in it. */
export function withoutMarked(text: string): string {
  return text.replaceAll(MARKED, "");
}
