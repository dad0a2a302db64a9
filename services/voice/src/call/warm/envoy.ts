import type { Pcm } from "../../audio/pcm.ts";
import type { Leg } from "../../transport/leg.ts";

/** The agent at a person's end of the line: it tells them what it is about, and finds out whether they take the call. */
export interface Envoy {
  /** The person has answered. Called once. */
  meet(leg: Leg): void;
  /** What the person says. */
  hear(frame: Pcm): void;
  close(): void;
}

export interface Visit {
  /** What to tell the person, as an instruction for the model. */
  briefing: string;
  /** Aborted when the envoy is not needed anymore. */
  signal: AbortSignal;
  decided(decision: "accepted" | "declined"): void;
  /** It cannot go on. */
  failed(error: unknown): void;
}

/** Begins before the person has answered. */
export type SendEnvoy = (visit: Visit) => Envoy;

/** The mark on the person's leg at which they have been told everything. */
export const BRIEFED = "briefed";
