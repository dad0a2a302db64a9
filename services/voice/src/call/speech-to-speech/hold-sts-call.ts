import { SILENT_FRAME } from "../../audio/pcm.ts";
import type { ConverseOptions, SpeechToSpeech, SpokenConversation, SpokenTurnEvent } from "../../speech/sts.ts";
import type { Leg } from "../../transport/leg.ts";
import { DEAD_AIR_MS, SILENT_CALL_MS, TRANSFER_MS, type TurnSettings } from "../../turn/settings.ts";
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
import { pendingOf } from "./pending.ts";
import { saidInOrder } from "./said.ts";
import { silenceOf } from "./silence.ts";
import { answerTool, LISTEN, type RunTool, type ToolCall } from "./tools.ts";
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
    if (leg && !ending.isOver()) due.reset();
  });
  const ending = endingOf(clock, log, close);
  const said = saidInOrder(clock, ({ role, text, latency }) => parts.transcript.append(role, text, latency));
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
  let leg: Leg | null = null;
  let talk: SpokenConversation | null = null;
  let detector: DetectorStream | null = null;
  let greeted = parts.greeting.trim() === "";
  let isApologizing = false;
  let transferringSince: number | null = null;
  let onHoldSince: number | null = null;

  /** The timer that is due first fires, and changes the state that it waits in. */
  function timers(): Timer[] {
    if (onHoldSince !== null && transferringSince === null) return [[onHoldSince + SILENT_CALL_MS, leaveSilentUser]];
    const queuedUntil = agent.queuedUntil();
    const isSilent = queuedUntil === null;
    const isQuiet =
      isSilent && !pending.isOwed() && !user.isSpeaking() && transferringSince === null && !machine.isThere();
    return [
      [transferringSince && transferringSince + TRANSFER_MS, transferFailed],
      [machine.readyAt(), leaveMessage],
      [isSilent ? null : queuedUntil + DEAD_AIR_MS, giveUp],
      [isSilent ? pending.overdueAt() : null, () => (pending.listens() ? giveUp() : act())],
      [user.unheardUntil(), giveUp],
      [user.wordlessAt(), forgetUser],
      [keys.dueAt(), sendKeys],
      [isQuiet ? silence.dueAt() : null, remind],
    ];
  }

  function hear(event: SpokenTurnEvent): void {
    // A model that sends no sound has stalled, however often it does.
    if (ending.isOver() || (event.type === "audio" && event.audio.length === 0)) return;
    user.isHeard();
    switch (event.type) {
      case "user_began":
        return void userBegan();
      case "user_said":
        return void userSaid(event.text);
      case "audio":
      case "text":
        return void speak(event);
      case "tool_call":
        return void runTool(event);
      case "done":
        return void replyDone();
      case "failed":
        // It cannot apologize anymore.
        log.warn({ err: event.error }, "a speech-to-speech model failed");
        return void fail(event.error.detail);
    }
  }

  function userBegan(): void {
    if (machine.isThere() || isApologizing) return;
    interrupt();
    user.begins();
    pending.settle();
    said.userBegan();
    captioned.state("listening");
  }

  /** Stops the agent where it is: nothing of its reply is played afterwards. */
  function interrupt(): void {
    const heardMs = agent.stop();
    if (heardMs === null) return;
    leg?.clear();
    talk?.interrupt(heardMs);
    pending.decide(LISTEN);
    greeted = true;
    silence.begins();
  }

  function userSaid(text: string): void {
    if (machine.isThere() || isApologizing) return;
    said.user(text);
    captioned.tell("user", text, true);
    user.said();
    greeted = true;
    silence.userSpoke();
    if (!agent.isSpeaking()) owe();
  }

  function owe(): void {
    pending.owe();
    captioned.state("thinking");
  }

  function speak(event: Extract<SpokenTurnEvent, { type: "audio" | "text" }>): void {
    if (!leg || transferringSince !== null || machine.isGreeting()) return;
    user.stops();
    pending.settle();
    agent.speak(leg, event);
  }

  function replyDone(): void {
    if (agent.isSpeaking()) agent.done();
    else if (!pending.listens() && pending.isClear()) act();
  }

  function reached(mark: string): void {
    if (!agent.reached(mark)) return;
    greeted = true;
    silence.begins();
    if (isApologizing) end("ERROR", "failed");
    else if (pending.isClear()) act();
  }

  async function runTool(call: ToolCall): Promise<void> {
    pending.toolBegins();
    user.stops();
    const place = { messages: said.messages(), offset: agent.offset() };
    const { result, next: decided } = await answerTool(parts.runTool, call, place, log);
    contained(() => {
      pending.toolEnds(decided);
      if (ending.isOver()) return;
      talk?.answer(call.callId, result);
      owe();
    })();
  }

  /** Does what the model decided, once its last words have been heard. */
  function act(): void {
    const decided = pending.take();
    if (decided.after === "hang_up") end("SUCCESS", decided.reason);
    if (decided.after === "transfer") {
      transferringSince = clock.now();
      void transfer.begin(leg, decided.to);
    }
  }

  function transferFailed(): void {
    if (transferringSince === null || ending.isOver()) return;
    transferringSince = null;
    say(lines.not_transferred);
  }

  function say(text: string): void {
    agent.awaitedSince(null);
    talk?.say(text);
    owe();
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
    if (leg) agent.continues(leg);
  }

  /** Neither side can hear the other: apologizes and hangs up; if even that cannot be heard, hangs up at once. */
  function giveUp(): void {
    if (isApologizing) return void end("ERROR", "failed");
    isApologizing = true;
    user.isHeard();
    pending.decide(LISTEN);
    interrupt();
    say(lines.apology);
  }

  function sendKeys(): void {
    const text = `[Pressed ${keys.take()}]`;
    agent.awaitedSince(null);
    interrupt();
    talk?.tell(text);
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
    if (leg && machine.isReady()) leaveMessage();
  }

  function end(outcome: CallOver["outcome"], reason: CallOver["reason"], note?: string): void {
    if (ending.isOver()) return;
    agent.stop();
    said.end();
    ending.end(leg, outcome, reason, note);
  }

  function close(): void {
    due.stop();
    captioned.stop();
    talk?.close();
    detector?.close();
  }

  function fail(note: string): void {
    ending.note(note);
    end("ERROR", "failed");
  }

  const left = contained(() =>
    end((greeted || user.hasSpoken()) && !machine.isThere() ? "SUCCESS" : "HUNG_UP_EARLY", "user_left"),
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
        if (!machine.isThere() && onHoldSince === null) talk?.send(frame);
        detector?.send(onHoldSince === null ? frame : SILENT_FRAME);
      },
      pressed: keysInTime(
        clock,
        contained((key) => {
          if (machine.isThere() || isApologizing) return;
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
      leg = recordedLeg(given, parts.recorder);
      if (ending.isOver()) return void given.hangUp().catch(() => {});
      silence.begins();
      parts.recorder?.begin();
      talk = parts.sts.converse({ ...parts.conversing, history: said.history, signal: ending.signal }, contained(hear));
      detector = parts.detector.listen(voice);
      captioned.follow(contained(agent.report));
      if (machine.isThere()) machineTold(machine.isReady());
      else if (!greeted) say(parts.greeting);
    }),
    hangUp: left,
    machineAnswered: contained(() => machineTold(false)),
    machineReady: contained(() => machineTold(true)),
    fail,
  };
}
