import type { Fragment, Sql } from "./database.ts";

/** Characters of a text that is worth a statement of its own. */
const LONG = 16 * 1024;

export function isLongText(text: string): boolean {
  return text.length > LONG;
}

/**
 * Texts as an array of a statement. A long text alone is a parameter of its own: the driver escapes those of a list, which blocks the
 * event loop for milliseconds with a megabyte of quotes or backslashes. Short texts share one statement, however many they are.
 */
export function textList(sql: Sql, texts: readonly string[]): Fragment {
  const [only] = texts;
  return texts.length === 1 && only !== undefined && isLongText(only)
    ? sql`array[${only}]::text[]`
    : sql`${texts as string[]}::text[]`;
}
