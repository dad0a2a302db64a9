import type { Agent } from "node:http";
import type { Duplex } from "node:stream";

export interface IdleConnections {
  /** Notes whose request a connection carries. */
  use(socket: Duplex, ownerId: string): void;
  /** Counts the connections that an agent keeps while no request uses them. */
  follow(agent: Agent): void;
}

/**
 * Bounds the idle connections of all hosts together: each takes 40 KB, with TLS 60 KB, for a minute, and an owner may use a new host, or a
 * new port, for every request. When there are too many, the owner with the most loses its oldest.
 */
export function idleConnections(max: number): IdleConnections {
  const owners = new WeakMap<Duplex, string>();
  /** The oldest come first. */
  const idle = new Map<string, Set<Duplex>>();
  let count = 0;

  function add(socket: Duplex): void {
    const ownerId = owners.get(socket) ?? "";
    const own = idle.get(ownerId) ?? new Set();
    if (own.has(socket)) return;
    idle.set(ownerId, own.add(socket));
    socket.once("close", remove);
    if (++count > max) closeOne();
  }

  function remove(this: Duplex): void {
    const ownerId = owners.get(this) ?? "";
    const own = idle.get(ownerId);
    if (!own?.delete(this)) return;
    count--;
    if (own.size === 0) idle.delete(ownerId);
    this.off("close", remove);
  }

  function closeOne(): void {
    const [most] = [...idle.values()].sort((one, other) => other.size - one.size);
    const [oldest] = most ?? [];
    if (!oldest) return;
    remove.call(oldest);
    oldest.destroy();
  }

  return {
    use: (socket, ownerId) => owners.set(socket, ownerId),
    follow(agent) {
      const keep = agent.keepSocketAlive.bind(agent);
      const reuse = agent.reuseSocket.bind(agent);
      agent.keepSocketAlive = (socket) => {
        // The types say void; the runtime says false for a connection that its server does not keep.
        const isKept = (keep(socket) as unknown) !== false;
        if (isKept) add(socket);
        return isKept;
      };
      agent.reuseSocket = (socket, request) => {
        remove.call(socket);
        reuse(socket, request);
      };
    },
  };
}
