import type { Sql } from "@parley/shared/db/database";
import type { SessionKey } from "../session-key.ts";

/** What a conversation of a test is given, as it is stored. */
export interface StoredTest {
  runId: string;
  toolMocks: readonly ToolMock[];
  /** Whether a call that no mock answers is made. */
  unmockedReal: boolean;
}

/** What a tool's call comes to. */
export interface ToolMock {
  tool: string;
  /** Arguments that the call has, among others; null for any. */
  when: Readonly<Record<string, unknown>> | null;
  delayMs: number;
  text: string;
  isError: boolean;
  /** Whether it answers one call only. */
  once: boolean;
  /** Whether the text is what a model was told before, rather than what the tool's server answers. */
  recorded: boolean;
}

/** A conversation's test, and which of its mocks have answered calls; null if it belongs to none. */
export async function findTest(sql: Sql, key: SessionKey): Promise<(StoredTest & { used: number[] }) | null> {
  const [row] = await sql<{ test: StoredTest | null; used: number[] }[]>`
    select test, array(
      select mock::integer from tool_calls
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and mock is not null
    ) as used
    from conversations where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}`;
  return row?.test ? { ...row.test, used: row.used } : null;
}
