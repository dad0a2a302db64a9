import { SILENT_FRAME } from "../../audio/pcm.ts";
import type { ConverseOptions, SpeechToSpeech } from "../../speech/sts.ts";
import { SILENT_CALL_MS, TRANSFER_MS, type TurnSettings } from "../../turn/settings.ts";
import type { DetectorStream } from "../../vad/detector.ts";
import { type CallOver, containedIn, endingOf } from "../call-over.ts";
import { captions } from "../captions.ts";
import { type CommonParts, type HeldCall, keysInTime, recordedLeg, sendingOf } from "../held-call.ts";
import type { Transcript } from "../transcript.ts";
import { transfers } from "../transfer.ts";
import { agentOf } from "./agent.ts";
import { firstDue, type Timer } from "./first-due.ts";
import { pressedKeys } from "./keys.ts";
import { machineOf } from "./machine.ts";
import { modelEvents, type StsLine } from "./model-events.ts";
import { pendingOf } from "./pending.ts";
import { saidInOrder } from "./said.ts";
import { silenceOf } from "./silence.ts";
import { LISTEN, type RunTool } from "./tools.ts";
import { userOf } from "./user.ts";

/** What a call with a model that hears and speaks needs besides its leg. */
export interface StsCallParts extends Omit<CommonParts, "transcript"> {
  sts: SpeechToSpeech;
  conversing: Omit<ConverseOptions, "history" | "signal">;
  runTool: RunTool;
  transcript: Pick<Transcript, "append">;
  idle: TurnSettings["idle"];
}

/**
 * Holds a call with a speech-to-speech model, which takes turns by itself: plays what it says, stops when it hears the user, stores what
 * was heard, runs its tools, and ends the call when nothing can be heard anymore.
 */
