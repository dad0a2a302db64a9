import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import type { Logger } from "@parley/shared/log";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import { hangUpLater } from "../../call/hang-up-lost.ts";
import { type Connect, NotConnected } from "../../call/port.ts";
import type { PersonCallKey, Unanswered } from "../../call/signals.ts";
import { CarrierRefusal, type CarriersOf, CarrierUnavailable } from "../../carriers/carrier.ts";
import { endPersonCall, insertPersonCall, type PersonCall, storePersonRings } from "../../store/person-calls.ts";
import type { FarEnd, LegListener } from "../../transport/leg.ts";
import type { AwaitedStreams } from "../../transport/media-stream/awaited-streams.ts";
import type { ArrivedStream } from "../../transport/media-stream/connection.ts";
import type { StreamCarrier } from "../../transport/media-stream/stream-leg.ts";

interface RingContext {
  db: Database;
  clock: Clock;
  log: Logger;
  carriersOf: CarriersOf;
  awaited: Pick<AwaitedStreams, "wait">;
  timers: Pick<PassingTime, "after">;
}

/** Calls a person over a carrier's own API. @throws NotConnected; ServiceError not_found for a carrier that is not connected */
export type RingPerson = (
  call: Omit<PersonCall, "callId"> & { from: string; to: string },
  ...connect: Parameters<Connect>
) => ReturnType<Connect>;

interface RingingPeople {
  ring: RingPerson;
  /** A call has ended without audio, as a process was told. */
  unanswered(call: PersonCallKey, how: Unanswered): void;
}

/** A phone rings for so long, as for other calls without a wish. */
export const RING_SECONDS = 45;
/** With the time that a carrier may take to answer our request and to open the stream. Afterwards nobody waits for the audio. */
export const AWAITED_MS = (RING_SECONDS + 15) * 1_000;
/** A request to a carrier that was given up may still ring until then. */
const ATTEMPT_MS = 20_000;

const WORDS: Readonly<Record<Unanswered, string>> = {
  no_answer: "Nobody has answered",
  busy: "The number is busy",
  cancelled: "The carrier has ended the call",
  failed: "The carrier could not connect the call",
  left: "The person hung up at once",
};

/** The people who ring for calls of this process. */
export function ringingPeople(ctx: RingContext): RingingPeople {
  const { db, clock, log, carriersOf } = ctx;
  const ringing = new Map<string, (how: Unanswered) => void>();
  const nameOf = ({ ownerId, callId }: PersonCallKey) => `${ownerId} ${callId}`;

  return {
    unanswered: (call, how) => ringing.get(nameOf(call))?.(how),
    ring: async ({ from, to, ...line }, listener, signal, reachedBy) => {
      const call: PersonCall = { ...line, callId: newId("call") };
      const { ownerId, callId, carrierId } = call;
      const carrier = await carriersOf(ownerId, carrierId);
      const since = clock.now();
      await insertPersonCall(db, call, since);
      const { promise: streamed, resolve, reject } = Promise.withResolvers<ArrivedStream>();
      // It may be rejected before anybody waits for it.
      streamed.catch(() => {});
      const end = (how: Unanswered) => reject(new NotConnected(how, WORDS[how]));
      const stopWaiting = ctx.awaited.wait(call, resolve);
      ringing.set(nameOf(call), end);
      const stopTimer = ctx.timers.after(AWAITED_MS, () => end("no_answer"));
      const leave = () => end("cancelled");
      signal.addEventListener("abort", leave, { once: true });
      let farEnd: FarEnd = { type: "placed", carrierId, callId, from, to, since: since.toISOString() };
      try {
        await reachedBy(farEnd);
        if (signal.aborted) throw new NotConnected("cancelled", WORDS.cancelled);
        const placing = { ownerId, callId, from, to, ringSeconds: RING_SECONDS, detectMachine: false };
        const { carrierCallId } = await carrier.place(placing);
        farEnd = { type: "carrier", carrierId, carrierCallId };
        await storePersonRings(db, call, carrierCallId);
        await reachedBy(farEnd);
        const stream = await streamed;
        const carrierOfLeg = carrierFor(ctx, call, stream.carrierCallId);
        const ended: LegListener["ended"] = (how) => {
          // The carrier goes on with its document when it loses a stream.
          void giveUp(call, how === "lost" ? carrierOfLeg.farEnd : null);
          listener.ended(how);
        };
        return stream.accept({ ...listener, ended }, carrierOfLeg);
      } catch (error) {
        const isRefused = error instanceof CarrierRefusal;
        await giveUp(call, isRefused ? null : farEnd);
        if (isRefused) throw new NotConnected("failed", `The carrier refuses the call: ${error.message}`);
        if (error instanceof CarrierUnavailable) throw new NotConnected("failed", "The carrier does not answer");
        throw error;
      } finally {
        stopTimer();
        signal.removeEventListener("abort", leave);
        stopWaiting();
        ringing.delete(nameOf(call));
      }
    },
  };

  /** Never rejects. @param farEnd what is to be hung up; null for nothing */
  async function giveUp(call: PersonCall, farEnd: FarEnd | null): Promise<void> {
    try {
      await endPersonCall(db, call);
      if (!farEnd) return;
      const dueInMs = farEnd.type === "placed" ? ATTEMPT_MS : 0;
      // A job of its own, beside that of the user's call.
      const key = { ownerId: call.ownerId, conversationId: call.callId };
      await hangUpLater(db, key, farEnd, new Date(clock.now().getTime() + dueInMs));
    } catch (err) {
      log.warn({ err, call_id: call.callId, owner_id: call.ownerId }, "a call to a person could not be given up");
    }
  }
}

function carrierFor({ carriersOf }: RingContext, call: PersonCall, carrierCallId: string): StreamCarrier {
  const { ownerId, carrierId } = call;
  const unavailable = () => Promise.reject(new Error("a person is not transferred, and no keys are pressed for one"));
  return {
    farEnd: { type: "carrier", carrierId, carrierCallId },
    press: unavailable,
    transfer: unavailable,
    hangUp: async () => (await carriersOf(ownerId, carrierId, { hangsUp: true })).hangUp(carrierCallId),
  };
}
