import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import pino, { type DestinationStream, type Logger } from "pino";
import { activeTraceIds } from "./telemetry/spans.ts";

export type { Logger };

/** The ends of the names of secrets, in every style: `api_key`, `x-api-key`, `accessToken`, `app_secret`. */
const SECRET_NAMES =
  /(?:(?:(?:api|private|signing|master|access)[_-]?key|password|passphrase|secret|cookie|credential)s?|authorization|token)$/i;
const CENSORED = "[Redacted]";

/**
 * Logs one JSON line per event to standard output. As a safeguard, censors fields whose names suggest a secret, down to
 * one level of nesting, but not in the bindings of `child`. Callers never pass message or prompt texts.
 */
export function createLogger(service: string, level = "info", destination?: DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: activeTraceIds,
    // `redact` would take 8 of the 14 µs of a line.
    formatters: { level: (label) => ({ level: label }), log: censored },
  };
  const to = destination ?? standardOutput();
  return to ? pino(options, to) : pino(options);
}

const STDOUT = 1;
/** Bytes of lines kept while the disk is full and written later; further lines are lost. */
const KEPT_BYTES = 1024 * 1024;

/** Undefined selects pino's own stream, which never blocks. */
function standardOutput(): DestinationStream | undefined {
  const to = fstatSync(STDOUT);
  if (to.isFIFO() || to.isSocket() || isatty(STDOUT)) return undefined;
  // Writing to a file never blocks. On a full disk this loses lines; an unhandled stream error would end the process.
  const output = pino.destination({ dest: STDOUT, sync: true, maxLength: KEPT_BYTES });
  output.on("error", () => {});
  return output;
}

function censored(fields: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null;
  for (const name in fields) {
    const value = fields[name];
    const shown = SECRET_NAMES.test(name) ? CENSORED : withoutSecrets(value);
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[name] = shown;
  }
  return copy ?? fields;
}

/** Copies only a value with secrets. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  let copy: object | null = null;
  for (const name in value) {
    if (!SECRET_NAMES.test(name)) continue;
    // A spread would lose an error's message, stack and type.
    copy ??= value instanceof Error ? Object.create(value) : { ...value };
    Object.defineProperty(copy, name, { value: CENSORED, enumerable: true });
  }
  return copy ?? value;
}

/** Whether `level` is a valid log level. */
export function isLogLevel(level: string): boolean {
  return level === "silent" || Object.hasOwn(pino.levels.values, level);
}

export const silentLogger: Logger = pino({ level: "silent" });
