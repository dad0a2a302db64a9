import type { WarmTransfer } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { Leg, LegListener } from "../../transport/leg.ts";
import { NotConnected } from "../port.ts";
import { BRIEFED, type SendEnvoy } from "./envoy.ts";

export interface PersonParts {
  clock: PassingTime;
  log: Logger;
  /** Calls the person. @param signal aborted to give up @throws NotConnected, ServiceError */
  dial(to: string, listener: LegListener, signal: AbortSignal): Promise<Leg>;
}

/** The person's end of the call. */
export interface Line {
  leg: Leg;
  /** From now on, this hears the person. Called once. */
  hand(to: Pick<LegListener, "heard" | "ended">): void;
}

/** `reason`: why the person could not be called, if that is known, in a sentence for the model. */
export type Reached = { outcome: "accepted"; line: Line } | { outcome: NotReached; reason?: string | undefined };
export type NotReached = "declined" | "no_answer" | "failed";

/** How long the person may be told what it is about. */
const BRIEFING_MAX_MS = 120_000;

/**
 * Calls a person, has them told what it is about, and waits until they decide. Never rejects.
 * @param over aborted when the call of the user ends
 */
export async function reachPerson(
  parts: PersonParts,
  sendEnvoy: SendEnvoy,
  to: string,
  { briefing, acceptSeconds }: WarmTransfer,
  over: AbortSignal,
): Promise<Reached> {
  const { clock, log } = parts;
  const { promise: decision, resolve: decide } = Promise.withResolvers<"accepted" | NotReached>();
  const givenUp = new AbortController();
  const signal = AbortSignal.any([over, givenUp.signal]);
  const leave = () => decide("failed");
  over.addEventListener("abort", leave, { once: true });
  let isBriefed = false;
  let stopTimer = () => {};
  let handed: Pick<LegListener, "heard" | "ended"> | null = null;
  let endedAs: Parameters<LegListener["ended"]>[0] | null = null;

  const failed = (err: unknown) => {
    if (!signal.aborted) log.warn({ err }, "a person could not be told what a transfer is about");
    decide("failed");
  };
  const envoy = sendEnvoy({ briefing, signal, decided: decide, failed });
  const listener: LegListener = {
    heard: (frame) => (handed ? handed.heard(frame) : envoy.hear(frame)),
    pressed: (key) => decide(key === "1" ? "accepted" : "declined"),
    reached: (mark) => {
      // They may talk on, but not for longer.
      if (isBriefed || mark !== BRIEFED) return;
      isBriefed = true;
      stopTimer();
      stopTimer = clock.after(acceptSeconds * 1_000, () => decide("no_answer"));
    },
    sending: (frame) => frame,
    ended: (how) => {
      endedAs = how;
      decide("declined");
      handed?.ended(how);
    },
  };

  let leg: Leg | null = null;
  try {
    leg = await parts.dial(to, listener, signal);
    stopTimer = clock.after(BRIEFING_MAX_MS, () => decide("failed"));
    envoy.meet(leg);
    const outcome = await decision;
    if (outcome !== "accepted" || endedAs !== null || over.aborted) {
      await leg.hangUp().catch(() => {});
      return { outcome: outcome === "accepted" ? "failed" : outcome };
    }
    // What is left of the briefing.
    leg.clear();
    return {
      outcome,
      line: {
        leg,
        hand: (given) => {
          handed = given;
          if (endedAs !== null) given.ended(endedAs);
        },
      },
    };
  } catch (err) {
    log.warn({ err }, "a person could not be called");
    await leg?.hangUp().catch(() => {});
    if (err instanceof NotConnected) return { outcome: OUTCOMES[err.how], reason: err.note };
    const isTold = err instanceof ServiceError && err.kind === "condition";
    return { outcome: "failed", reason: isTold ? err.detail : undefined };
  } finally {
    over.removeEventListener("abort", leave);
    stopTimer();
    givenUp.abort();
    envoy.close();
  }
}

const OUTCOMES: Readonly<Record<NotConnected["how"], NotReached>> = {
  busy: "declined",
  no_answer: "no_answer",
  cancelled: "failed",
  failed: "failed",
  unreached: "failed",
  left: "declined",
};
