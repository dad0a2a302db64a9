import { ServiceError } from "@parley/shared/errors";
import { readRtp, writeRtp } from "@parley/shared/media/rtp-packet";
import { opus } from "../../audio/opus.ts";
import type { Leg, LegListener } from "../leg.ts";
import { rtpAudio } from "../rtp/audio.ts";
import { type Connection, type ConnectionOptions, MESSAGE_MAX_BYTES, openConnection } from "./connection.ts";
import { browserLimits } from "./limits.ts";
import type { Offer } from "./offer.ts";
import { type Direction, type Medium, type Transport, writeSdp } from "./sdp.ts";
import { textsFor } from "./texts.ts";

export interface WebRtcOptions extends ConnectionOptions {
  /** What browsers are told to send to, if a NAT lies between; absent: `hostname`. */
  announced?: string | undefined;
  /** Counts packets that are not used, by reason. */
  dropped(reason: "malformed" | "too_much"): void;
  /** The browser listens only: it need not send, and what it sends is dropped. */
  listensOnly?: boolean;
}

export interface WebRtcPeer {
  /** The session description for the browser, with all candidates. */
  answer: string;
  /** Waits until media can flow; called once. @throws ServiceError upstream_timeout if the browser does not connect */
  connected(to: LegListener): Promise<Leg>;
  /**
   * Sends text over the browser's data channel, if it has one, once it is open; dropped if more than 64 KiB waits, or if it is too long for
   * the browser.
   * @returns false if it is dropped
   */
  tell(text: string): boolean;
  /** The subprotocol of the data channel; null while it is not open. */
  protocol(): string | null;
  /** Learns from now on what the browser says over its data channel, and when that closes. */
  hear(from: { text(text: string): void; closed(): void }): void;
  /** Ends the connection without a leg. */
  close(): void;
}

/** As long as the dashboard waits (`dashboard/src/features/try-it/web-call.ts`): a busy browser sends its first check late. */
const CONNECT_MAX_MS = 30_000;
/** A browser sends 50 packets a second, also while it is muted. One that was not heard for this long is gone. */
const UNHEARD_MAX_MS = 10_000;
const WATCH_MS = 1_000;

/**
 * Answers a browser's offer of one audio track in both directions, and a data channel.
 * @throws ServiceError invalid if it still cannot be answered; unavailable if no port is free
 */
export async function answerOffer(offer: Offer, options: WebRtcOptions): Promise<WebRtcPeer> {
  const texts = textsFor();
  const limits = browserLimits();
  const opened = Promise.withResolvers<void>();
  /** What the leg does with a packet, and with the connection's end. */
  let hear = (_packet: Uint8Array) => {};
  let from: Parameters<WebRtcPeer["hear"]>[0] = { text: () => {}, closed: () => {} };
  let end = (_how: "hung_up" | "lost") => opened.reject(notConnected());
  const exceeded = () => {
    options.dropped("too_much");
    end("lost");
  };
  const connection = await openConnection(offer, options, {
    opened: opened.resolve,
    received: (packet) => (limits.isExceededByPacket(packet) ? exceeded() : hear(packet)),
    channel: (channel) => {
      channel.onMessage((message) => {
        if (limits.isExceededByMessage(Buffer.byteLength(message))) return exceeded();
        if (typeof message === "string" && texts.uses(channel)) from.text(message);
      });
      if (limits.isExceededByMessage(0)) return exceeded();
      texts.use(channel);
    },
    channelClosed: (channel) => {
      if (texts.uses(channel)) from.closed();
    },
    over: (how) => end(how),
  });
  // Nobody may be waiting for it yet.
  opened.promise.catch(() => {});
  return {
    answer: answerTo(offer, connection.local, options),
    connected: async (to) => {
      await untilOpened(connection, opened.promise);
      const leg = legOn(connection, offer, options, to);
      hear = leg.hear;
      end = leg.end;
      return leg;
    },
    tell: texts.tell,
    protocol: texts.protocol,
    hear: (heard) => {
      from = heard;
    },
    close: () => {
      connection.close();
      end("hung_up");
    },
  };
}

function legOn(
  connection: Connection,
  { audio: { payloadType } }: Offer,
  { dropped, listensOnly = false }: WebRtcOptions,
  to: LegListener,
): Leg & { hear(packet: Uint8Array): void; end(how: Parameters<LegListener["ended"]>[0]): void } {
  const audio = rtpAudio({ send: (packet) => connection.send(writeRtp(packet)), dropped }, to);
  audio.use({ payloadType, clockHz: 48_000, ...opus() }, true);
  let isOver = false;
  const end = (how: Parameters<LegListener["ended"]>[0]) => {
    if (isOver) return;
    isOver = true;
    clearInterval(watch);
    audio.close();
    connection.close();
    to.ended(how);
  };
  // The library takes half a minute to see that the other side is gone.
  const watch = setInterval(() => !listensOnly && audio.unheardMs() > UNHEARD_MAX_MS && end("lost"), WATCH_MS);

  return {
    play: audio.play,
    clear: audio.clear,
    mark: audio.mark,
    heardSamples: audio.heardSamples,
    queuedSamples: audio.queuedSamples,
    press: async () => {
      throw new ServiceError("condition", "A call from a browser has no keys to press");
    },
    transfer: async () => {
      throw new ServiceError("condition", "A call from a browser cannot be transferred");
    },
    hangUp: async () => end("ended_by_us"),
    hear: (bytes) => {
      if (listensOnly) return;
      const packet = readRtp(bytes);
      if (packet?.payloadType === payloadType && !isOver) audio.receive(packet);
    },
    end,
  };
}

async function untilOpened(connection: Connection, opened: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => late.reject(notConnected()), CONNECT_MAX_MS);
  try {
    await Promise.race([opened, late.promise]);
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function notConnected(): ServiceError {
  return new ServiceError("upstream_timeout", "The browser did not connect its audio");
}

/** Answers every medium of the offer, with candidates that browsers can reach. */
function answerTo({ media, audio, data }: Offer, local: Transport, { announced }: WebRtcOptions): string {
  const candidates = announced
    ? local.candidates.map((candidate) => candidate.replace(/^(\S+ \d+ \S+ \d+ )\S+/, `$1${announced}`))
    : local.candidates;
  const answered = media.map(({ use, ...medium }): Medium => {
    if (use === "audio") return { kind: "audio", ...medium, ...audio, direction: opposite(audio.direction) };
    if (use === "data" && data) return { kind: "data", ...medium, port: data.port, messageMaxBytes: MESSAGE_MAX_BYTES };
    return { kind: "refused", ...medium };
  });
  return writeSdp({ ...local, candidates }, answered);
}

function opposite(direction: Direction): Direction {
  if (direction === "sendonly") return "recvonly";
  return direction === "recvonly" ? "sendonly" : "sendrecv";
}
