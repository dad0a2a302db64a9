import type { WarmTransfer } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { counter } from "@parley/shared/telemetry/instruments";
import { durationMs, type Pcm, SILENT_FRAME } from "../audio/pcm.ts";
import { toolSounds } from "../background/tool-sounds.ts";
import type { Leg } from "../transport/leg.ts";
import type { Effect, TurnEvent } from "../turn/events.ts";
import type { TurnSettings } from "../turn/settings.ts";
import { initialState, messageOf, type TurnState } from "../turn/state.ts";
import { waitingSound } from "../turn/tools.ts";
import { dueAt, takeTurn } from "../turn/turn-taking.ts";
import type { DetectorStream, VoiceEvent } from "../vad/detector.ts";
import { type CallOver, type Contained, containedIn, endingOf } from "./call-over.ts";
import { type Captions, captions } from "./captions.ts";
import { type CommonParts, type HeldCall, keysInTime, recordedLeg, sendingOf } from "./held-call.ts";
import { transfers } from "./transfer.ts";
import { type Bridge, bridge } from "./warm/bridge.ts";
import type { SendEnvoy } from "./warm/envoy.ts";
import { holdSound } from "./warm/hold-sound.ts";
import { type NotReached, type Reached, reachPerson } from "./warm/reach-person.ts";

/** What an agent knows of the call that it is in. */
export interface CallInProgress {
  leg: Leg;
  /** Aborted when the call ends. */
  signal: AbortSignal;
  captioned: Captions;
  state(): TurnState;
  /** Tells turn-taking what has happened. */
  happen(event: TurnEvent): void;
  /** Notes why the call may end; the first reason stays. */
  note(reason: string): void;
  /** Ends the call because it cannot continue, for this reason. */
  fail(note: string): void;
  contained: Contained;
}

/** What hears, answers and speaks in one call: it reports to turn-taking, and carries out what that decides. */
export interface CallAgent {
  /** @param before the state before the event that led to the effect */
  carryOut(effect: AgentEffect, before: TurnState): void;
  /** What the other party says; null while it is not meant for the agent. */
  hear(frame: Pcm | null): void;
  /** The voice detector reports this. */
  voice?(event: VoiceEvent): void;
  /** An operator lets its model know this. Absent: the conversation service does. */
  inform?(text: string): void;
  /** An operator keeps it silent, or no longer. Absent: turn-taking asks its model for nothing. */
  mute?(isMuted: boolean): void;
  /** The leg has played up to a mark. */
  reached(mark: string): void;
  /** Stops the reply in progress, if there is one, and stores what was heard of it. */
  stop(): void;
  /** What has been heard so far of the reply that is spoken. */
  heard(): string;
  /** The number or address to which the model has decided to transfer the user. */
  transferTo(): Transferee;
  close(): void;
}

export interface Transferee {
  phoneNumber: string;
  /** Absent: the agent leaves the call at once. */
  warm: WarmTransfer | undefined;
  /** Speaks with the person for the agent, as it is at this moment. */
  sendEnvoy: SendEnvoy;
}

export type AgentEffect = Exclude<Effect, { type: "transfer" | "hang_up" }>;

/**
 * Holds one call: tells turn-taking what happens, and carries out what it decides with the agent and the leg.
 * @param join the agent joins the call when the other party is on the line, because a phone may ring for a long time
 */
