import { ConfigError } from "./config.ts";
import { createLogger, isLogLevel, type Logger } from "./log.ts";

export interface Running {
  address: string;
  /** Finishes what runs, then lets go of everything. */
  stop(): Promise<void>;
}

/**
 * The life of a process: start, say where it listens, stop cleanly on SIGTERM or SIGINT, end with 1 and one clear line when
 * it cannot start. A fault that no handler caught is logged and ends the process: its supervisor starts a clean one.
 */
export async function runProcess(name: string, start: (log: Logger) => Promise<Running>): Promise<void> {
  const level = process.env.PARLEY_LOG_LEVEL || "info";
  const log = createLogger(name, isLogLevel(level) ? level : "info");
  const fatal = (err: unknown) => {
    log.fatal({ err }, "fault");
    process.exit(1);
  };
  process.on("uncaughtException", fatal);
  process.on("unhandledRejection", fatal);
  let running: Running;
  try {
    if (!isLogLevel(level))
      throw new ConfigError(`PARLEY_LOG_LEVEL: "${level}" is no level: trace, debug, info, warn, error, fatal`);
    running = await start(log);
  } catch (err) {
    if (err instanceof ConfigError) log.fatal(err.message);
    else log.fatal({ err }, "cannot start");
    process.exit(1);
  }
  log.info({ address: running.address, pid: process.pid }, "listening");
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    running.stop().then(() => process.exit(0), fatal);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}
