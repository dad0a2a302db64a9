import { newId } from "@parley/shared/ids";
import { codePoints } from "@parley/shared/text/length";
import { durationMs } from "../../audio/pcm.ts";
import type { ConverseOptions, SpeechToSpeech, SpokenTurnEvent } from "../../speech/sts.ts";
import type { ToolRules } from "../../turn/events.ts";
import type { CommonParts } from "../held-call.ts";
import type { AgentEffect, CallAgent, CallInProgress } from "../hold-call.ts";
import { type Latency, type LatencyWatch, watchLatency } from "../latency.ts";
import type { Transcript } from "../transcript.ts";
import { type Reply, replyOn } from "./reply.ts";
import { saidInOrder } from "./said.ts";
import { answerTool, type RunTool, type ToolCall } from "./tools.ts";

/** What an agent needs whose model hears, answers and speaks. */
export interface StsParts extends Pick<CommonParts, "greeting" | "lines" | "clock" | "log" | "measured"> {
  sts: SpeechToSpeech;
  conversing: Omit<ConverseOptions, "history" | "signal">;
  /** How the call waits for a tool. */
  rulesOf(name: string): ToolRules;
  runTool: RunTool;
  transcript: Pick<Transcript, "append">;
}

/** The model takes turns by itself: what it does is reported to turn-taking, which decides what that means for the call. */
export function stsAgent(parts: StsParts, call: CallInProgress): CallAgent {
  const { clock, lines, log } = parts;
  const { leg, captioned, contained, happen } = call;
  const said = saidInOrder(clock, ({ role, text, startedAt, latency }) =>
    parts.transcript.append(role, text, latency, startedAt),
  );
  let reply: Reply | null = null;
  /** Latency of the answer that the user waits for; null if the next reply does not answer the user. */
  let awaited: LatencyWatch | null = null;
  /** Since when the reply is being heard, and its latency. */
  let audibleSince: number | null = null;
  let latency: Latency | undefined;
  let transferTo = "";
  /** It has pressed keys, which a machine answers, and may say nothing. */
  let mayBeSilent = false;
  const talk = parts.sts.converse(
    { ...parts.conversing, history: said.history, signal: call.signal },
    contained((event) => {
      if (!call.signal.aborted) hear(event);
    }),
  );

  function hear(event: SpokenTurnEvent): void {
    switch (event.type) {
      case "user_began":
        happen(event);
        return void said.userBegan();
      case "user_said":
        return void happen(event);
      case "audio":
      case "text":
        return void speak(event);
      case "tool_call":
        return void answerWithTool(event);
      case "done":
        return void done();
      case "failed":
        // It cannot apologize anymore.
        log.warn({ err: event.error }, "a speech-to-speech model failed");
        return void call.fail(event.error.detail);
    }
  }

  function speak(event: Extract<SpokenTurnEvent, { type: "audio" | "text" }>): void {
    // A model that sends no sound has stalled, however often it does.
    if (event.type === "audio" && event.audio.length === 0) return;
    happen({ type: "speaks" });
    if (!reply) return;
    if (event.type === "text") return void reply.text(event.text);
    if (reply.isSilent()) awaited?.reach("firstAudioMs", clock.now());
    reply.play(event.audio);
    happen({ type: "sound", reply: reply.id, ms: durationMs(event.audio.length) });
  }

  function done(): void {
    // Words without sound are over at once.
    const isOver = reply?.hasBegun() || mayBeSilent;
    mayBeSilent = false;
    if (reply && isOver && reply.isSilent()) happen({ type: "sound", reply: reply.id, ms: 0 });
    happen({ type: "done" });
    if (reply?.hasBegun()) reply.done();
    else if (reply && isOver) happen({ type: "played", reply: reply.id });
  }

  async function answerWithTool(toolCall: ToolCall): Promise<void> {
    // Models repeat their own ids.
    const toolCallId = newId("tcl");
    const { name, arguments: given } = toolCall;
    captioned.tool({ type: "tool_call", toolCallId, name, arguments: JSON.stringify(given ?? {}) });
    const rules = parts.rulesOf(toolCall.name);
    happen({ type: "tool_started", call: toolCallId, rules });
    const place = { messages: said.messages(), offset: codePoints(reply?.whole() ?? "") };
    const hands = { leg, log };
    const called = { ...toolCall, toolCallId };
    const { result, isError, next, hasPressed } = await answerTool(
      parts.runTool,
      called,
      place,
      rules.timeoutMs,
      hands,
    );
    captioned.tool({ type: "tool_result", toolCallId, result, isError });
    contained(() => {
      if (call.signal.aborted) return;
      mayBeSilent = hasPressed;
      if (next?.after === "transfer") transferTo = next.to;
      // A user who speaks is answered when they have finished, with the result.
      const asks = call.state().model?.hearsSince === null;
      happen({ type: "tool_ended", call: toolCallId, next: next?.after ?? null });
      talk.answer(toolCall.callId, result, asks);
    })();
  }

  function carryOut(effect: AgentEffect): void {
    switch (effect.type) {
      case "expect":
        reply = replyOn(leg, effect.reply);
        return;
      case "say":
        awaited = null;
        reply = replyOn(leg, effect.reply);
        return void talk.say(effect.kind === "greeting" ? parts.greeting : lines[effect.kind]);
      case "ask":
        awaited = null;
        reply = replyOn(leg, effect.reply);
        talk.tell(effect.text);
        return void note(effect.text);
      case "note":
        return void note(effect.text);
      case "fill":
        return void talk.say(effect.text);
      case "answer_results":
        reply = replyOn(leg, effect.reply);
        return void talk.ask();
      case "interrupt":
        return void interrupt();
      case "finish":
        return void store(reply?.whole() ?? "");
      case "finalize":
      case "hold":
      case "resume":
      case "ask_patience":
      case "cancel_tool":
      case "tell":
      // No tool that it can call is cancelled, and the model takes turns by itself, so turn-taking decides none of these.
    }
  }

  function note(text: string): void {
    said.user(text);
    captioned.tell("user", text, true);
  }

  /** Nothing of the reply is played afterwards, and the model learns how much was heard. */
  function interrupt(): void {
    if (!reply?.hasBegun()) {
      reply = null;
      return;
    }
    const { text, ms } = reply.heard();
    store(text);
    leg.clear();
    talk.interrupt(ms);
  }

  function store(text: string): void {
    reply = null;
    said.agent(text, audibleSince, latency);
    audibleSince = null;
    latency = undefined;
    if (text !== "") captioned.tell("agent", text, true);
  }

  function reached(mark: string): void {
    const what = reply?.reached(mark);
    if (what === "audible") audible();
    if (what === "played" && reply) happen({ type: "played", reply: reply.id });
  }

  function audible(): void {
    audibleSince = clock.now();
    awaited?.reach("audibleMs", clock.now());
    latency = awaited?.figures();
    if (latency) parts.measured?.(latency);
    awaited = null;
  }

  return {
    carryOut,
    hear: (frame) => {
      // A machine's greeting needs no answer, nor does the music of a call on hold.
      if (frame && call.state().machine === null) talk.send(frame);
    },
    voice: ({ type, agoMs }) => {
      if (type === "speech_ended" && call.state().model?.voiceSince !== null)
        awaited = watchLatency(clock.now() - agoMs);
    },
    reached,
    stop: () => {
      if (reply?.hasBegun()) store(reply.heard().text);
    },
    heard: () => reply?.heard().text ?? "",
    transferTo: () => ({ phoneNumber: transferTo, warm: undefined, voice: null }),
    close: () => {
      said.end();
      talk.close();
    },
  };
}
