import type { Sql } from "@parley/shared/db/database";
import type { Page } from "@parley/shared/page";

interface DocumentReplyRow {
  conversationId: string;
  agentId: string;
  seq: number;
  /** Its first characters. */
  beginning: string;
  createdAt: Date;
}

const BEGINNING_CHARACTERS = 300;

/** A page of the replies whose model was given parts of a document, newest first, and how many there are. */
export async function listDocumentReplyRows(
  sql: Sql,
  ownerId: string,
  documentId: string,
  { number, size }: Page,
): Promise<{ rows: DocumentReplyRow[]; total: number }> {
  const ofDocument = sql`owner_id = ${ownerId} and knowledge -> 'sources' @> ${sql.json([{ documentId }])} and knowledge is not null`;
  const [rows, [count]] = await Promise.all([
    sql<DocumentReplyRow[]>`
      select page.conversation_id, agent_id, seq, left(content, ${BEGINNING_CHARACTERS}) as beginning, page.created_at
      from (
        select owner_id, conversation_id, seq, content, created_at from messages where ${ofDocument}
        order by created_at desc, conversation_id, seq
        limit ${size} offset ${(number - 1) * size}
      ) as page
      join conversations using (owner_id, conversation_id)
      order by page.created_at desc, page.conversation_id, seq`,
    sql<{ total: number }[]>`select count(*)::integer as total from messages where ${ofDocument}`,
  ]);
  return { rows, total: count?.total ?? 0 };
}
