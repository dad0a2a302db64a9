import pino, { type Logger } from "pino";

export type { Logger };

/**
 * One JSON line per event on standard output. Names of fields that could carry a secret are censored should one slip in;
 * message and prompt texts are never given to it.
 */
export function createLogger(service: string, level = "info"): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: ["api_key", "apiKey", "password", "secret", "authorization", "*.api_key", "*.apiKey", "*.password", "*.secret"],
  });
}

export const silentLogger: Logger = pino({ level: "silent" });
