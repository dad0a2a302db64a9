import { networkOf } from "@parley/shared/rate-limit/network-of";
import type { SipResponse } from "./messages/message.ts";

/** A request that arrived. */
export interface Served {
  at: number;
  /** The last answer, which a repeated request gets again. */
  last: SipResponse | null;
  stopRepeating(): void;
}

/** The requests that may come again, by their names. */
interface ServedRequests {
  find(name: string, address: string): Served | undefined;
  add(name: string, address: string, served: Served): void;
  forget(name: string, address: string): void;
}

/**
 * Requests of all networks. Above, the network with the most loses its oldest, whose answer cannot be repeated then: those of the
 * others stay known, however many one sends.
 */
const SERVED_MAX = 4_096;

/** @param keptMs how long a request is known */
export function servedRequests(keptMs: number): ServedRequests {
  // In the order of arrival.
  const networks = new Map<string, Map<string, Served>>();
  let size = 0;
  let sweptAt = performance.now();

  const remove = (network: string, name: string) => {
    const own = networks.get(network);
    const served = own?.get(name);
    if (!own || !served) return;
    served.stopRepeating();
    own.delete(name);
    size--;
    if (own.size === 0) networks.delete(network);
  };

  const removeOld = (now: number) => {
    sweptAt = now;
    for (const [network, own] of networks)
      for (const [name, { at }] of own) {
        if (now - at < keptMs) break;
        remove(network, name);
      }
  };

  const makeRoom = () => {
    const [network, own] = [...networks].reduce((a, b) => (b[1].size > a[1].size ? b : a));
    for (const [oldest] of own) return remove(network, oldest);
  };

  return {
    find: (name, address) => networks.get(networkOf(address))?.get(name),
    add: (name, address, served) => {
      if (served.at - sweptAt > keptMs) removeOld(served.at);
      if (size >= SERVED_MAX) makeRoom();
      const network = networkOf(address);
      const own = networks.get(network) ?? new Map<string, Served>();
      networks.set(network, own.set(name, served));
      size++;
    },
    forget: (name, address) => remove(networkOf(address), name),
  };
}
