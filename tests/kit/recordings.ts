import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import type { StackPlace } from "./stack/use-stack.ts";

/** Gives a conversation a recording, as if it had been a call. */
export async function placeRecording(
  { home, databaseUrls }: Pick<StackPlace, "home" | "databaseUrls">,
  { ownerId, conversationId }: { ownerId: string; conversationId: string },
): Promise<void> {
  const content = "OggS";
  const folder = join(home.file("recordings"), ownerId);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${conversationId}.ogg`), content);
  const sql = postgres(databaseUrls.voice, { max: 1, onnotice: () => {} });
  await sql`
    insert into recordings (owner_id, conversation_id, state, bytes, started_at, finished_at)
    values (${ownerId}, ${conversationId}, 'ready', ${content.length}, now(), now())`;
  await sql.end();
}
