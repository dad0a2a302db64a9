/** The process that reads one document: its bytes from the standard input; to the standard output, what it says, as `Parsed`. */
import { type Chunk, chunksOf } from "./chunks.ts";
import { languageOf } from "./language-of.ts";
import { BROKEN, PARSE_COMMAND, type Parsed } from "./parse.ts";
import { Refusal } from "./reading.ts";
import { textOf } from "./text-of.ts";

/** Several times as many as 20 MiB of prose have. */
const CHUNKS_MAX = 100_000;

const [mediaType = "", given = ""] = process.argv.slice(process.argv.indexOf(PARSE_COMMAND) + 1);
const parsed = await parse(await Bun.stdin.bytes());
await Bun.write(Bun.stdout, JSON.stringify(parsed));
// A library may have left something that would keep the process.
process.exit(0);

async function parse(bytes: Uint8Array): Promise<Parsed> {
  try {
    const { text, title } = await textOf(bytes, mediaType);
    const language = given || languageOf(text);
    return { text, language, title, chunks: bounded(chunksOf(text, language)) };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** A document of titles alone has a chunk for each, and a row of the index costs more than the title. @throws Refusal */
function bounded(chunks: Chunk[]): Chunk[] {
  if (chunks.length <= CHUNKS_MAX) return chunks;
  throw new Refusal("The document has more than 100,000 sections. Split it into smaller documents.");
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  return error instanceof RangeError ? "The document is nested too deeply to be read." : BROKEN;
}
