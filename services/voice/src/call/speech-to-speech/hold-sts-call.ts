import { codePoints } from "@parley/shared/length";
import { durationMs } from "../../audio/pcm.ts";
import type { ConverseOptions, SpeechToSpeech, SpokenConversation, SpokenTurnEvent } from "../../speech/sts.ts";
import type { Leg } from "../../transport/leg.ts";
import { DEAD_AIR_MS, MACHINE_MS, SILENT_CALL_MS, TRANSFER_MS, type TurnSettings } from "../../turn/settings.ts";
import type { DetectorStream } from "../../vad/detector.ts";
import { captions } from "../captions.ts";
import { type CallOver, type CommonParts, type HeldCall, NOTES, recordedLeg, sendingOf } from "../held-call.ts";
import { type Latency, type LatencyWatch, watchLatency } from "../latency.ts";
import type { Transcript } from "../transcript.ts";
import { transfers } from "../transfer.ts";
import { firstDue, type Timer } from "./first-due.ts";
import { pressedKeys } from "./keys.ts";
import { type Reply, replyOn } from "./reply.ts";
import { saidInOrder } from "./said.ts";
import { answerTool, LISTEN, type Next, type RunTool, type ToolCall } from "./tools.ts";
import { userOf } from "./user.ts";

/** What a call with a model that hears and speaks needs besides its leg. */
export interface StsCallParts extends Omit<CommonParts, "transcript"> {
  sts: SpeechToSpeech;
  conversing: Omit<ConverseOptions, "history" | "signal">;
  runTool: RunTool;
  transcript: Pick<Transcript, "append">;
  idle: TurnSettings["idle"];
}

/** How long the last words may take to begin once the model has decided to end the call. */
const FAREWELL_MS = 5_000;

/**
 * Holds a call with a speech-to-speech model, which takes turns by itself: plays what it says, stops when it hears the user, stores what
 * was heard, runs its tools, and ends the call when nothing can be heard anymore.
 */
