import { isatty } from "node:tty";
import { commandLine, identify, parentOf } from "./process-table.ts";

const POLL_MS = 500;

/**
 * Calls `stop` once when this process should end: on SIGINT, SIGTERM, the end of its terminal, or the end of the `npx`
 * or `bun run` that started it, because npx does not forward a signal sent to it alone.
 */
export function onStop(stop: () => void): void {
  let stopped = false;
  const once = () => {
    if (stopped) return;
    stopped = true;
    clearInterval(poll);
    stop();
  };
  process.on("SIGINT", once);
  process.on("SIGTERM", once);
  // `bun run` loses the fact that nohup ignores this signal, but nohup takes the terminal away too.
  process.on("SIGHUP", isatty(0) ? once : () => {});
  const launchers = findLaunchers();
  const poll = setInterval(() => {
    if (launchers.some(({ pid, identity }) => identify(pid) !== identity)) once();
  }, POLL_MS);
  poll.unref();
}

/** The processes from our parent up to npx, or only our parent under `bun run`; none when the script was started directly. */
function findLaunchers(): { pid: number; identity: string }[] {
  if (!process.env.npm_lifecycle_event) return [];
  const ancestors: number[] = [];
  for (let pid: number | null = process.ppid; pid !== null && pid > 1 && ancestors.length < 3; pid = parentOf(pid)) {
    ancestors.push(pid);
  }
  const npx = ancestors.findIndex((pid) => /^(\S*\/)?(node \S*)?np[mx]\b/.test(commandLine(pid)));
  return ancestors.slice(0, Math.max(npx + 1, 1)).flatMap((pid) => {
    const identity = identify(pid);
    return identity ? [{ pid, identity }] : [];
  });
}
