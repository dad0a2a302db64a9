import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import pino, { type DestinationStream, type Logger } from "pino";
import { activeTraceIds } from "./telemetry/spans.ts";

export type { Logger };

const SECRET_NAMES: ReadonlySet<string> = new Set([
  "api_key",
  "apiKey",
  "password",
  "secret",
  "authorization",
  "x-api-key",
  "cookie",
]);
const CENSORED = "[Redacted]";

/**
 * One JSON line per event on standard output. Names of fields that could carry a secret are censored, one level down too, should
 * one slip in, but not in what `child` is given; message and prompt texts are never given to it.
 */
export function createLogger(service: string, level = "info", destination?: DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: activeTraceIds,
    // Not by `redact`, whose paths cost more than all else of a line (8 of 14 µs).
    formatters: { level: (label) => ({ level: label }), log: censored },
  };
  const to = destination ?? standardOutput();
  return to ? pino(options, to) : pino(options);
}

const STDOUT = 1;
/** Of lines that a full disk has no room for, bytes: written when it has, while further ones are lost. */
const KEPT_BYTES = 1024 * 1024;

/** Undefined for pino's own choice, a stream that waits for nobody. */
function standardOutput(): DestinationStream | undefined {
  const to = fstatSync(STDOUT);
  if (to.isFIFO() || to.isSocket() || isatty(STDOUT)) return undefined;
  // A file never makes a writer wait. On a full disk it costs lines, where the stream's error would end the process.
  const output = pino.destination({ dest: STDOUT, sync: true, maxLength: KEPT_BYTES });
  output.on("error", () => {});
  return output;
}

function censored(fields: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null;
  for (const name in fields) {
    const value = fields[name];
    const shown = SECRET_NAMES.has(name) ? CENSORED : withoutSecrets(value);
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[name] = shown;
  }
  return copy ?? fields;
}

/** The value itself unless it has one. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  let copy: object | null = null;
  for (const name in value) {
    if (!SECRET_NAMES.has(name)) continue;
    // An error's message, stack and type are not its own enumerable properties.
    copy ??= value instanceof Error ? Object.create(value) : { ...value };
    Object.defineProperty(copy, name, { value: CENSORED, enumerable: true });
  }
  return copy ?? value;
}

/** Whether `level` is one that a logger can be set to. */
export function isLogLevel(level: string): boolean {
  return level === "silent" || Object.hasOwn(pino.levels.values, level);
}

export const silentLogger: Logger = pino({ level: "silent" });
