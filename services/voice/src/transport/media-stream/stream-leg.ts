import { ServiceError } from "@parley/shared/errors";
import { muLaw } from "@parley/shared/media/g711";
import { resampler } from "@parley/shared/media/resample";
import { SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { incomingAudio } from "../incoming-audio.ts";
import type { FarEnd, Leg, LegListener } from "../leg.ts";
import { pace } from "../pacer.ts";
import type { Dialect, StreamMessage } from "./dialects.ts";
import { streamPlayback } from "./stream-playback.ts";

/** A leg, on one WebSocket after the other. */
export interface StreamLeg {
  leg: Leg;
  /** Goes on with this one. */
  use(wire: Wire): WireReports;
}

/** The WebSocket of one stream. */
interface Wire {
  streamId: string;
  send(message: object): void;
  /** Closes the connection. */
  close(): void;
}

/** What a WebSocket reports. */
export interface WireReports {
  received(message: StreamMessage): void;
  /** The connection has ended: `hung_up` if the carrier closed it in order. */
  closed(how: "hung_up" | "lost"): void;
}

/** What the carrier does for a call besides carrying audio. */
export interface StreamCarrier {
  farEnd: FarEnd;
  /** @param streamUrls as of a `Carrier` @throws when the carrier refuses or cannot be reached */
  press(keys: string, streamUrls: readonly string[]): Promise<void>;
  /** @throws when the carrier refuses or cannot be reached */
  transfer(to: string): Promise<void>;
  hangUp(): Promise<void>;
}

export interface StreamLegOptions {
  dialect: Dialect;
  carrier: StreamCarrier;
  /** Expects another stream of this call, with which the leg goes on. */
  expectAnother(leg: StreamLeg): Promise<AnotherStream>;
  /** Counts audio that is not used. */
  dropped(reason: "too_much"): void;
  /** How long a carrier that has confirmed a transfer may take to end the stream; 10 s by default. */
  takeOverMaxMs?: number;
}

/** A stream that a carrier is asked to open. */
export interface AnotherStream {
  /** The carrier uses the first that leads to this process. */
  urls: readonly string[];
  /** Whether it has arrived, as soon as that is known. */
  arrived: Promise<boolean>;
  /** It is not expected anymore. */
  cancel(): void;
}

/** Something that the carrier does with the call. Until it has answered, nobody knows whether the end of the stream is the end of the call. */
interface Handover {
  streamEnded: PromiseWithResolvers<void>;
  /** How the stream has ended; null while it continues. */
  endedAs: "hung_up" | "lost" | null;
}

const TELEPHONE_HZ = 8_000;
/** A congested connection delivers everything at once, and nothing of it may be lost. */
const AHEAD_MAX_SAMPLES = 10 * SAMPLES_PER_SECOND;
/** Carriers send audio all the time, even while the caller is silent. */
const UNHEARD_MAX_MS = 30_000;
const TAKE_OVER_MAX_MS = 10_000;

export function streamLeg(options: StreamLegOptions, to: LegListener): StreamLeg {
  const { dialect, carrier } = options;
  const widen = resampler(TELEPHONE_HZ, SAMPLES_PER_SECOND);
  const narrow = resampler(SAMPLES_PER_SECOND, TELEPHONE_HZ);
  const incoming = incomingAudio({ aheadMaxSamples: AHEAD_MAX_SAMPLES, dropped: options.dropped }, to);
  let wire: Wire | null = null;
  const send = (message: (streamId: string) => object) => wire?.send(message(wire.streamId));
  const player = streamPlayback({
    media: (frame) => send((id) => dialect.media(id, muLaw.encode(narrow(frame)))),
    mark: (name) => send((id) => dialect.mark(id, name)),
    clear: () => send((id) => dialect.clear(id)),
    reached: to.reached,
    sending: to.sending,
    now: () => performance.now(),
  });
  let state: "held" | Handover | "over" = "held";
  let last: Promise<void> = Promise.resolve();
  /** Keys are pressed, and what is queued waits for the stream after them. */
  let isPressing = false;

  const stopPacing = pace(() => {
    incoming.fillSilence();
    if (!isPressing) player.tick();
    if (incoming.unheardMs() > UNHEARD_MAX_MS) end("lost");
  });

  const end = (how: Parameters<LegListener["ended"]>[0]) => {
    if (state === "over") return;
    if (state !== "held") {
      state.streamEnded.resolve();
      if (how !== "ended_by_us") {
        state.endedAs = how;
        return;
      }
    }
    state = "over";
    stopPacing();
    wire?.close();
    to.ended(how);
  };

  /** One after the other. @throws what the work fails with; the call goes on then, unless its stream has ended */
  const handOver = (work: (handover: Handover) => Promise<void>): Promise<void> => {
    const run = async () => {
      if (state !== "held") throw new ServiceError("condition", "The call has ended");
      const handover: Handover = { streamEnded: Promise.withResolvers(), endedAs: null };
      state = handover;
      try {
        await work(handover);
      } finally {
        if (state === handover) state = "held";
        if (handover.endedAs) end(handover.endedAs);
      }
    };
    const done = last.then(run);
    last = done.catch(() => {});
    return done;
  };

  /**
   * A carrier ends the stream when it takes the call over, which it may do before or after it confirms the transfer. A call whose
   * stream we end first is over: the carrier finds nothing left to transfer.
   */
  const takenOver = async ({ streamEnded }: Handover) => {
    const timer = setTimeout(streamEnded.resolve, options.takeOverMaxMs ?? TAKE_OVER_MAX_MS);
    await streamEnded.promise;
    clearTimeout(timer);
  };

  /** The carrier ends the stream, presses the keys, and opens another one. */
  const pressBetweenStreams = async (keys: string) => {
    const another = await options.expectAnother(self);
    isPressing = true;
    try {
      await carrier.press(keys, another.urls);
      if (!(await another.arrived)) {
        // Whatever the carrier does now, nobody hears it.
        if (typeof state === "object") state.endedAs ??= "lost";
        throw new ServiceError("upstream_timeout", "The carrier did not stream the call again after the keys");
      }
    } finally {
      isPressing = false;
      another.cancel();
    }
  };

  const self: StreamLeg = {
    leg: {
      play: player.play,
      clear: player.clear,
      mark: player.mark,
      heardSamples: player.heardSamples,
      queuedSamples: player.queuedSamples,
      press: async (keys) => {
        await handOver(() => (dialect.isReplacedByKeys ? pressBetweenStreams(keys) : carrier.press(keys, [])));
      },
      transfer: (target) =>
        handOver(async (handover) => {
          await carrier.transfer(target);
          await takenOver(handover);
          end("ended_by_us");
        }),
      hangUp: async () => {
        if (state === "over") return;
        end("ended_by_us");
        await carrier.hangUp();
      },
      farEnd: () => carrier.farEnd,
    },
    use: (given) => {
      wire = given;
      // The end of the stream before was not that of the call.
      if (typeof state === "object") state.endedAs = null;
      if (state === "over") given.close();
      const isUsed = () => wire === given;
      return {
        received: (message) => {
          if (state === "over" || !isUsed()) return;
          switch (message.type) {
            case "media":
              incoming.arrived();
              return incoming.hear(widen(muLaw.decode(message.audio)));
            case "key":
              return to.pressed(message.key);
            case "mark":
              return player.marked(message.name);
            case "stop":
              return end("hung_up");
          }
        },
        closed: (how) => {
          if (isUsed()) end(how);
        },
      };
    },
  };
  return self;
}
