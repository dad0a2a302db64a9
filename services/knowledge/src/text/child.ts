/** The process that reads one document: its bytes from the standard input; to the standard output, what it says, as `Parsed`. */
import { chunksOf } from "./chunks.ts";
import { languageOf } from "./language-of.ts";
import { BROKEN, PARSE_COMMAND, type Parsed } from "./parse.ts";
import { Refusal } from "./reading.ts";
import { textOf } from "./text-of.ts";

const [mediaType = "", given = ""] = process.argv.slice(process.argv.indexOf(PARSE_COMMAND) + 1);
const parsed = await parse(await Bun.stdin.bytes());
await Bun.write(Bun.stdout, JSON.stringify(parsed));
// A library may have left something that would keep the process.
process.exit(0);

async function parse(bytes: Uint8Array): Promise<Parsed> {
  try {
    const { text, title } = await textOf(bytes, mediaType);
    const language = given || languageOf(text);
    return { text, language, title, chunks: chunksOf(text, language) };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  return error instanceof RangeError ? "The document is nested too deeply to be read." : BROKEN;
}
