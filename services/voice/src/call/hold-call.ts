import type { CallAction } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { durationMs, SILENT_FRAME } from "../audio/pcm.ts";
import type { ListenOptions, SpeechEvent, SpeechStream, SpeechToText } from "../speech/stt.ts";
import type { SpeakOptions, TextToSpeech } from "../speech/tts.ts";
import type { Leg } from "../transport/leg.ts";
import { isUnfinished } from "../turn/phrases.ts";
import type { TurnSettings } from "../turn/settings.ts";
import { type Effect, initialState, messageOf, type Next, type TurnEvent, type TurnState } from "../turn/state.ts";
import { dueAt, takeTurn } from "../turn/turn-taking.ts";
import type { DetectorStream } from "../vad/detector.ts";
import { type CallOver, containedIn, endingOf } from "./call-over.ts";
import { captions } from "./captions.ts";
import { type CommonParts, type HeldCall, keysInTime, recordedLeg, sendingOf } from "./held-call.ts";
import { type LatencyWatch, watchLatency } from "./latency.ts";
import { type Mouth, mouth } from "./mouth.ts";
import { roomOn } from "./queued-audio.ts";
import type { Answer, AnswerEvents } from "./transcript.ts";
import { transfers } from "./transfer.ts";

/** What a call needs besides its leg. */
export interface CallParts extends CommonParts {
  hearing: SpeechToText;
  listening: Omit<ListenOptions, "signal">;
  voice: TextToSpeech;
  speaking: Omit<SpeakOptions, "signal">;
  settings: TurnSettings;
}

