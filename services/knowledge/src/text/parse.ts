import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chunk } from "./chunks.ts";
import type { MediaType } from "./media-types.ts";

interface Content {
  bytes: Uint8Array;
  mediaType: MediaType;
  /** Where the owner said it; otherwise it is recognised. */
  language?: string | undefined;
}

export interface ParsedText {
  /** In Markdown. */
  text: string;
  /** As ISO 639-1 code; `und` if it was not recognised. */
  language: string;
  /** What a web page is called. */
  title: string | null;
  chunks: Chunk[];
}

/** A document's text, or why it has none, as a sentence for its owner. */
export type Parsed = ParsedText | { reason: string };

export interface Parser {
  /**
   * Reads a document in a process of its own, so that a hostile one harms nothing else. What is wrong with the document is a
   * `reason`, also when it takes too much time or memory.
   * @throws the signal's reason; Error when the process cannot be started
   */
  parse(content: Content, signal: AbortSignal): Promise<Parsed>;
}

export interface ParserLimits {
  /** Resident memory of the process, in bytes. */
  memoryMax: number;
  timeMs: number;
}

/** The word on a service's command line that makes it read a document instead of serving. */
export const PARSE_COMMAND = "parse-document";

const LIMITS: ParserLimits = { memoryMax: 512 * 1024 ** 2, timeMs: 60_000 };
/** Between two looks at the process's memory. */
const LOOK_MS = 20;
const PAGE_BYTES = 4_096;
/** More than the text that a document may have, written as JSON. */
const ANSWER_BYTES_MAX = 64 * 1024 ** 2;

const TOO_LONG = "The document takes too long to read. Split it into smaller documents.";
const TOO_LARGE = "The document takes too much memory to read. Split it into smaller documents.";
export const BROKEN = "The document cannot be read. It may be damaged.";

/**
 * Reads documents. A thread of Bun has no limit of memory, so each is read by a process, without the service's environment: a
 * document that takes the process over finds no secret there.
 */
export function createParser(limits: Partial<ParserLimits> = {}): Parser {
  const { memoryMax, timeMs } = { ...LIMITS, ...limits };
  return {
    parse: async ({ bytes, mediaType, language = "" }, signal) => {
      signal.throwIfAborted();
      const child = Bun.spawn([...ownProgram(), PARSE_COMMAND, mediaType, language], {
        cwd: "/",
        env: {
          // It ends with this process, however that ends: one that reads without end would go on for ever.
          BUN_FEATURE_FLAG_NO_ORPHANS: "1",
          // Its garbage is collected early: otherwise, 20 MiB of prose take more than 512 MiB instead of 350.
          BUN_JSC_forceRAMSize: String(Math.floor(memoryMax / 2)),
        },
        stdin: bytes,
        stdout: "pipe",
        stderr: "ignore",
      });
      dieFirst(child.pid);
      let killedFor: string | null = null;
      const kill = (reason: string) => {
        killedFor ??= reason;
        child.kill("SIGKILL");
      };
      const watching = setInterval(() => residentBytes(child.pid) > memoryMax && kill(TOO_LARGE), LOOK_MS);
      const timer = setTimeout(() => kill(TOO_LONG), timeMs);
      const abandon = () => kill("");
      signal.addEventListener("abort", abandon);
      try {
        const answer = await readUpTo(child.stdout, ANSWER_BYTES_MAX, () => kill(TOO_LARGE));
        await child.exited;
        signal.throwIfAborted();
        if (killedFor !== null) return { reason: killedFor };
        // The kernel kills it first when the machine has no memory left.
        if (child.signalCode === "SIGKILL") return { reason: TOO_LARGE };
        return parsedOf(answer) ?? { reason: BROKEN };
      } finally {
        clearInterval(watching);
        clearTimeout(timer);
        signal.removeEventListener("abort", abandon);
        child.kill("SIGKILL");
      }
    },
  };
}

/** A compiled service is one file, which has the child too. */
function ownProgram(): string[] {
  return import.meta.path.startsWith("/$bunfs/")
    ? [process.execPath]
    : [process.execPath, join(import.meta.dir, "child.ts")];
}

function dieFirst(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // It has ended already, or the system does not let it.
  }
}

function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

async function readUpTo(stream: ReadableStream<Uint8Array>, max: number, tooMuch: () => void): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of stream) {
    length += piece.length;
    if (length > max) {
      tooMuch();
      break;
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Null for anything but what the child writes. */
function parsedOf(answer: Buffer): Parsed | null {
  try {
    const parsed: Parsed = JSON.parse(answer.toString("utf8"));
    return "reason" in parsed || "text" in parsed ? parsed : null;
  } catch {
    return null;
  }
}
