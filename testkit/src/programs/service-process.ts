import { eventually } from "../eventually.ts";
import { testProgramWords } from "./binaries.ts";

/** A process that cannot start ends, so this only bounds one that hangs, however busy the machine is. */
const LISTENS_WITHIN_MS = 90_000;

/** A service that runs as a separate process. */
export interface ServiceProcess {
  /** Its gRPC address. */
  address: string;
  pid: number;
  /** Its output so far. */
  readonly output: string;
  /** Stops it. @returns its exit code, null when the signal killed it */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts the service in folder `services/<name>` on a free loopback port.
 * @param listensWithinMs longer than the default for a service with much to migrate
 * @throws with its output, when it ends instead of listening
 */
export async function startServiceProcess(
  name: string,
  env: Record<string, string>,
  listensWithinMs = LISTENS_WITHIN_MS,
): Promise<ServiceProcess> {
  const main = Bun.fileURLToPath(new URL(`../../../services/${name}/src/main.ts`, import.meta.url));
  const child = Bun.spawn(testProgramWords(name, main), {
    env: { ...process.env, PARLEY_LISTEN: "127.0.0.1:0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) output += decoder.decode(bytes, { stream: true });
  };
  const ended = Promise.all([collect(child.stdout), collect(child.stderr), child.exited]).then(() => true);
  const listening = eventually(() => {
    const address = /"address":"([^"]+)".*"msg":"listening"/.exec(output)?.[1];
    if (address === undefined) throw new Error(`${name} does not listen: ${output}`);
    return address;
  }, listensWithinMs);
  const address = await Promise.race([
    listening,
    ended.then(() => Promise.reject(new Error(`${name} ended: ${output}`))),
  ]);
  return {
    address,
    pid: child.pid,
    get output() {
      return output;
    },
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}
