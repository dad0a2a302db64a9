import { ServiceError } from "@parley/shared/errors";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import { meter } from "@parley/shared/telemetry/instruments";
import { type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import type { CallTap } from "../../recording/record-call.ts";
import { type Timeline, timeline } from "../../recording/timeline.ts";
import type { CommandAnswer } from "../../store/call-commands.ts";
import type { CallKey } from "../../store/calls.ts";
import type { Leg } from "../../transport/leg.ts";
import { invalidOffer, readOffer } from "../../transport/webrtc/offer.ts";
import { answerOffer, type WebRtcOptions, type WebRtcPeer } from "../../transport/webrtc/peer.ts";

/** What the listeners of all calls of this process share. */
export interface Listening {
  /** Answers a listener's offer. @throws ServiceError */
  answer(offer: string): Promise<WebRtcPeer>;
  places: ListenerPlaces;
}

/** The people who listen to one call. The caller hears nothing of them. */
export interface CallListeners {
  /** What they hear. */
  tap: CallTap;
  /** @returns the answer to the listener's offer, or why there is none */
  connect(listener: { listenerId: string; offer: string }): Promise<CommandAnswer>;
  leave(listenerId: string): void;
  /** Ends them all; nobody connects anymore. */
  close(): void;
}

const PER_CALL_MAX = 5;
const PER_OWNER_MAX = 50;
/** What a listener may lag behind before it skips to now. */
const BEHIND_MAX_SAMPLES = SAMPLES_PER_SECOND / 2;

export function callListeners({ answer, places }: Listening, clock: PassingTime, { ownerId }: CallKey): CallListeners {
  const listeners = new Map<string, { peer: WebRtcPeer | null; leg: Leg | null }>();
  /** Each token connects once. */
  const used = new Set<string>();
  let line: Timeline | null = null;
  let isOver = false;

  function hear(user: Pcm, agent: Pcm): void {
    const audio = mixed(user, agent);
    for (const { leg } of listeners.values()) {
      if (!leg) continue;
      if (leg.queuedSamples() > BEHIND_MAX_SAMPLES) leg.clear();
      leg.play(audio);
    }
  }

  function leave(listenerId: string): void {
    const left = listeners.get(listenerId);
    if (!left) return;
    listeners.delete(listenerId);
    places.free(ownerId);
    if (listeners.size === 0) line = null;
    left.peer?.close();
  }

  return {
    tap: {
      begin: () => {},
      heard: (frame) => line?.user(frame, clock.now()),
      sent: (frame, inMs) => line?.agent(frame, clock.now(), inMs),
      cut: () => line?.cut(clock.now()),
    },
    connect: async ({ listenerId, offer }) => {
      if (isOver) return { refusal: OVER };
      if (used.has(listenerId)) return { refusal: "The token was used: ask for another one" };
      if (listeners.size >= PER_CALL_MAX) return { refusal: `${PER_CALL_MAX} people listen to this call already` };
      if (!places.take(ownerId)) return { refusal: `${PER_OWNER_MAX} people listen to calls of this account already` };
      used.add(listenerId);
      const listener = { peer: null as WebRtcPeer | null, leg: null as Leg | null };
      listeners.set(listenerId, listener);
      try {
        const peer = await answer(offer);
        if (!listeners.has(listenerId)) {
          peer.close();
          return { refusal: OVER };
        }
        listener.peer = peer;
        const silent = { heard: () => {}, pressed: () => {}, reached: () => {}, sending: (frame: Pcm | null) => frame };
        void peer.connected({ ...silent, ended: () => leave(listenerId) }).then(
          (leg) => {
            if (!listeners.has(listenerId)) return;
            listener.leg = leg;
            line ??= timeline(clock.now(), hear);
          },
          () => leave(listenerId),
        );
        return { refusal: null, answer: peer.answer };
      } catch (error) {
        leave(listenerId);
        if (error instanceof ServiceError) return { refusal: error.detail };
        throw error;
      }
    },
    leave,
    close: () => {
      isOver = true;
      for (const listenerId of listeners.keys()) leave(listenerId);
    },
  };
}

const OVER = "The call has ended";

export function listeningOver(options: WebRtcOptions): Listening {
  return {
    answer: async (sdp) => answerOffer(listenerOffer(sdp), { ...options, listensOnly: true }),
    places: listenerPlaces(),
  };
}

/**
 * An offer that would also send is answered as one that only receives. Its data channel says nothing, but closes when the listening ends.
 * @throws ServiceError invalid
 */
export function listenerOffer(sdp: string): ReturnType<typeof readOffer> {
  const offer = readOffer(sdp);
  if (offer.audio.direction === "sendonly") throw invalidOffer("it does not receive audio");
  return { ...offer, audio: { ...offer.audio, direction: "recvonly" } };
}

/** Takes what both taps take. */
export function bothTaps(one: CallTap, other: CallTap): CallTap {
  return {
    begin: () => {
      one.begin();
      other.begin();
    },
    heard: (frame) => {
      one.heard(frame);
      other.heard(frame);
    },
    sent: (frame, inMs) => {
      one.sent(frame, inMs);
      other.sent(frame, inMs);
    },
    cut: () => {
      one.cut();
      other.cut();
    },
  };
}

/** How many listen to the calls of this process, by owner. */
interface ListenerPlaces {
  /** @returns false if the owner has none left */
  take(ownerId: string): boolean;
  free(ownerId: string): void;
}

function listenerPlaces(): ListenerPlaces {
  const taken = new Map<string, number>();
  const change = (ownerId: string, by: 1 | -1) => {
    const count = (taken.get(ownerId) ?? 0) + by;
    if (count > 0) taken.set(ownerId, count);
    else taken.delete(ownerId);
    counted().add(by);
  };
  return {
    take: (ownerId) => {
      if ((taken.get(ownerId) ?? 0) >= PER_OWNER_MAX) return false;
      change(ownerId, 1);
      return true;
    },
    free: (ownerId) => change(ownerId, -1),
  };
}

let counter: ReturnType<ReturnType<typeof meter>["createUpDownCounter"]> | undefined;
function counted() {
  counter ??= meter().createUpDownCounter("parley.live.listeners", { description: "People who listen to calls" });
  return counter;
}

function mixed(user: Pcm, agent: Pcm): Pcm {
  return user.map((sample, at) => Math.max(-32_768, Math.min(32_767, sample + (agent[at] ?? 0))));
}
