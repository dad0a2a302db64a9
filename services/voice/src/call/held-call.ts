import type { Logger } from "@parley/shared/log";
import { slidingWindows } from "@parley/shared/rate-limit/windows";
import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { Background } from "../background/background.ts";
import type { CallTap } from "../recording/record-call.ts";
import type { Leg, LegListener } from "../transport/leg.ts";
import type { EndReason } from "../turn/events.ts";
import type { Lines } from "../turn/settings.ts";
import type { VoiceDetector } from "../vad/detector.ts";
import type { CallOver } from "./call-over.ts";
import type { LatencyWatch } from "./latency.ts";
import type { AgentCommand } from "./operator/commands.ts";
import type { CallReports } from "./operator/reports.ts";
import type { CallNews } from "./port.ts";
import type { ClientCalls } from "./tools/client-calls.ts";
import type { BridgeParts } from "./warm/bridge.ts";
import type { PersonParts } from "./warm/reach-person.ts";

/** What a call needs besides its leg, with any kind of model. */
export interface CommonParts {
  detector: VoiceDetector;
  /** Empty: the user speaks first. */
  greeting: string;
  lines: Lines;
  clock: PassingTime;
  log: Logger;
  /** A sound behind everything that the agent says; null for none. */
  background: Background | null;
  /** Takes what both sides hear: records it, and lets people listen. */
  recorder: CallTap | null;
  /** Calls people for warm transfers; absent: nobody can be called. */
  person?: { partsFor(user: Leg): PersonParts; bridging: BridgeParts } | undefined;
  watch?: ((news: CallNews) => void) | undefined;
  /** Tells those who watch of transfers. */
  transferred?: CallReports["transfer"];
  /** Whether `watch` learns of tool calls too. */
  tellsTools?: boolean;
  /** The calls of client tools; absent: nobody makes them. */
  clients?: ClientCalls | undefined;
  /** Called with what came of a transfer, before the call goes on or ends. */
  transferEnded?: ((transfer: EndedTransfer) => void) | undefined;
  /** Called with the figures of each answer that was heard. */
  measured?: ((figures: ReturnType<LatencyWatch["figures"]>) => void) | undefined;
}

/** A transfer as its event shows it (docs/webhooks.md#events). */
export interface EndedTransfer {
  /** A number or an address. */
  to: string;
  mode: "blind" | "warm";
  outcome: "accepted" | "declined" | "no_answer" | "failed";
}

export interface HeldCall {
  /** What the leg reports to. */
  listener: LegListener;
  /** The other party is on the line. */
  connected(leg: Leg): void;
  /** Ends the call from our side. */
  hangUp(reason: Extract<EndReason, "operator_ended" | "time_over">): void;
  /** Does what an operator wants. @returns why it cannot; null if it does */
  command(command: AgentCommand): string | null;
  /** A machine answered: leaves a message, or hangs up if there is none to leave. */
  machineAnswered(): void;
  /** The machine that answered is recording now. */
  machineReady(): void;
  /** Ends the call because it cannot continue, for this reason. */
  fail(note: string): void;
  /** Resolves when the leg has ended, everything that was said is being stored, and a person who was called is given up. */
  ended: Promise<CallOver>;
}

/** The audio that goes out on the leg, and into the recording: the agent with the background. */
export function sendingOf({
  background,
  recorder,
}: Pick<CommonParts, "background" | "recorder">): LegListener["sending"] {
  return (frame, inMs) => {
    // Added after the playback of replies, so that it never counts as said and is in the recording only once.
    const audible = background?.(frame) ?? frame;
    if (audible) recorder?.sent(audible, inMs);
    return audible;
  };
}

/** Phones send 12 keys a second at most (ITU-T Q.24); after network congestion, those of some seconds arrive at once. */
const KEYS_WITHIN_MS = 5_000;
const KEYS_TAKEN_MAX = 60;

/** Passes keys on, and drops those that arrive faster than a phone sends them: each stops the agent, and may be a message. */
export function keysInTime(clock: PassingTime, pressed: (key: string) => void): (key: string) => void {
  const keys = slidingWindows({ keysMax: 1, windowMs: KEYS_WITHIN_MS, clock: () => clock.now() });
  return (key) => {
    if (keys("", KEYS_TAKEN_MAX).waitMs === 0) pressed(key);
  };
}

/** The leg; what it drops is dropped from the recording too. */
export function recordedLeg(leg: Leg, recorder: CallTap | null): Leg {
  return {
    ...leg,
    clear: () => {
      leg.clear();
      recorder?.cut();
    },
  };
}
