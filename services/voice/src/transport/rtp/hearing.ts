import type { RtpPacket } from "@parley/shared/media/rtp-packet";
import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { byteRate } from "../byte-rate.ts";
import { incomingAudio } from "../incoming-audio.ts";
import type { LegListener } from "../leg.ts";
import type { Codec } from "./codec.ts";
import { reorder } from "./reorder.ts";

/** What a peer says, made of its packets: in order, each once, and with silence for those that are lost. */
interface Hearing {
  /** A packet with the codec's payload; an empty one only counts in the sequence. */
  receive(packet: RtpPacket, codec: Codec): void;
  /** Gives up on late packets, and hears silence while none arrive. Called every 20 ms. */
  tick(): void;
  /** Milliseconds since the peer was last heard, or since the beginning. */
  unheardMs(): number;
}

interface HearingOptions {
  /** Counts packets that are not used. */
  dropped(reason: "malformed" | "too_much"): void;
  /** Milliseconds; absent: since the process began. */
  now?(): number;
}

/** A peer may be this far ahead of real time, as after network congestion. */
const AHEAD_MAX_SAMPLES = SAMPLES_PER_SECOND;
/** Packets are bounded before they are put in order and decoded. A phone sends 18 KiB a second, each packet counted as 200 bytes more. */
const RATE = { perSecond: 64 * 1024, burst: 128 * 1024 };
const PACKET_BYTES = 200;

/** A longer gap between two timestamps is none: the peer's clock started over. */
const GAP_MAX_SAMPLES = 3_600 * SAMPLES_PER_SECOND;

export function hearing(options: HearingOptions, to: Pick<LegListener, "heard">): Hearing {
  const now = options.now ?? (() => performance.now());
  const incoming = incomingAudio({ aheadMaxSamples: AHEAD_MAX_SAMPLES, dropped: options.dropped, now }, to);
  const isTooFast = byteRate(RATE, now);
  let codec: Codec | null = null;
  let usualSamples = FRAME_SAMPLES;
  /** Packets without sound since the last one with: lost, malformed, or of a key. */
  let missed = 0;
  /** Where the stream continues, if nothing is missing. */
  let next: { ssrc: number; timestamp: number } | null = null;

  const decoded = (packet: RtpPacket): Pcm | null => {
    if (!codec || packet.payload.length === 0) return null;
    try {
      return codec.decode(packet.payload);
    } catch {
      options.dropped("malformed");
      return null;
    }
  };

  /** Samples between the last audio and this packet's by their timestamps; null if these make no sense. */
  const gapBefore = ({ ssrc, timestamp }: RtpPacket, stepsASample: number): number | null => {
    if (next?.ssrc !== ssrc) return null;
    const gap = Math.round(((timestamp - next.timestamp) | 0) / stepsASample);
    return gap >= 0 && gap <= GAP_MAX_SAMPLES ? gap : null;
  };

  const ordered = reorder((packet, lost) => {
    missed += lost;
    const audio = decoded(packet);
    if (!codec || !audio) return void missed++;
    const stepsASample = codec.clockHz / SAMPLES_PER_SECOND;
    const gap = gapBefore(packet, stepsASample);
    // Without a packet missing, a gap is a pause that the peer sends nothing in, or its timestamps are wrong.
    if (missed > 0) incoming.lost(gap ?? missed * usualSamples);
    else incoming.continued(gap ?? GAP_MAX_SAMPLES);
    missed = 0;
    usualSamples = audio.length;
    next = { ssrc: packet.ssrc, timestamp: (packet.timestamp + audio.length * stepsASample) >>> 0 };
    incoming.hear(audio);
  });

  return {
    receive: (packet, given) => {
      codec = given;
      if (packet.payload.length > 0) incoming.arrived();
      if (isTooFast(PACKET_BYTES + packet.payload.length)) return options.dropped("too_much");
      ordered.receive(packet, now());
    },
    tick: () => {
      ordered.expire(now());
      // A peer that sends nothing while it is silent, as RFC 3389 allows, is heard as silence.
      incoming.fillSilence();
    },
    unheardMs: incoming.unheardMs,
  };
}
