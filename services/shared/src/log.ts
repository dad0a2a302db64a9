import pino, { type DestinationStream, type Logger } from "pino";
import { activeTraceIds } from "./telemetry/spans.ts";

export type { Logger };

const SECRET_NAMES = ["api_key", "apiKey", "password", "secret", "authorization"];

/**
 * One JSON line per event on standard output. Names of fields that could carry a secret are censored, one level down too, should
 * one slip in; message and prompt texts are never given to it.
 */
export function createLogger(service: string, level = "info", destination?: DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: activeTraceIds,
    formatters: { level: (label) => ({ level: label }) },
    // A further wildcard costs every line ten times what it costs now.
    redact: [...SECRET_NAMES, ...SECRET_NAMES.map((name) => `*.${name}`), 'headers["x-api-key"]', "headers.cookie"],
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Whether `level` is one that a logger can be set to. */
export function isLogLevel(level: string): boolean {
  return level === "silent" || Object.hasOwn(pino.levels.values, level);
}

export const silentLogger: Logger = pino({ level: "silent" });
