import type { RtpPacket } from "@parley/shared/media/rtp-packet";
import { FRAME_MS, FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { byteRate } from "../byte-rate.ts";
import { incomingAudio } from "../incoming-audio.ts";
import type { LegListener } from "../leg.ts";
import { pace } from "../pacer.ts";
import { type Playback, playback } from "../playback.ts";
import type { Codec } from "./codec.ts";
import { reorder } from "./reorder.ts";

/** Audio in both directions as RTP packets, paced by its own clock, whatever carries the packets. */
export interface RtpAudio extends Omit<Playback, "nextFrame"> {
  /** Begins, or continues with another codec. While the peer does not listen, playback waits. */
  use(codec: Codec, peerListens: boolean): void;
  /** A packet with the codec's payload; an empty one only counts in the sequence. */
  receive(packet: RtpPacket): void;
  /** Milliseconds since the peer was last heard, or since the beginning. */
  unheardMs(): number;
  close(): void;
}

export interface RtpAudioOptions {
  send(packet: RtpPacket): void;
  /** Counts packets that are not used. */
  dropped(reason: "malformed" | "too_much"): void;
}

/** A peer may be this far ahead of real time, as after network congestion. */
const AHEAD_MAX_SAMPLES = SAMPLES_PER_SECOND;
/** Packets are bounded before they are put in order and decoded. A phone sends 18 KiB a second, each packet counted as 200 bytes more. */
const RATE = { perSecond: 64 * 1024, burst: 128 * 1024 };
const PACKET_BYTES = 200;

export function rtpAudio(options: RtpAudioOptions, to: Pick<LegListener, "heard" | "reached" | "sending">): RtpAudio {
  const player = playback();
  const incoming = incomingAudio({ aheadMaxSamples: AHEAD_MAX_SAMPLES, dropped: options.dropped }, to);
  const sending = newSending();
  const isTooFast = byteRate(RATE);
  let codec: Codec | null = null;
  let peerListens = true;
  let usualSamples = FRAME_SAMPLES;

  const ordered = reorder({
    packet: (packet) => {
      if (packet.payload.length === 0) return;
      const audio = decoded(packet);
      if (!audio) return;
      usualSamples = audio.length;
      incoming.hear(audio);
    },
    lost: (count) => incoming.lost(count * usualSamples),
  });

  const decoded = (packet: RtpPacket): Pcm | null => {
    try {
      return codec?.decode(packet.payload) ?? null;
    } catch {
      options.dropped("malformed");
      return null;
    }
  };

  const stopPacing = pace(() => {
    if (!codec) return;
    ordered.expire(performance.now());
    // A peer that sends nothing while it is silent, as RFC 3389 allows, is heard as silence.
    incoming.fillSilence();
    const clockSteps = (codec.clockHz / 1_000) * FRAME_MS;
    const next = peerListens ? player.nextFrame() : null;
    if (!peerListens) return sending.skip(clockSteps);
    const frame = to.sending(next?.frame ?? null, 0);
    const payload = codec.encode(frame ?? new Int16Array(FRAME_SAMPLES));
    options.send(sending.packet(codec.payloadType, payload, clockSteps, next !== null));
    for (const mark of next?.reached ?? []) to.reached(mark);
  });

  return {
    play: player.play,
    clear: player.clear,
    mark: player.mark,
    heardSamples: player.heardSamples,
    queuedSamples: player.queuedSamples,
    use: (given, listens) => {
      codec = given;
      peerListens = listens;
    },
    receive: (packet) => {
      if (packet.payload.length > 0) incoming.arrived();
      if (isTooFast(PACKET_BYTES + packet.payload.length)) return options.dropped("too_much");
      ordered.receive(packet, performance.now());
    },
    unheardMs: incoming.unheardMs,
    close: stopPacing,
  };
}

/** The numbers of our packets (RFC 3550, section 5.1: random at the start). */
function newSending() {
  const random = crypto.getRandomValues(new Uint32Array(3)) as Uint32Array & [number, number, number];
  const [ssrc, start, first] = random;
  let [sequence, timestamp] = [first & 0xffff, start];
  let wasSpeaking = false;
  const skip = (clockSteps: number) => {
    timestamp = (timestamp + clockSteps) >>> 0;
  };
  return {
    packet: (payloadType: number, payload: Uint8Array, clockSteps: number, isSpeaking: boolean): RtpPacket => {
      const packet = { payloadType, marker: isSpeaking && !wasSpeaking, sequence, timestamp, ssrc, payload };
      wasSpeaking = isSpeaking;
      sequence = (sequence + 1) & 0xffff;
      skip(clockSteps);
      return packet;
    },
    /** Time passes without a packet. */
    skip,
  };
}
