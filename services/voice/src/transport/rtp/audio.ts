import { ServiceError } from "@parley/shared/errors";
import type { RtpPacket } from "@parley/shared/media/rtp-packet";
import { FRAME_MS, FRAME_SAMPLES } from "../../audio/pcm.ts";
import type { LegListener } from "../leg.ts";
import { pace } from "../pacer.ts";
import { type Playback, playback } from "../playback.ts";
import type { Codec } from "./codec.ts";
import { hearing } from "./hearing.ts";
import { type KeyPacket, keypad } from "./keypad.ts";

/** Audio in both directions as RTP packets, paced by its own clock, whatever carries the packets. */
export interface RtpAudio extends Omit<Playback, "nextFrame"> {
  /**
   * Begins, or continues with another codec. While the peer does not listen, playback waits.
   * @param keysType the payload type of telephone events; null if the peer takes none
   */
  use(codec: Codec, peerListens: boolean, keysType?: number | null): void;
  /** As on a leg. */
  press(keys: string): Promise<void>;
  /** A packet with the codec's payload; an empty one only counts in the sequence. */
  receive(packet: RtpPacket): void;
  /** Milliseconds since the peer was last heard, or since the beginning. */
  unheardMs(): number;
  close(): void;
}

interface RtpAudioOptions {
  send(packet: RtpPacket): void;
  /** Counts packets that are not used. */
  dropped(reason: "malformed" | "too_much"): void;
}

export function rtpAudio(options: RtpAudioOptions, to: Pick<LegListener, "heard" | "reached" | "sending">): RtpAudio {
  const player = playback();
  const heard = hearing(options, to);
  const sending = newSending();
  let codec: Codec | null = null;
  let peerListens = true;
  let keysType: number | null = null;
  const keys = keypad();

  const stopPacing = pace(() => {
    if (!codec) return;
    heard.tick();
    const clockSteps = (codec.clockHz / 1_000) * FRAME_MS;
    if (!peerListens) return sending.skip(clockSteps);
    const key = keys.next();
    if (key && key !== "pause" && keysType !== null) {
      // Nothing else is heard meanwhile, and time passes for the sound behind the agent.
      to.sending(null, 0);
      return options.send(sending.key(keysType, key, clockSteps));
    }
    const next = key ? null : player.nextFrame();
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
    use: (given, listens, keysTypeGiven = null) => {
      codec = given;
      peerListens = listens;
      keysType = keysTypeGiven;
    },
    press: async (given) => {
      if (keysType === null) throw new ServiceError("condition", "The other side of the call takes no keys");
      await keys.press(given);
    },
    receive: (packet) => codec && heard.receive(packet, codec),
    unheardMs: heard.unheardMs,
    close: () => {
      stopPacing();
      keys.close();
    },
  };
}

/** The loudness that a receiver may play a key with, in dBm0 below zero. */
const KEY_VOLUME = 10;

/** The numbers of our packets (RFC 3550, section 5.1: random at the start). */
function newSending() {
  const random = crypto.getRandomValues(new Uint32Array(3)) as Uint32Array & [number, number, number];
  const [ssrc, start, first] = random;
  let [sequence, timestamp] = [first & 0xffff, start];
  let keySince = timestamp;
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
    /** A key's packets have the time of its beginning. */
    key: (payloadType: number, { event, isFirst, isEnd, frames }: KeyPacket, clockSteps: number): RtpPacket => {
      if (isFirst) keySince = timestamp;
      const [end, duration] = [isEnd ? 0x80 : 0, frames * clockSteps];
      const payload = Uint8Array.of(event, end | KEY_VOLUME, duration >> 8, duration & 0xff);
      const packet = { payloadType, marker: isFirst, sequence, timestamp: keySince, ssrc, payload };
      wasSpeaking = false;
      sequence = (sequence + 1) & 0xffff;
      skip(clockSteps);
      return packet;
    },
    /** Time passes without a packet. */
    skip,
  };
}
