/** What of a model's text can be kept, and so is said: Postgres takes every character but NUL. */
export function storable(text: string): string {
  return text.replaceAll("\0", "");
}
