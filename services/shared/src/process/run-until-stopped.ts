import { CONFIG_ERROR_EXIT, ConfigError, readConfig } from "../config.ts";
import { createLogger, isLogLevel } from "../log.ts";
import { startTelemetry, TELEMETRY_VARIABLES } from "../telemetry/telemetry.ts";
import { serveAdmin } from "./admin.ts";
import type { Errands, Start } from "./running.ts";

/**
 * Starts a process, logs where it listens, and stops it cleanly on SIGTERM or SIGINT. Exits with one clear line when it
 * cannot start: with CONFIG_ERROR_EXIT on a ConfigError, otherwise with 1. An uncaught error is logged and ends the process, so that its
 * supervisor starts a clean one. PARLEY_ADMIN_LISTEN makes it serve its health.
 */
export async function runUntilStopped(name: string, start: Start, errands: Errands): Promise<void> {
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
    if (!isLogLevel(level))
      throw new ConfigError(
        `PARLEY_LOG_LEVEL: "${level}" is not a log level: use trace, debug, info, warn, error or fatal`,
      );
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
    if (err instanceof ConfigError) {
      log.fatal(err.message);
      process.exit(CONFIG_ERROR_EXIT);
    }
    log.fatal({ err }, "cannot start");
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
