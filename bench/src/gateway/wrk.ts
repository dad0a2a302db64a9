import { join } from "node:path";

export interface Load {
  url: string;
  /** Requested in turn. */
  paths: readonly string[];
  headers: Readonly<Record<string, string>>;
  connections: number;
  seconds: number;
}

export interface Report {
  requests: number;
  /** How long it took. */
  us: number;
  p50Us: number;
  p99Us: number;
  /** Requests that got another status or no response. */
  failures: number;
}

/** Loads a server with wrk (https://github.com/wg/wrk): one thread, one request at a time on each connection. */
export async function runWrk(wrk: string, { url, paths, headers, connections, seconds }: Load): Promise<Report> {
  const script = join(import.meta.dir, "wrk.lua");
  const flags = ["--threads=1", `--connections=${connections}`, `--duration=${seconds}s`, `--script=${script}`];
  const given = Object.entries(headers).map(([name, value]) => `--header=${name}: ${value}`);
  const child = Bun.spawn([wrk, ...flags, ...given, url, "--", ...paths], { stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const report = output.split("\n").find((line) => line.startsWith("{"));
  if (!report) throw new Error(`wrk did not report: ${errors || output}`);
  return JSON.parse(report) as Report;
}
