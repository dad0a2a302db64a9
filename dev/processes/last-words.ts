import { statSync } from "node:fs";

const TAIL_BYTES = 64 * 1024;

/** Bytes of a file, 0 when there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * What a process said last, from its log as of `since` bytes: the last line that tells of an error, else the last line.
 * A JSON line is shown as its message and its error's.
 */
export async function lastWords(log: string, since: number): Promise<string> {
  const tail = await Bun.file(log)
    .slice(Math.max(since, sizeOf(log) - TAIL_BYTES))
    .text();
  const lines = tail.split("\n").filter((line) => line.trim() !== "");
  const line = lines.findLast((text) => /error|fatal|panic/i.test(text)) ?? lines.at(-1) ?? "";
  return readable(line);
}

function readable(line: string): string {
  try {
    const { msg, err, error } = JSON.parse(line) as { msg?: string; err?: { message?: string }; error?: string };
    return [msg, err?.message ?? error].filter(Boolean).join(": ") || line;
  } catch {
    return line.trim();
  }
}
