import { muLaw } from "@parley/shared/media/g711";
import type { Leg, LegListener } from "../leg.ts";
import type { PortRange } from "./ports.ts";
import { openRtpStream, type RtpMedia, type RtpOptions, type RtpStream } from "./stream.ts";

const ADDRESS = "127.0.0.1";
/** Dynamic types (RFC 3551, section 6). */
const KEYS_TYPE = 101;
/** The system chooses one. */
const ANY_PORT: PortRange = { first: 0, last: 0 };

export interface LoopbackOptions extends Pick<RtpOptions, "ports" | "dropped"> {}

/**
 * Both ends of a call that does not leave this machine: PCMU over RTP with telephone events, without signaling. A transfer at one end ends
 * the call, as if the other had been connected elsewhere.
 * @param ours whoever has the end that takes one of the ports for calls
 * @throws ServiceError unavailable if no port is free
 */
export async function openLoopback(
  { ports, dropped }: LoopbackOptions,
  ours: LegListener,
  theirs: LegListener,
): Promise<{ ours: Leg; theirs: Leg }> {
  const our = await openRtpStream({ hostname: ADDRESS, ports, dropped }, ours);
  const their = await openRtpStream({ hostname: ADDRESS, ports: ANY_PORT, dropped }, theirs).catch((error) => {
    our.close();
    throw error;
  });
  our.agree(mediaAt(their.port), ADDRESS);
  their.agree(mediaAt(our.port), ADDRESS);
  let isOver = false;

  const legOf = (rtp: RtpStream, own: LegListener, other: LegListener): Leg => {
    const end = async () => {
      if (isOver) return;
      isOver = true;
      our.close();
      their.close();
      own.ended("ended_by_us");
      other.ended("hung_up");
    };
    const { play, clear, mark, heardSamples, queuedSamples, press } = rtp;
    return { play, clear, mark, heardSamples, queuedSamples, press, transfer: end, hangUp: end };
  };

  return { ours: legOf(our, ours, theirs), theirs: legOf(their, theirs, ours) };
}

function mediaAt(port: number): RtpMedia {
  return {
    ...{ address: ADDRESS, port, law: muLaw, payloadType: 0, keysType: KEYS_TYPE },
    remoteKey: null,
    peerListens: true,
  };
}