export function holdStsCall(parts: StsCallParts): HeldCall {
  const { clock, lines, log } = parts;
  const over = new AbortController();
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<CallOver>();
  const said = saidInOrder(clock, ({ role, text, latency }) => parts.transcript.append(role, text, latency));
  const user = userOf(clock);
  const keys = pressedKeys(clock);
  const captioned = captions(clock, parts.watch);
  const due = firstDue(clock, timers, contained);
  const transfer = transfers(log, {
    succeeded: (to) => {
      notes = `Transferred to ${to}`;
      end("SUCCESS", "agent_ended");
    },
    failed: () => contained(transferFailed)(),
  });
  let leg: Leg | null = null;
  let talk: SpokenConversation | null = null;
  let detector: DetectorStream | null = null;
  let reply: Reply | null = null;
  let replies = 0;
  let next: Next = LISTEN;
  let toolsUnderWay = 0;
  /** Since when the model owes an answer; null if it owes none. */
  let owedSince: number | null = null;
  /** When the last queued audio of the reply will have been heard. */
  let soundUntil = 0;
  let quietSince = clock.now();
  let reminders = 0;
  let greeted = parts.greeting.trim() === "";
  let isApologizing = false;
  let transferringSince: number | null = null;
  let machine: { since: number; isReady: boolean } | null = null;
  /** Latency of the answer that the user waits for. */
  let latency: LatencyWatch | null = null;
  /** Latency of the reply that is being heard. */
  let measured: Latency | undefined;
  let notes: string | null = null;

  /** An exception in one call ends that call only. Every event may change what is due. */
  function contained<Given extends unknown[]>(work: (...given: Given) => void): (...given: Given) => void {
    return (...given) => {
      try {
        work(...given);
        if (leg && !over.signal.aborted) due.reset();
      } catch (err) {
        log.error({ err }, "a call failed unexpectedly");
        fail("An unexpected error");
      }
    };
  }

  /** The first that is due fires, and leads out of its state. */
  function timers(): Timer[] {
    const isQuiet =
      !reply && owedSince === null && !user.isSpeaking() && transferringSince === null && machine === null;
    const owedMs = next.after === "listen" ? DEAD_AIR_MS : FAREWELL_MS;
    return [
      [transferringSince && transferringSince + TRANSFER_MS, transferFailed],
      [machine && !machine.isReady ? machine.since + MACHINE_MS : null, leaveMessage],
      [reply && soundUntil + DEAD_AIR_MS, giveUp],
      [!reply && owedSince !== null ? owedSince + owedMs : null, () => (next.after === "listen" ? giveUp() : act())],
      [user.unheardUntil(), giveUp],
      [user.wordlessAt(), forgetUser],
      [keys.dueAt(), sendKeys],
      [isQuiet ? quietSince + (parts.idle?.afterMs ?? SILENT_CALL_MS) : null, remind],
    ];
  }

  function hear(event: SpokenTurnEvent): void {
    if (over.signal.aborted) return;
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
    if (machine || isApologizing) return;
    interrupt();
    user.begins();
    owedSince = null;
    said.userBegan();
    captioned.state("listening");
  }

  /** Stops the agent where it is: nothing of its reply is played afterwards. */
  function interrupt(): void {
    if (!reply) return;
    const { text, ms } = reply.heard();
    leg?.clear();
    talk?.interrupt(ms);
    next = LISTEN;
    greeted = true;
    finish(text);
  }

  function finish(text: string): void {
    reply = null;
    quietSince = clock.now();
    said.agent(text, measured);
    measured = undefined;
    if (text !== "") captioned.tell("agent", text, true);
    captioned.state("listening");
  }

  function userSaid(text: string): void {
    if (machine || isApologizing) return;
    said.user(text);
    captioned.tell("user", text, true);
    user.said();
    greeted = true;
    reminders = 0;
    quietSince = clock.now();
    if (!reply) owe();
  }

  function owe(): void {
    owedSince = clock.now();
    captioned.state("thinking");
  }

  function speak(event: Extract<SpokenTurnEvent, { type: "audio" | "text" }>): void {
    if (!leg || transferringSince !== null || (machine && !machine.isReady)) return;
    reply ??= begin(leg);
    user.stops();
    owedSince = null;
    if (event.type === "text") return void reply.text(event.text);
    if (reply.isSilent()) latency?.reach("firstAudioMs", clock.now());
    reply.play(event.audio);
    soundUntil = Math.max(clock.now(), soundUntil) + durationMs(event.audio.length);
  }

  function begin(on: Leg): Reply {
    soundUntil = clock.now();
    replies++;
    return replyOn(on, replies);
  }

  function replyDone(): void {
    if (reply) reply.done();
    else if (next.after !== "listen" && toolsUnderWay === 0 && owedSince === null) act();
  }

  function reached(mark: string): void {
    const what = reply?.reached(mark);
    if (what === "audible") {
      captioned.state("speaking");
      latency?.reach("audibleMs", clock.now());
      measured = latency?.figures();
      if (measured) parts.measured?.(measured);
      latency = null;
    }
    if (what !== "played" || !reply) return;
    greeted = true;
    finish(reply.whole());
    if (isApologizing) end("ERROR", "failed");
    else if (toolsUnderWay === 0 && owedSince === null) act();
  }

  async function runTool(call: ToolCall): Promise<void> {
    toolsUnderWay++;
    user.stops();
    const place = { messages: said.messages(), offset: codePoints(reply?.whole() ?? "") };
    const { result, next: decided } = await answerTool(parts.runTool, call, place, log);
    contained(() => {
      toolsUnderWay--;
      if (over.signal.aborted) return;
      if (decided) next = decided;
      talk?.answer(call.callId, result);
      owe();
    })();
  }

  /** Does what the model decided, once its last words have been heard. */
  function act(): void {
    const decided = next;
    next = LISTEN;
    owedSince = null;
    if (decided.after === "hang_up") end("SUCCESS", decided.reason);
    if (decided.after === "transfer") {
      transferringSince = clock.now();
      void transfer.begin(leg, decided.to);
    }
  }

  function transferFailed(): void {
    if (transferringSince === null || over.signal.aborted) return;
    transferringSince = null;
    say(lines.not_transferred);
  }

  function say(text: string): void {
    // It is no answer to the user, so it has no latency.
    latency = null;
    talk?.say(text);
    owe();
  }

  /** Stops waiting for words: what the model took for the user had none. */
  function forgetUser(): void {
    user.stops();
    quietSince = clock.now();
  }

  function remind(): void {
    if (reminders >= (parts.idle?.remindersMax ?? 0))
      return void end(user.hasSpoken() ? "SUCCESS" : "HUNG_UP_EARLY", "user_silent");
    reminders++;
    say(lines.reminder);
  }

  /** Nobody can be heard: apologizes and hangs up; if even that cannot be heard, hangs up at once. */
  function giveUp(): void {
    if (isApologizing) return void end("ERROR", "failed");
    isApologizing = true;
    user.isHeard();
    next = LISTEN;
    interrupt();
    say(lines.apology);
  }

  function sendKeys(): void {
    const text = `[Pressed ${keys.take()}]`;
    latency = null;
    interrupt();
    talk?.tell(text);
    userSaid(text);
  }

  function leaveMessage(): void {
    if (!machine || machine.isReady) return;
    machine.isReady = true;
    say(lines.voicemail);
    next = { after: "hang_up", reason: "left_message" };
  }

  function machineTold(isReady: boolean): void {
    if (lines.voicemail === "") {
      interrupt();
      return void end("NO_ANSWER", "voicemail");
    }
    interrupt();
    machine ??= { since: clock.now(), isReady: false };
    owedSince = null;
    if (isReady && leg) leaveMessage();
  }

  function end(outcome: CallOver["outcome"], reason: CallOver["reason"]): void {
    if (over.signal.aborted) return;
    const left = reply?.heard().text ?? "";
    if (reply) finish(left);
    said.end();
    over.abort();
    due.stop();
    captioned.stop();
    talk?.close();
    detector?.close();
    leg?.hangUp().catch((err) => log.warn({ err }, "a leg could not be hung up"));
    resolveEnded({ outcome, reason, notes: notes ?? NOTES[reason], endedAt: clock.now() });
  }

  function fail(note: string): void {
    notes ??= note;
    end("ERROR", "failed");
  }

  const left = contained(() =>
    end((greeted || user.hasSpoken()) && !machine ? "SUCCESS" : "HUNG_UP_EARLY", "user_left"),
  );

  /** Reports the words that have been heard so far, for captions. */
  const report = contained(() => {
    const text = captioned.isTold("speaking") ? (reply?.heard().text ?? "") : "";
    if (text !== "") captioned.tell("agent", text, false);
  });

  const voice = contained((event: { type: "speech_began" | "speech_ended"; agoMs: number }) => {
    const at = clock.now() - event.agoMs;
    if (event.type === "speech_began") return user.voiceBegins(at);
    const voice = user.voiceEnds(at);
    if (voice === null) return;
    latency = watchLatency(at);
    if (voice === "speech" && !reply && !user.isSpeaking() && owedSince === null) user.goesUnheard();
  });

  return {
    ended,
    listener: {
      heard: (frame) => {
        if (over.signal.aborted) return;
        parts.recorder?.heard(frame);
        // A machine's greeting needs no answer.
        if (!machine) talk?.send(frame);
        detector?.send(frame);
      },
      pressed: contained((key) => {
        if (machine || isApologizing) return;
        if (keys.press(key)) sendKeys();
      }),
      reached: contained(reached),
      sending: sendingOf(parts),
      // A leg that is transferred ends before the transfer is known to have succeeded.
      ended: () => transfer.whenSettled(left),
    },
    connected: contained((given) => {
      leg = recordedLeg(given, parts.recorder);
      if (over.signal.aborted) return void given.hangUp().catch(() => {});
      quietSince = clock.now();
      parts.recorder?.begin();
      talk = parts.sts.converse({ ...parts.conversing, history: said.history, signal: over.signal }, contained(hear));
      detector = parts.detector.listen(voice);
      captioned.follow(report);
      if (machine) machineTold(machine.isReady);
      else if (!greeted) say(parts.greeting);
    }),
    hangUp: left,
    machineAnswered: contained(() => machineTold(false)),
    machineReady: contained(() => machineTold(true)),
    fail,
  };
}
