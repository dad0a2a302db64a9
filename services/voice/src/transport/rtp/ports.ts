import { ServiceError } from "@parley/shared/errors";
import type { udp } from "bun";

/** Inclusive of both. */
export interface PortRange {
  first: number;
  last: number;
}

type Received = (bytes: Uint8Array, port: number, address: string) => void;

/**
 * Binds a UDP socket on a port of the range; a random one, so that a port that was just released is rarely used again. RTP has even ports
 * and RTCP the next ones (RFC 3550, section 11), but we have no RTCP, and our port is in the description.
 * @throws ServiceError unavailable if none is free
 */
export async function bindRtpSocket(
  hostname: string,
  range: PortRange,
  received: Received,
): Promise<udp.Socket<"uint8array">> {
  const size = range.last - range.first + 1;
  const start = Math.floor(Math.random() * size);
  for (let at = 0; at < size; at++) {
    const socket = await bind(hostname, range.first + ((start + at) % size), received);
    if (socket) return socket;
  }
  throw noPortFree();
}

export function noPortFree(): ServiceError {
  return new ServiceError("unavailable", "No RTP port is free: try again later, or widen PARLEY_RTP_PORTS", {
    retryAfterMs: 5_000,
  });
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