export function holdCall(
  parts: CommonParts,
  settings: TurnSettings,
  join: (call: CallInProgress) => CallAgent,
): HeldCall {
  const { clock, lines } = parts;
  const contained = containedIn(parts.log, fail);
  const ending = endingOf(clock, parts.log, close);
  const captioned = captions(parts);
  let state = initialState(settings, clock.now());
  let leg: Leg | null = null;
  let agent: CallAgent | null = null;
  let detector: DetectorStream | null = null;
  /** What the carrier reported about a machine before the leg existed. */
  let machine: "machine" | "machine_ready" | null = null;
  let isOnHold = false;
  /** What is heard behind the agent, or while the user waits for a person. */
  let sound = parts.background;
  const behindTools = toolSounds();
  /** Settles when nobody is being called anymore. */
  let reaching: Promise<void> = Promise.resolve();
  let bridged: Bridge | null = null;
  let connectedTo = "";
  let stopTimer = () => {};
  /** Where an operator connects the user; null while the agent decides. */
  let operatorTo: string | null = null;
  const transfer = transfers(parts.log, {
    succeeded: (to) => {
      parts.transferred?.(to, "completed");
      parts.transferEnded?.({ to, mode: "blind", outcome: "accepted" });
      end("SUCCESS", "agent_ended", `Transferred to ${to}`);
    },
    failed: (to) => {
      parts.transferred?.(to, "failed");
      parts.transferEnded?.({ to, mode: "blind", outcome: "failed" });
      happen({ type: "transfer_failed" });
    },
  });

  // Effects cause further events, which wait until the effects of the earlier ones are done.
  const waiting: TurnEvent[] = [];
  let isTurning = false;
  const happen = contained((event: TurnEvent) => {
    waiting.push(event);
    if (isTurning) return;
    isTurning = true;
    try {
      for (let each = waiting.shift(); each; each = waiting.shift()) {
        const before = state;
        const turned = takeTurn(state, each, clock.now(), behindMs());
        state = turned.state;
        for (const effect of turned.effects) carryOut(effect, before);
        captioned.state(nameOf(state));
        const text = messageOf(state.user);
        if (text !== "" && text !== messageOf(before.user)) captioned.tell("user", text, false);
      }
    } finally {
      isTurning = false;
    }
    stopTimer();
    // No timer runs before both parties are on the line.
    const due = leg && dueAt(state);
    if (due === null) return;
    const waitMs = due - clock.now();
    // What is due already waits for the voice detector.
    stopTimer = clock.after(waitMs > 0 ? waitMs : behindMs(), () => happen({ type: "time" }));
  });

  const behindMs = () => detector?.behindMs?.() ?? 0;

  function carryOut(effect: Effect, before: TurnState): void {
    if (effect.type === "hang_up") end(effect.outcome, effect.reason);
    else if (effect.type === "transfer") connectElsewhere();
    else agent?.carryOut(effect, before);
  }

  function connectElsewhere(): void {
    const decided = agent?.transferTo();
    const to = operatorTo ?? decided?.phoneNumber ?? "";
    const { warm, sendEnvoy } = (operatorTo === null && decided) || {};
    operatorTo = null;
    parts.transferred?.(to, "begun");
    // Nobody is called in a test: the user is handed over at once.
    if (warm && sendEnvoy && parts.person) reaching = connectPerson(to, warm, sendEnvoy);
    else void transfer.begin(leg, to);
  }

  /** Calls a person, and connects the user if they take the call. Never rejects. */
  async function connectPerson(to: string, warm: WarmTransfer, sendEnvoy: SendEnvoy): Promise<void> {
    const { person } = parts;
    sound = holdSound(warm.holdSound);
    const user = leg;
    const reached: Reached =
      person && user
        ? await reachPerson(person.partsFor(user), sendEnvoy, to, warm, ending.signal)
        : { outcome: "failed" };
    transferred().add(1, { outcome: reached.outcome });
    parts.transferred?.(to, reached.outcome === "accepted" ? "completed" : "failed");
    parts.transferEnded?.({ to, mode: "warm", outcome: reached.outcome });
    contained(() => {
      sound = parts.background;
      if (reached.outcome !== "accepted")
        return happen({ type: "not_taken", told: TOLD[reached.outcome](to, reached.reason) });
      if (ending.isOver() || !person || !user) return void reached.line.leg.hangUp().catch(() => {});
      // The agent has left.
      sound = null;
      state = { ...state, over: true };
      stopTimer();
      agent?.close();
      agent = null;
      bridged = bridge(person.bridging, user, reached.line, () => endBridged(to), ending.signal);
      connectedTo = to;
    })();
  }

  function endBridged(to: string): void {
    end("SUCCESS", "agent_ended", `Connected to ${to}`);
  }

  function end(outcome: CallOver["outcome"], reason: CallOver["reason"], note?: string): void {
    state = { ...state, over: true };
    ending.end(leg, outcome, reason, note);
  }

  function close(): void {
    stopTimer();
    captioned.stop();
    bridged?.end();
    agent?.close();
    detector?.close();
  }

  function machineTold(told: "machine" | "machine_ready"): void {
    if (lines.voicemail === "") {
      agent?.stop();
      end("NO_ANSWER", "voicemail");
    } else if (leg) {
      happen({ type: told });
    } else if (machine !== "machine_ready") {
      machine = told;
    }
  }

  function fail(note: string): void {
    if (ending.isOver()) return;
    ending.note(note);
    try {
      agent?.stop();
      const text = messageOf(state.user);
      if (text !== "") agent?.carryOut({ type: "note", text }, state);
    } catch (err) {
      parts.log.error({ err }, "what was said last could not be stored");
    }
    end("ERROR", "failed");
  }

  return {
    ended: ending.ended.then(async (over) => {
      await reaching;
      return over;
    }),
    listener: {
      heard: contained((frame) => {
        if (ending.isOver()) return;
        // What is said to nobody is not recorded either.
        const isWaiting = !bridged && state.isTransferWarm && state.transferringSince !== null;
        parts.recorder?.heard(isWaiting ? SILENT_FRAME : frame);
        if (bridged) return bridged.hear(frame);
        // What is said on hold is for nobody.
        const isAway = isOnHold || isWaiting;
        // The other party may play music while it does not listen.
        agent?.hear(isAway ? null : frame);
        detector?.send(isAway ? SILENT_FRAME : frame);
      }),
      pressed: keysInTime(
        clock,
        contained((key) => happen({ type: "pressed", key })),
      ),
      held: (isHeld) => {
        isOnHold = isHeld;
        const queuedMs = durationMs(leg?.queuedSamples() ?? 0);
        happen(isHeld ? { type: "put_on_hold" } : { type: "taken_off_hold", queuedMs });
      },
      reached: contained((mark) => agent?.reached(mark)),
      // A leg that is transferred ends before the transfer is known to have succeeded.
      ended: () => (bridged ? endBridged(connectedTo) : transfer.whenSettled(() => happen({ type: "left" }))),
      sending: sendingOf({
        recorder: parts.recorder,
        background: (frame) => behindTools(sound?.(frame) ?? frame, frame === null ? waitingSound(state) : null),
      }),
    },
    connected: contained((given) => {
      leg = recordedLeg(given, parts.recorder);
      if (ending.isOver()) return void given.hangUp().catch(() => {});
      state = initialState(settings, clock.now());
      parts.recorder?.begin();
      agent = join({
        leg,
        signal: ending.signal,
        captioned,
        state: () => state,
        happen,
        note: ending.note,
        fail,
        contained,
      });
      detector = parts.detector.listen(
        contained((event) => {
          agent?.voice?.(event);
          happen(event);
        }),
      );
      captioned.follow(
        contained(() => {
          const heard = state.reply?.stage === "speaking" ? (agent?.heard() ?? "") : "";
          if (heard !== "") captioned.tell("agent", heard, false);
        }),
      );
      const isRejected = lines.rejection !== "";
      happen({ type: "connected", greets: machine === null && parts.greeting.trim() !== "", isRejected });
      if (machine) happen({ type: machine });
      if (isOnHold) happen({ type: "put_on_hold" });
    }),
    hangUp: (reason) => {
      if (bridged) endBridged(connectedTo);
      else happen({ type: "left", reason });
    },
    command: (command) => {
      if (!leg || ending.isOver() || bridged) return "The agent is not on the line with the user";
      if (state.transferringSince !== null) return "The user is being connected elsewhere";
      switch (command.$case) {
        case "say":
          happen({ type: "operator_says", text: command.value, next: "listen" });
          return null;
        case "mute":
          happen({ type: "muted", isMuted: command.value });
          agent?.mute?.(command.value);
          return null;
        case "inject":
          agent?.inform?.(command.value);
          return null;
        case "transfer":
          operatorTo = command.value;
          happen({ type: "operator_transfers" });
          return null;
        case "end": {
          const { message } = command.value;
          if (message.trim() === "") happen({ type: "operator_ends" });
          else happen({ type: "operator_says", text: message, next: "hang_up" });
          return null;
        }
      }
    },
    machineAnswered: () => machineTold("machine"),
    machineReady: () => machineTold("machine_ready"),
    fail,
  };
}

/** What the model is told of a person who was called. */
const TOLD: Readonly<Record<NotReached, (to: string, reason?: string) => string>> = {
  declined: (to) => `The transfer to ${to} was declined: the person does not take the call. ${BACK}`,
  no_answer: (to) => `The transfer to ${to} had no answer: nobody took the call. ${BACK}`,
  failed: (to, reason = "") =>
    `The transfer to ${to} failed: the person could not be called. ${reason === "" ? "" : `${reason}. `}${BACK}`,
};
const BACK = "The user is with you again and has waited. Say so, and go on.";

const transferred = counter("parley.calls.warm_transfers", "Transfers in which the person is called first, by outcome");

function nameOf({ reply }: TurnState): "listening" | "thinking" | "speaking" {
  if (!reply || reply.stage === "held") return "listening";
  return reply.stage;
}