/** Holds one call: carries out what turn-taking decides with the leg, the speech providers and the transcript. */
export function holdCall(parts: CallParts): HeldCall {
  const { clock, transcript, lines } = parts;
  const contained = containedIn(parts.log, fail);
  const ending = endingOf(clock, parts.log, close);
  const speaking = { ...parts.speaking };
  let state: TurnState = initialState(parts.settings, clock.now());
  let leg: Leg | null = null;
  let agent: Mouth | null = null;
  let answer: Answer | null = null;
  let latency: LatencyWatch | null = null;
  /** Since when the reply can be heard. */
  let audibleSince: number | null = null;
  let lastWordsAt = clock.now();
  let next: { after: Exclude<Next, "give_up">; phoneNumber: string } = { after: "listen", phoneNumber: "" };
  /** What the carrier reported about a machine before the leg existed. */
  let machine: "machine" | "machine_ready" | null = null;
  let isOnHold = false;
  let stopTimer = () => {};
  const captioned = captions(clock, parts.watch);
  const transfer = transfers(parts.log, {
    succeeded: (to) => {
      end("SUCCESS", "agent_ended", `Transferred to ${to}`);
    },
    failed: () => happen({ type: "transfer_failed" }),
  });

  // Opened when the other party is on the line, because a phone may ring for a long time.
  let hearing: SpeechStream | null = null;
  let detector: DetectorStream | null = null;

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
    switch (effect.type) {
      case "ask":
        return void ask(effect.reply, effect.text, before);
      case "say":
        agent?.begin(effect.reply);
        agent?.say(effect.kind === "greeting" ? parts.greeting : lines[effect.kind]);
        agent?.end();
        return;
      case "ask_patience":
        agent?.say(`${lines.delay} `);
        agent?.flush();
        return;
      case "hold":
        return void agent?.hold();
      case "resume":
        return void agent?.resume();
      case "interrupt":
      case "finish":
        return void store(agent?.stop() ?? "");
      case "finalize":
        return void hearing?.finalize();
      case "note":
        return void transcript.append("user", effect.text, undefined, before.user.startedAt);
      case "transfer":
        return void transfer.begin(leg, next.phoneNumber);
      case "hang_up":
        return void end(effect.outcome, effect.reason);
    }
  }

  function ask(reply: number, text: string, before: TurnState): void {
    const now = clock.now();
    const { silentSince, wordsAt, keysAt } = before.user;
    latency = watchLatency(keysAt ?? silentSince ?? wordsAt ?? now);
    latency.reach("transcriptMs", lastWordsAt);
    latency.reach("endOfTurnMs", now);
    if (!parts.settings.endsTurns && keysAt === null && isUnfinished(text)) latency.isUnfinished();
    next = { after: "listen", phoneNumber: "" };
    agent?.begin(reply);
    captioned.tell("user", text, true);
    const events: AnswerEvents = {
      text: contained((words) => {
        latency?.reach("firstWordMs", clock.now());
        agent?.say(words);
      }),
      action: contained(act),
      complete: contained(() => {
        happen({ type: "answered", reply, next: next.after });
        agent?.end();
      }),
      failed: (error) => {
        parts.log.warn({ err: error }, "an answer failed");
        ending.note(error.detail);
        happen({ type: "failed", reply });
      },
      delayed: () => happen({ type: "delayed", reply }),
    };
    answer = transcript.ask(text, events, before.user.startedAt);
  }

  function act(action: NonNullable<CallAction["action"]>): void {
    if (action.$case === "endCall") next = { ...next, after: "hang_up" };
    if (action.$case === "transferCall") next = { after: "transfer", phoneNumber: action.value.phoneNumber };
    if (action.$case === "setLanguage") {
      speaking.language = action.value.language;
      hearing?.setLanguage(action.value.language);
    }
  }

  /** Stores what was heard of the reply that is over. */
  function store(heard: string): void {
    if (answer) {
      const figures = latency?.figures() ?? {};
      answer.settle(heard, figures, audibleSince);
      if (figures.audibleMs !== undefined) parts.measured?.(figures);
    } else {
      transcript.append("assistant", heard, undefined, audibleSince);
    }
    if (heard !== "") captioned.tell("agent", heard, true);
    answer = null;
    latency = null;
    audibleSince = null;
  }

  function end(outcome: CallOver["outcome"], reason: CallOver["reason"], note?: string): void {
    state = { ...state, over: true };
    ending.end(leg, outcome, reason, note);
  }

  function close(): void {
    stopTimer();
    captioned.stop();
    hearing?.close();
    detector?.close();
  }

  const recognized = contained((event: SpeechEvent) => {
    if (event.type === "failed") {
      ending.note(event.error.detail);
      return void happen({ type: "recognition_failed" });
    }
    if (event.type === "partial" || event.type === "final") lastWordsAt = clock.now();
    tellUser(event);
  });

  /** Handles something from the user that may change the captions. */
  function tellUser(event: TurnEvent): void {
    const before = messageOf(state.user);
    happen(event);
    const text = messageOf(state.user);
    if (text !== before && text !== "") captioned.tell("user", text, false);
  }

  function machineTold(told: "machine" | "machine_ready"): void {
    if (lines.voicemail === "") {
      if (agent) store(agent.stop());
      end("NO_ANSWER", "voicemail");
    } else if (leg) {
      happen({ type: told });
    } else if (machine !== "machine_ready") {
      machine = told;
    }
  }

  /** Reports what is heard while it is heard, for captions, and so that it survives this process. */
  const report = contained(() => {
    if (state.reply?.stage !== "speaking" || !agent) return;
    const heard = agent.heard();
    answer?.hear(heard);
    if (heard !== "") captioned.tell("agent", heard, false);
  });

  function fail(note: string): void {
    if (ending.isOver()) return;
    ending.note(note);
    try {
      store(agent?.stop() ?? "");
      transcript.append("user", messageOf(state.user), undefined, state.user.startedAt);
    } catch (err) {
      parts.log.error({ err }, "what was said last could not be stored");
    }
    end("ERROR", "failed");
  }

  return {
    ended: ending.ended,
    listener: {
      heard: contained((frame) => {
        if (ending.isOver()) return;
        parts.recorder?.heard(frame);
        // The other party may play music while it does not listen.
        const meant = isOnHold ? SILENT_FRAME : frame;
        hearing?.send(meant);
        detector?.send(meant);
      }),
      pressed: keysInTime(
        clock,
        contained((key) => {
          lastWordsAt = clock.now();
          tellUser({ type: "pressed", key });
        }),
      ),
      held: (isHeld) => {
        isOnHold = isHeld;
        const queuedMs = durationMs(leg?.queuedSamples() ?? 0);
        happen(isHeld ? { type: "put_on_hold" } : { type: "taken_off_hold", queuedMs });
      },
      reached: contained((mark) => agent?.reached(mark)),
      // A leg that is transferred ends before the transfer is known to have succeeded.
      ended: () => transfer.whenSettled(() => happen({ type: "left" })),
      sending: sendingOf(parts),
    },
    connected: contained((given) => {
      leg = given;
      agent = mouth({
        leg: recordedLeg(given, parts.recorder),
        voice: parts.voice,
        options: () => speaking,
        room: (signal) => roomOn(given, clock, signal),
        events: {
          worded: (reply) => happen({ type: "worded", reply }),
          sound: (reply, ms) => happen({ type: "sound", reply, ms }),
          firstAudio: () => latency?.reach("firstAudioMs", clock.now()),
          audible: () => {
            audibleSince ??= clock.now();
            latency?.reach("audibleMs", clock.now());
          },
          played: (reply) => happen({ type: "played", reply }),
          failed: (reply) => happen({ type: "failed", reply }),
        },
      });
      if (ending.isOver()) return void given.hangUp().catch(() => {});
      state = initialState(parts.settings, clock.now());
      parts.recorder?.begin();
      hearing = parts.hearing.listen({ ...parts.listening, signal: ending.signal }, recognized);
      detector = parts.detector.listen(happen);
      captioned.follow(report);
      happen({ type: "connected", greets: machine === null && parts.greeting.trim() !== "" });
      if (machine) happen({ type: machine });
      if (isOnHold) happen({ type: "put_on_hold" });
    }),
    hangUp: () => {
      happen({ type: "left" });
    },
    machineAnswered: () => machineTold("machine"),
    machineReady: () => machineTold("machine_ready"),
    fail,
  };
}

function nameOf({ reply }: TurnState): "listening" | "thinking" | "speaking" {
  if (!reply || reply.stage === "held") return "listening";
  return reply.stage;
}
