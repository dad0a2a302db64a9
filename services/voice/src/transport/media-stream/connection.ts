import { ServiceError } from "@parley/shared/errors";
import { parseObject } from "@parley/shared/json/json-object";
import { NotConnected } from "../../call/port.ts";
import type { ExpectedStream } from "../../store/media-streams.ts";
import { byteRate } from "../byte-rate.ts";
import type { Leg, LegListener } from "../leg.ts";
import { DIALECTS, type StreamMessage } from "./dialects.ts";
import {
  type StreamCarrier,
  type StreamLeg,
  type StreamLegOptions,
  streamLeg,
  type WireReports,
} from "./stream-leg.ts";

/** A call whose audio a carrier has begun to stream. Either `accept` or `refuse` follows, unless the carrier leaves first. */
export interface ArrivedStream {
  ownerId: string;
  callId: string;
  /** The carrier's own id of the call. */
  carrierCallId: string;
  /** Aborted when the stream ends before it is accepted. */
  gone: AbortSignal;
  /** Begins to hear and to play. @throws NotConnected left, if the other party has hung up; ServiceError condition, if the stream has ended */
  accept(to: LegListener, carrier: StreamCarrier): Leg;
  /** Goes on with a leg whose stream before it ended. @throws as `accept` */
  resume(leg: StreamLeg): void;
  /** Closes the stream. */
  refuse(): void;
}

/** The WebSocket of one stream, authenticated by its token. */
export interface Connection {
  received(message: string | Buffer): void;
  /** Counts a ping or pong, which is answered by itself. */
  pinged(bytes: number): void;
  closed(code: number): void;
}

interface ConnectionOptions {
  expected: ExpectedStream;
  send(text: string): void;
  /** @param code of RFC 6455, section 7.4.1 */
  close(code: number): void;
  /** Ends the connection of a peer that might go on sending after a close. */
  terminate(): void;
  dropped(reason: Dropped): void;
  expectAnother: StreamLegOptions["expectAnother"];
  startMaxMs?: number | undefined;
}

export type Dropped = "malformed_stream" | "stream_too_much" | "stream_too_fast" | "stream_no_start" | "stream_codec";

const START_MAX_MS = 5_000;
/** How long the call may take to be accepted, because that calls other services. */
const ACCEPT_MAX_MS = 15_000;
/**
 * Carriers send 50 messages of 400 bytes a second; after congestion, some seconds arrive at once. Each message counts as 200 bytes
 * more, because empty ones take time too.
 */
const RATE = { perSecond: 64 * 1024, burst: 512 * 1024 };
const MESSAGE_BYTES = 200;

const NORMAL = 1_000;
const UNACCEPTABLE = 1_003;
const POLICY = 1_008;
/** Codes of an orderly close: normal, going away, or none. */
const ORDERLY = new Set([1_000, 1_001, 1_005]);

export function openConnection(options: ConnectionOptions, arrived: (stream: ArrivedStream) => void): Connection {
  const { expected, dropped } = options;
  const dialect = DIALECTS[expected.dialect];
  const isTooFast = byteRate(RATE);
  const gone = new AbortController();
  let isOpen = true;
  let hasLeft = false;
  let hasStarted = false;
  let leg: WireReports | null = null;
  let timer = setTimeout(() => fail("stream_no_start"), options.startMaxMs ?? START_MAX_MS);

  const close = (code: number) => {
    clearTimeout(timer);
    gone.abort();
    if (isOpen) options.close(code);
    isOpen = false;
  };

  const fail = (reason: Dropped, code = POLICY) => {
    dropped(reason);
    close(code);
    leg?.closed("lost");
  };

  /** Whether the peer may still send. */
  const isWithinRate = (bytes: number): boolean => {
    if (!isOpen) return false;
    if (!isTooFast(MESSAGE_BYTES + bytes)) return true;
    fail("stream_too_fast");
    options.terminate();
    return false;
  };

  const start = ({ streamId, carrierCallId, hasMuLaw }: Extract<StreamMessage, { type: "start" }>) => {
    if (!hasMuLaw) return fail("stream_codec", UNACCEPTABLE);
    hasStarted = true;
    clearTimeout(timer);
    timer = setTimeout(() => close(NORMAL), ACCEPT_MAX_MS);
    const check = () => {
      if (hasLeft) throw new NotConnected("left", "The other party hung up before the agent was on the line");
      if (!isOpen || leg) throw new ServiceError("condition", "The carrier has closed the call's media stream");
    };
    const resume = (made: StreamLeg) => {
      check();
      clearTimeout(timer);
      leg = made.use({
        streamId,
        send: (message) => isOpen && options.send(JSON.stringify(message)),
        close: () => close(NORMAL),
      });
    };
    arrived({
      ownerId: expected.ownerId,
      callId: expected.callId,
      carrierCallId,
      gone: gone.signal,
      refuse: () => {
        if (!leg) close(NORMAL);
      },
      accept: (to, carrier) => {
        check();
        const made = streamLeg(
          { dialect, carrier, expectAnother: options.expectAnother, dropped: () => dropped("stream_too_much") },
          to,
        );
        resume(made);
        return made.leg;
      },
      resume,
    });
  };

  return {
    received: (given) => {
      if (!isWithinRate(given.length)) return;
      const message = typeof given === "string" ? parseObject(given) : null;
      const read = message && dialect.read(message);
      // A stream starts once, before anything else.
      if (!read || (read.type === "start") === hasStarted) {
        if (read?.type !== "other") dropped("malformed_stream");
      } else if (read.type === "start") start(read);
      else if (leg) leg.received(read);
      else if (read.type === "stop") {
        hasLeft = true;
        close(NORMAL);
      }
    },
    pinged: isWithinRate,
    closed: (code) => {
      // We may have closed it ourselves.
      hasLeft ||= isOpen && ORDERLY.has(code);
      isOpen = false;
      close(code);
      leg?.closed(ORDERLY.has(code) ? "hung_up" : "lost");
    },
  };
}
