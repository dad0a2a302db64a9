import { createServer, type Server } from "node:net";

const LOOPBACK = "127.0.0.1";

/**
 * Below what systems give to outgoing connections (Linux from 32768): a server that is restarted must not find its port taken
 * by a client, nor a client that calls it meanwhile be connected to itself.
 */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 1_000;

/**
 * So many different free loopback ports; all are held until the last is found.
 * @param promised to others, who may not listen yet
 */
export async function freePorts(count: number, promised: readonly number[] = []): Promise<number[]> {
  const held: { port: number; server: Server }[] = [];
  try {
    for (let tries = 0; held.length < count; tries++) {
      if (tries === TRIES) throw new Error(`no free port found between ${FIRST} and ${LAST}`);
      const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
      const server = promised.includes(port) ? null : await listen(port, LOOPBACK);
      if (server) held.push({ port, server });
    }
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ server }) => close(server)));
  }
}

/** Whether a port can be listened on now. */
export async function isFree(port: number, host = LOOPBACK): Promise<boolean> {
  const server = await listen(port, host);
  if (server) await close(server);
  return server !== null;
}

function listen(port: number, host: string): Promise<Server | null> {
  const { promise, resolve } = Promise.withResolvers<Server | null>();
  const server = createServer();
  server.once("error", () => resolve(null));
  server.listen(port, host, () => resolve(server));
  return promise;
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  return promise;
}
