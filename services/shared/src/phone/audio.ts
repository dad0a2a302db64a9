import { muLaw } from "../media/g711.ts";
import { readRtp, writeRtp } from "../media/rtp-packet.ts";
import type { MediaAddress } from "./session-description.ts";

/** Samples a second of telephone audio. */
export const PHONE_HZ = 8_000;
const FRAME_MS = 20;
const FRAME_SAMPLES = (PHONE_HZ / 1_000) * FRAME_MS;
const PCMU = 0;

export interface PhoneAudio {
  /** Where this side receives. */
  at: MediaAddress;
  /** Begins to send: silence, unless something is said. */
  connect(to: MediaAddress): void;
  /** Queues samples behind what is queued. */
  say(samples: Int16Array): void;
  /** Samples that are queued and not sent. */
  queuedSamples(): number;
  close(): void;
}

/**
 * The audio of a phone, PCMU over RTP: PHONE_HZ samples a second, 20 ms in a packet. Packets are taken as they arrive, for loopback
 * and quiet networks.
 * @param hostname to receive on
 * @param sent called with each frame that was sent, as `heard` is with those that arrived
 */
export async function openPhoneAudio(
  hostname: string,
  { heard, sent }: { heard(frame: Int16Array): void; sent?(frame: Int16Array): void },
): Promise<PhoneAudio> {
  const queue: Int16Array[] = [];
  let queued = 0;
  let sequence = 0;
  let timer: Timer | undefined;

  const socket = await Bun.udpSocket({
    hostname,
    binaryType: "uint8array",
    socket: {
      data: (_socket, bytes) => {
        const packet = readRtp(bytes);
        if (packet?.payloadType === PCMU) heard(muLaw.decode(packet.payload));
      },
      // The other side is gone; the call ends by its signaling.
      error: () => {},
    },
  });

  const nextFrame = () => {
    const frame = new Int16Array(FRAME_SAMPLES);
    for (let filled = 0; filled < FRAME_SAMPLES && queue[0]; ) {
      const part = queue[0].subarray(0, FRAME_SAMPLES - filled);
      frame.set(part, filled);
      filled += part.length;
      queued -= part.length;
      if (part.length < queue[0].length) queue[0] = queue[0].subarray(part.length);
      else queue.shift();
    }
    return frame;
  };

  return {
    at: { address: hostname, port: socket.port },
    connect: ({ address, port }) => {
      const ssrc = crypto.getRandomValues(new Uint32Array(1))[0] as number;
      const startedAt = performance.now();
      const send = () => {
        // Timed by the clock, so that delays do not add up.
        while (performance.now() - startedAt >= sequence * FRAME_MS) {
          const frame = nextFrame();
          const payload = muLaw.encode(frame);
          const packet = { payloadType: PCMU, marker: sequence === 0, sequence: sequence & 0xffff, ssrc };
          try {
            socket.send(writeRtp({ ...packet, timestamp: sequence * FRAME_SAMPLES, payload }), port, address);
          } catch {
            // The network refuses the packet, which is then lost.
          }
          sequence++;
          sent?.(frame);
        }
        timer = setTimeout(send, Math.max(0, startedAt + sequence * FRAME_MS - performance.now()));
      };
      send();
    },
    say: (samples) => {
      queue.push(samples);
      queued += samples.length;
    },
    queuedSamples: () => queued,
    close: () => {
      clearTimeout(timer);
      socket.close();
    },
  };
}
