import { statSync } from "node:fs";

const TAIL_BYTES = 64 * 1024;

/** Bytes of a file; 0 when it does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The last message in a process's log after `since` bytes: the last line with an error, otherwise the last line. Shows
 * a JSON line as its message and its error's message.
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
