/** Removes NUL, which Postgres cannot store, from a model's text before it is sent or stored. */
export function storable(text: string): string {
  return text.replaceAll("\0", "");
}