export function holdStsCall(parts: StsCallParts): HeldCall {
  const { clock, lines, log } = parts;
  // Every event may change what is due.
  const contained = containedIn(log, fail, () => {
    if (line.leg && !ending.isOver()) due.reset();
  });
  const ending = endingOf(clock, log, close);
  const said = saidInOrder(clock, ({ role, text, startedAt, latency }) =>
    parts.transcript.append(role, text, latency, startedAt),
  );
  const user = userOf(clock);
  const keys = pressedKeys(clock);
  const captioned = captions(clock, parts.watch);
  const agent = agentOf(clock, said, captioned, parts.measured);
  const pending = pendingOf(clock);
  const silence = silenceOf(clock, parts.idle);
  const machine = machineOf(clock);
  const due = firstDue(clock, timers, contained);
  const transfer = transfers(log, {
    succeeded: (to) => {
      end("SUCCESS", "agent_ended", `Transferred to ${to}`);
    },
    failed: () => contained(transferFailed)(),
  });
  const line: StsLine = {
    leg: null,
    talk: null,
    greeted: parts.greeting.trim() === "",
    isApologizing: false,
    transferringSince: null,
  };
  let detector: DetectorStream | null = null;
  let onHoldSince: number | null = null;
  const { hear, userSaid } = modelEvents(
    { line, said, user, agent, pending, silence, machine, captioned, ending, log, runTool: parts.runTool },
    { interrupt, owe, act, fail, contained },
  );

  /** The timer that is due first fires, and changes the state that it waits in. */
  function timers(): Timer[] {
    if (onHoldSince !== null && line.transferringSince === null)
      return [[onHoldSince + SILENT_CALL_MS, leaveSilentUser]];
    const queuedUntil = agent.queuedUntil();
    const isSilent = queuedUntil === null;
    const isQuiet =
      isSilent && !pending.isOwed() && !user.isSpeaking() && line.transferringSince === null && !machine.isThere();
    return [
      [line.transferringSince && line.transferringSince + TRANSFER_MS, transferFailed],
      [machine.readyAt(), leaveMessage],
      [isSilent ? null : queuedUntil + pending.patienceMs(), giveUp],
      [isSilent ? pending.overdueAt() : null, () => (pending.listens() ? giveUp() : act())],
      [user.unheardUntil(), giveUp],
      [user.wordlessAt(), forgetUser],
      [keys.dueAt(), sendKeys],
      [isQuiet ? silence.dueAt() : null, remind],
    ];
  }

  /** Stops the agent where it is: nothing of its reply is played afterwards. */
  function interrupt(): void {
    const heardMs = agent.stop();
    if (heardMs === null) return;
    line.leg?.clear();
    line.talk?.interrupt(heardMs);
    pending.decide(LISTEN);
    line.greeted = true;
    silence.begins();
  }

  function owe(): void {
    pending.owe();
    captioned.state("thinking");
  }

  function reached(mark: string): void {
    if (!agent.reached(mark)) return;
    line.greeted = true;
    silence.begins();
    if (line.isApologizing) end("ERROR", "failed");
    else if (pending.isClear()) act();
  }

  /** Does what the model decided, once its last words have been heard. */
  function act(): void {
    const decided = pending.take();
    if (decided.after === "hang_up") end("SUCCESS", decided.reason);
    if (decided.after === "transfer") {
      line.transferringSince = clock.now();
      void transfer.begin(line.leg, decided.to);
    }
  }

  function transferFailed(): void {
    if (line.transferringSince === null || ending.isOver()) return;
    line.transferringSince = null;
    say(lines.not_transferred);
  }

  function say(text: string): void {
    agent.awaitedSince(null);
    line.talk?.say(text);
    owe();
  }

  function apologize(): void {
    say(lines.apology);
    pending.oweApology();
  }

  /** Stops waiting for words: what the model took for the user had none. */
  function forgetUser(): void {
    user.stops();
    silence.begins();
  }

  function remind(): void {
    if (silence.reminds()) say(lines.reminder);
    else leaveSilentUser();
  }

  function leaveSilentUser(): void {
    end(user.hasSpoken() ? "SUCCESS" : "HUNG_UP_EARLY", "user_silent");
  }

  /** On hold, nobody hears the agent, and it hears no music. */
  function held(isOnHold: boolean): void {
    onHoldSince = isOnHold ? clock.now() : null;
    if (isOnHold) return;
    silence.begins();
    if (pending.isOwed()) pending.owe();
    user.stops();
    user.isHeard();
    if (line.leg) agent.continues(line.leg);
  }

  /** Neither side can hear the other: apologizes and hangs up; if even that cannot be heard, hangs up at once. */
  function giveUp(): void {
    if (line.isApologizing) return void end("ERROR", "failed");
    line.isApologizing = true;
    user.isHeard();
    pending.decide(LISTEN);
    interrupt();
    apologize();
  }

  function sendKeys(): void {
    const text = `[Pressed ${keys.take()}]`;
    agent.awaitedSince(null);
    interrupt();
    line.talk?.tell(text);
    userSaid(text);
  }

  function leaveMessage(): void {
    if (!machine.takesMessage()) return;
    say(lines.voicemail);
    pending.decide({ after: "hang_up", reason: "left_message" });
  }

  function machineTold(isReady: boolean): void {
    if (lines.voicemail === "") {
      interrupt();
      return void end("NO_ANSWER", "voicemail");
    }
    interrupt();
    machine.answers(isReady);
    pending.settle();
    if (line.leg && machine.isReady()) leaveMessage();
  }

  function end(outcome: CallOver["outcome"], reason: CallOver["reason"], note?: string): void {
    if (ending.isOver()) return;
    agent.stop();
    said.end();
    ending.end(line.leg, outcome, reason, note);
  }

  function close(): void {
    due.stop();
    captioned.stop();
    line.talk?.close();
    detector?.close();
  }

  function fail(note: string): void {
    ending.note(note);
    end("ERROR", "failed");
  }

  const left = contained(() =>
    end((line.greeted || user.hasSpoken()) && !machine.isThere() ? "SUCCESS" : "HUNG_UP_EARLY", "user_left"),
  );

  const voice = contained((event: { type: "speech_began" | "speech_ended"; agoMs: number }) => {
    const at = clock.now() - event.agoMs;
    if (event.type === "speech_began") return user.voiceBegins(at);
    const voice = user.voiceEnds(at);
    if (voice === null) return;
    agent.awaitedSince(at);
    if (voice === "speech" && !agent.isSpeaking() && !user.isSpeaking() && !pending.isOwed()) user.goesUnheard();
  });

  return {
    ended: ending.ended,
    listener: {
      heard: (frame) => {
        if (ending.isOver()) return;
        parts.recorder?.heard(frame);
        // A machine's greeting needs no answer, nor does the music of a call on hold.
        if (!machine.isThere() && onHoldSince === null) line.talk?.send(frame);
        detector?.send(onHoldSince === null ? frame : SILENT_FRAME);
      },
      pressed: keysInTime(
        clock,
        contained((key) => {
          if (machine.isThere() || line.isApologizing) return;
          if (keys.press(key)) sendKeys();
        }),
      ),
      held: contained(held),
      reached: contained(reached),
      sending: sendingOf(parts),
      // A leg that is transferred ends before the transfer is known to have succeeded.
      ended: () => transfer.whenSettled(left),
    },
    connected: contained((given) => {
      line.leg = recordedLeg(given, parts.recorder);
      if (ending.isOver()) return void given.hangUp().catch(() => {});
      silence.begins();
      parts.recorder?.begin();
      line.talk = parts.sts.converse(
        { ...parts.conversing, history: said.history, signal: ending.signal },
        contained(hear),
      );
      detector = parts.detector.listen(voice);
      captioned.follow(contained(agent.report));
      if (machine.isThere()) machineTold(machine.isReady());
      else if (!line.greeted) say(parts.greeting);
    }),
    hangUp: left,
    machineAnswered: contained(() => machineTold(false)),
    machineReady: contained(() => machineTold(true)),
    fail,
  };
}
