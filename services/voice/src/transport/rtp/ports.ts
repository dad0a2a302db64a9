import { ServiceError } from "@parley/shared/errors";
import type { udp } from "bun";

/** Inclusive of both. */
export interface PortRange {
  first: number;
  last: number;
}

export type Received = (bytes: Uint8Array, port: number, address: string) => void;

/**
 * Binds a UDP socket on an even port of the range, as RTP has it; a random one, so that a port that was just released is rarely used
 * again. @throws ServiceError unavailable if none is free
 */
export async function bindRtpSocket(
  hostname: string,
  range: PortRange,
  received: Received,
): Promise<udp.Socket<"uint8array">> {
  const even = evenPorts(range);
  const start = Math.floor(Math.random() * even.length);
  for (let at = 0; at < even.length; at++) {
    const port = even[(start + at) % even.length] as number;
    const socket = await bind(hostname, port, received);
    if (socket) return socket;
  }
  throw noPortFree();
}

export function noPortFree(): ServiceError {
  return new ServiceError("unavailable", "No RTP port is free: try again later, or widen PARLEY_RTP_PORTS", {
    retryAfterMs: 5_000,
  });
}

function evenPorts({ first, last }: PortRange): number[] {
  const from = first + (first % 2);
  return Array.from({ length: Math.max(0, Math.floor((last - from) / 2) + 1) }, (_, at) => from + 2 * at);
}

async function bind(hostname: string, port: number, received: Received): Promise<udp.Socket<"uint8array"> | null> {
  try {
    return await Bun.udpSocket({
      hostname,
      port,
      binaryType: "uint8array",
      socket: {
        data: (_socket, bytes, fromPort, address) => received(bytes, fromPort, address),
        // A peer that is gone answers with ICMP; its call ends by signaling or silence.
        error: () => {},
      },
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return null;
    throw error;
  }
}
