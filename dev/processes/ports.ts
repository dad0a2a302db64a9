import { createServer, type ListenOptions, type Server } from "node:net";

const LOOPBACK = "127.0.0.1";

/**
 * Below what systems give to outgoing connections (Linux from 32768): a server that is restarted must not find its port taken
 * by a client, nor a client that calls it meanwhile be connected to itself.
 */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 1_000;

/** So many different free loopback ports, which nobody else is given by this function as long as this process lives. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries === TRIES + count) throw new Error(`no free port found between ${FIRST} and ${LAST}`);
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (!promises.has(port) && (await promise(port)) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

/** Of this process: what holds each port's name. */
const promises = new Map<number, Server | null>();

/**
 * Keeps a port from those who look for a free one, though nothing listens on it yet: by the name of a socket that the system
 * forgets with this process (https://man7.org/linux/man-pages/man7/unix.7.html, "abstract"). Other systems than Linux have no such
 * names; there two who look in the same moment may find the same port.
 * @returns whether nobody else keeps it
 */
export async function promise(port: number): Promise<boolean> {
  if (promises.has(port)) return true;
  const name = process.platform === "linux" ? await listen({ path: `\0parley-port-${port}` }) : null;
  if (process.platform === "linux" && !name) return false;
  promises.set(port, name?.unref() ?? null);
  return true;
}

/** Whether a port can be listened on now. */
export async function isFree(port: number, host = LOOPBACK): Promise<boolean> {
  const server = await listen({ port, host });
  if (server) await close(server);
  return server !== null;
}

function listen(where: ListenOptions): Promise<Server | null> {
  const { promise, resolve } = Promise.withResolvers<Server | null>();
  const server = createServer();
  server.once("error", () => resolve(null));
  server.listen(where, () => resolve(server));
  return promise;
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}
