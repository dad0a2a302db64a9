import { parseArgs } from "node:util";
import { MIGRATIONS } from "@parley/knowledge/migrations";
import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { startDatabase } from "../lists/database.ts";
import type { Run } from "../run.ts";
import { measureQuality } from "./quality.ts";
import { measureSpeed } from "./speed.ts";

const CHUNKS = 50_000;

/**
 * Measures searches in knowledge bases. `--set FOLDER` compares rankings on a retrieval set in BEIR's files, in the language
 * `--language` (en), with the embedder of `PARLEY_EMBEDDINGS_URL` if one is given. `--chunks N` makes the base of the speeds N chunks
 * large; with 0, only rankings are compared.
 */
export async function benchKnowledge(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      set: { type: "string", multiple: true, default: [] },
      language: { type: "string", default: "en" },
      chunks: { type: "string", default: String(CHUNKS) },
    },
  });
  const chunks = Number(values.chunks);
  if (!Number.isInteger(chunks) || chunks < 0) throw new Error("--chunks must be a number of chunks");
  const database = await startDatabase(run, undefined, "knowledge");
  const db = openDatabase({ url: database.url, name: "bench", max: 4 });
  run.onEnd(() => db.end({ timeout: 1 }));
  await migrate(db, MIGRATIONS);
  for (const folder of values.set) await measureQuality(db, folder, values.language);
  if (chunks > 0) await measureSpeed(db, chunks);
}
