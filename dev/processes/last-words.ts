import { renameSync, statSync } from "node:fs";

const TAIL_BYTES = 64 * 1024;
const KEPT_BYTES = 64 * 1024 * 1024;
/** Lines about requests and calls, which do not explain why a process ended. */
const ROUTINE = /^\{"level":"(info|debug|trace)"/;

/** Starts a new log file if the current one is large; the old one is kept as `<log>.1`. Call it while nothing writes to it. */
export function rotate(log: string): void {
  if (sizeOf(log) > KEPT_BYTES) renameSync(log, `${log}.1`);
}

/** Bytes of a file; 0 when it does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The last message in a process's log after `since` bytes: the last line with an error, otherwise the last line that
 * is not routine. Shows a JSON line as its message and its error's message.
 */
export async function lastWords(log: string, since: number): Promise<string> {
  const tail = await Bun.file(log)
    .slice(Math.max(since, sizeOf(log) - TAIL_BYTES))
    .text();
  const lines = tail.split("\n").filter((line) => line.trim() !== "" && !ROUTINE.test(line));
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
