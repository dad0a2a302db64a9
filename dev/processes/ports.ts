import { createServer, type ListenOptions, type Server } from "node:net";

const LOOPBACK = "127.0.0.1";

/**
 * Below the range for outgoing connections (on Linux from 32768): a client must not take the port of a restarting
 * server, and a client that calls it in the meantime must not connect to itself.
 */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 1_000;

/** Finds free loopback ports, all different, which this function gives to no other process as long as this process lives. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries === TRIES + count) throw new Error(`no free port found between ${FIRST} and ${LAST}`);
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (!promises.has(port) && (await promise(port)) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

/** The sockets that hold the ports' names in this process. */
const promises = new Map<number, Server | null>();

/**
 * Reserves a port on which nothing listens yet, through the name of a socket that the system drops with this process
 * (https://man7.org/linux/man-pages/man7/unix.7.html, "abstract"). Systems other than Linux have no such names; there,
 * two processes that search at the same moment may find the same port.
 * @returns whether the port was still unreserved
 */
export async function promise(port: number): Promise<boolean> {
  if (promises.has(port)) return true;
  const name = process.platform === "linux" ? await listen({ path: `\0parley-port-${port}` }) : null;
  if (process.platform === "linux" && !name) return false;
  promises.set(port, name?.unref() ?? null);
  return true;
}

/** Whether a server can listen on a port now. */
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
