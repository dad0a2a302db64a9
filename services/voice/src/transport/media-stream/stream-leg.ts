import { ServiceError } from "@parley/shared/errors";
import { muLaw } from "@parley/shared/media/g711";
import { resampler } from "@parley/shared/media/resample";
import { SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { incomingAudio } from "../incoming-audio.ts";
import type { FarEnd, Leg, LegListener } from "../leg.ts";
import { pace } from "../pacer.ts";
import type { Dialect, StreamMessage } from "./dialects.ts";
import { streamPlayback } from "./stream-playback.ts";

/** A leg and what its WebSocket reports to it. */
export interface StreamLeg {
  leg: Leg;
  received(message: StreamMessage): void;
  /** The connection has ended: `hung_up` if the carrier closed it in order. */
  closed(how: "hung_up" | "lost"): void;
}

/** What the carrier does for a call besides carrying audio. */
export interface StreamCarrier {
  farEnd: FarEnd;
  /** @throws when the carrier refuses or cannot be reached */
  transfer(to: string): Promise<void>;
  hangUp(): Promise<void>;
}

export interface StreamLegOptions {
  dialect: Dialect;
  streamId: string;
  carrier: StreamCarrier;
  send(message: object): void;
  /** Closes the connection. */
  close(): void;
  /** Counts audio that is not used. */
  dropped(reason: "too_much"): void;
  /** How long a carrier that has confirmed a transfer may take to end the stream; 10 s by default. */
  takeOverMaxMs?: number;
}

/** A transfer in progress. Until the carrier has answered, nobody knows whether the end of the stream is the end of the call. */
interface Transfer {
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
  const { dialect, streamId, carrier, send } = options;
  const widen = resampler(TELEPHONE_HZ, SAMPLES_PER_SECOND);
  const narrow = resampler(SAMPLES_PER_SECOND, TELEPHONE_HZ);
  const incoming = incomingAudio({ aheadMaxSamples: AHEAD_MAX_SAMPLES, dropped: options.dropped }, to);
  const player = streamPlayback({
    media: (frame) => send(dialect.media(streamId, muLaw.encode(narrow(frame)))),
    mark: (name) => send(dialect.mark(streamId, name)),
    clear: () => send(dialect.clear(streamId)),
    reached: to.reached,
    sending: to.sending,
    now: () => performance.now(),
  });
  let state: "held" | Transfer | "over" = "held";

  const stopPacing = pace(() => {
    incoming.fillSilence();
    player.tick();
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
    options.close();
    to.ended(how);
  };

  /**
   * A carrier ends the stream when it takes the call over, which it may do before or after it confirms the transfer. A call whose
   * stream we end first is over: the carrier finds nothing left to transfer.
   */
  const takenOver = async ({ streamEnded }: Transfer) => {
    const timer = setTimeout(streamEnded.resolve, options.takeOverMaxMs ?? TAKE_OVER_MAX_MS);
    await streamEnded.promise;
    clearTimeout(timer);
  };

  return {
    leg: {
      play: player.play,
      clear: player.clear,
      mark: player.mark,
      heardSamples: player.heardSamples,
      queuedSamples: player.queuedSamples,
      transfer: async (target) => {
        if (state === "over") throw new ServiceError("condition", "The call has ended");
        const transfer: Transfer = { streamEnded: Promise.withResolvers(), endedAs: null };
        state = transfer;
        try {
          await carrier.transfer(target);
          await takenOver(transfer);
          end("ended_by_us");
        } catch (err) {
          if (state === transfer) state = "held";
          if (transfer.endedAs) end(transfer.endedAs);
          throw err;
        }
      },
      hangUp: async () => {
        if (state === "over") return;
        end("ended_by_us");
        await carrier.hangUp();
      },
      farEnd: () => carrier.farEnd,
    },
    received: (message) => {
      if (state === "over") return;
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
    closed: end,
  };
}
