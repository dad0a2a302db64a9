import type { Sql } from "@parley/shared/db/database";

/** Characters of a part, as JavaScript counts them: what a reader is given at once, and more than a turn is given of whole texts. */
const PART_CHARACTERS = 80 * 1024;
/** Parts that one statement stores. */
const PARTS_AT_ONCE = 16;

interface TextKey {
  ownerId: string;
  textId: string;
}

export async function insertText(sql: Sql, { ownerId, textId }: TextKey, text: string): Promise<void> {
  const parts = partsOf(text);
  for (let at = 0; at < parts.length; at += PARTS_AT_ONCE) {
    const some = parts.slice(at, at + PARTS_AT_ONCE);
    await sql`
      insert into texts (owner_id, text_id, part, text)
      select ${ownerId}, ${textId}, ${at} + place - 1, part
      from unnest(${some}::text[]) with ordinality as given (part, place)`;
  }
}

/** A part of a text, and its characters as Postgres counts them; null after the last, or if the text is gone. */
export async function findPart(
  sql: Sql,
  { ownerId, textId }: TextKey,
  part: number,
): Promise<{ text: string; characters: number } | null> {
  const [row] = await sql<{ text: string; characters: number }[]>`
    select text, length(text) as characters from texts
    where owner_id = ${ownerId} and text_id = ${textId} and part = ${part}`;
  return row ?? null;
}

/** The first parts of texts, by their ids. */
export async function findFirstParts(
  sql: Sql,
  ownerId: string,
  textIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ textId: string; text: string }[]>`
    select text_id, text from texts where owner_id = ${ownerId} and text_id = any(${textIds as string[]}) and part = 0`;
  return new Map(rows.map(({ textId, text }) => [textId, text]));
}

export async function deleteText(sql: Sql, { ownerId, textId }: TextKey): Promise<void> {
  await sql`delete from texts where owner_id = ${ownerId} and text_id = ${textId}`;
}

function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + PART_CHARACTERS;
    // A part must not end between the two halves of a character.
    const until = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    parts.push(text.slice(at, until));
    at = until;
  }
  return parts;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}
