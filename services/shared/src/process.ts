import { checkReady, serveAdmin } from "./admin.ts";
import { ConfigError, readConfig } from "./config.ts";
import { createLogger, isLogLevel, type Logger } from "./log.ts";
import { startTelemetry, TELEMETRY_VARIABLES } from "./telemetry/telemetry.ts";

export interface Running {
  address: string;
  /** Finishes what runs, then lets go of everything. */
  stop(): Promise<void>;
}

/**
 * The life of a process: start, say where it listens, stop cleanly on SIGTERM or SIGINT, end with 1 and one clear line when
 * it cannot start. A fault that no handler caught is logged and ends the process: its supervisor starts a clean one.
 * With PARLEY_ADMIN_LISTEN it tells an orchestrator of its health; run with the argument `health` and the same environment it
 * asks that process instead and ends with 0 or 1, which is what a container's health check needs.
 * @param errands what it does once instead, and ends, when it is run with their name as its argument
 */
export async function runProcess(
  name: string,
  start: (log: Logger) => Promise<Running>,
  errands: Readonly<Record<string, (log: Logger) => Promise<void>>> = {},
): Promise<void> {
  const level = process.env.PARLEY_LOG_LEVEL || "info";
  const adminListen = process.env.PARLEY_ADMIN_LISTEN ?? "";
  const log = createLogger(name, isLogLevel(level) ? level : "info");
  const fatal = (err: unknown) => {
    log.fatal({ err }, "fault");
    process.exit(1);
  };
  process.on("uncaughtException", fatal);
  process.on("unhandledRejection", fatal);
  try {
    if (process.argv[2] === "health") process.exit(await checkReady(adminListen));
    if (!isLogLevel(level))
      throw new ConfigError(`PARLEY_LOG_LEVEL: "${level}" is no level: trace, debug, info, warn, error, fatal`);
    const errand = errands[process.argv[2] ?? ""];
    if (errand) {
      await errand(log);
      process.exit(0);
    }
    const telemetry = startTelemetry(name, readConfig(process.env, TELEMETRY_VARIABLES));
    const admin = await serveAdmin(adminListen, telemetry.metrics);
    const running = await start(log);
    admin.setReady(true);
    log.info({ address: running.address, pid: process.pid }, "listening");
    stopOnSignal(async (signal) => {
      log.info({ signal }, "stopping");
      admin.setReady(false);
      await running.stop();
      await telemetry.stop();
    }, fatal);
  } catch (err) {
    if (err instanceof ConfigError) log.fatal(err.message);
    else log.fatal({ err }, "cannot start");
    process.exit(1);
  }
}

function stopOnSignal(stop: (signal: NodeJS.Signals) => Promise<void>, fatal: (err: unknown) => void): void {
  let stopping = false;
  const begin = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    stop(signal).then(() => process.exit(0), fatal);
  };
  process.on("SIGTERM", begin);
  process.on("SIGINT", begin);
}
