import type { HandOver } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newId } from "@parley/shared/ids";
import { codePoints } from "@parley/shared/text/length";
import { durationMs } from "../../audio/pcm.ts";
import type { SpokenConversation, SpokenTurnEvent, Told } from "../../speech/sts.ts";
import type { CommonParts } from "../held-call.ts";
import type { AgentEffect, CallAgent, CallInProgress, Transferee } from "../hold-call.ts";
import { type Latency, type LatencyWatch, watchLatency } from "../latency.ts";
import type { Transcript } from "../transcript.ts";
import { stsEnvoy } from "../warm/sts-envoy.ts";
import { type Handover, handOverTo } from "./handover.ts";
import type { StsModel } from "./model.ts";
import { type Reply, replyOn } from "./reply.ts";
import { saidInOrder } from "./said.ts";
import { answerTool, notRun, type RunTool, type ToolCall } from "./tools.ts";

/** What an agent needs whose model hears, answers and speaks. */
export interface StsParts extends Pick<CommonParts, "lines" | "clock" | "log" | "measured"> {
  model: StsModel;
  /** The model of an agent that takes over. @throws ServiceError if it has none that can be had */
  modelOf(agentId: string): Promise<StsModel>;
  runTool: RunTool;
  transcript: Pick<Transcript, "append">;
  /** Sequence of the newest message before the call. */
  lastSequence: number;
}

const TAKEN_OVER = "You have taken over this conversation from another agent. Go on with it, and answer the user now.";
const LETS_KNOW = "A colleague who follows the conversation lets you know, without the user hearing it: ";
const HANDED_OVER = "The conversation is handed over to another agent already.";
const CANNOT_HAND_OVER =
  "This agent cannot take over the call. The conversation stays with you: answer the user yourself.";

/** The model takes turns by itself: what it does is reported to turn-taking, which decides what that means for the call. */
export function stsAgent(parts: StsParts, call: CallInProgress): CallAgent {
  const { clock, lines, log } = parts;
  const { leg, captioned, contained, happen } = call;
  const said = saidInOrder(clock, ({ role, text, startedAt, latency, byOperator }) =>
    parts.transcript.append(byOperator ? "operator" : role, text, latency, startedAt),
  );
  let reply: Reply | null = null;
  /** The reply that an operator had it say last. */
  let operatorsReply: number | null = null;
  /** Latency of the answer that the user waits for; null if the next reply does not answer the user. */
  let awaited: LatencyWatch | null = null;
  /** Since when the reply is being heard, and its latency. */
  let audibleSince: number | null = null;
  let latency: Latency | undefined;
  let transferTo: Omit<Transferee, "sendEnvoy"> = { phoneNumber: "", warm: undefined };
  /** It has pressed keys, which a machine answers, and may say nothing. */
  let mayBeSilent = false;
  let { model } = parts;
  let handover: Handover | "begins" | null = null;
  let sessions = 0;
  /** What operators have let the model know. Later connections, and models that take over, learn it too. */
  const informed: Told[] = [];
  let talk = open(model);

  /** @param from the number of the first message that the model learns of, if it takes over */
  function open({ sts, conversing }: StsModel, from?: number): SpokenConversation {
    sessions++;
    const session = sessions;
    const history = () => [...informed, ...said.history(from)];
    const opened = sts.converse(
      { ...conversing, history, continues: from !== undefined, signal: call.signal },
      contained((event) => {
        if (!call.signal.aborted && session === sessions) hear(event);
      }),
    );
    if (call.state().isMuted) opened.mute(true);
    return opened;
  }

  /** Whether the model goes on at once. A user who speaks is answered when they have finished. */
  function mayGoOn(): boolean {
    const { model, isMuted } = call.state();
    return model?.hearsSince === null && !isMuted;
  }

  function hear(event: SpokenTurnEvent): void {
    const passing = handover === "begins" ? null : handover;
    switch (event.type) {
      case "user_began":
        happen(event);
        said.userBegan();
        return void passing?.userBegan();
      case "user_said":
        happen(event);
        return void passing?.userSaid();
      case "audio":
      case "text":
        // A model that sends no sound has stalled, however often it does.
        if (event.type === "audio" && event.audio.length === 0) return;
        happen({ type: "speaks" });
        if (!passing?.speaks()) speak(event);
        return;
      case "tool_call":
        return void answerWithTool(event);
      case "done":
        done();
        return void passing?.goOn();
      case "failed":
        if (passing?.fails()) return;
        // It cannot apologize anymore.
        log.warn({ err: event.error }, "a speech-to-speech model failed");
        return void call.fail(event.error.detail);
    }
  }

  function speak(event: Extract<SpokenTurnEvent, { type: "audio" | "text" }>): void {
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
    const session = sessions;
    captioned.tool({ type: "tool_call", toolCallId, name, arguments: JSON.stringify(given ?? {}) });
    const rules = model.rulesOf(name);
    happen({ type: "tool_started", call: toolCallId, rules });
    const place = { messages: said.messages(), offset: codePoints(reply?.whole() ?? "") };
    const successorId = model.successorOf(name);
    const successor = successorId === null ? null : await prepare(successorId);
    const nextVersion = typeof successor === "string" ? undefined : successor?.agentVersion;
    const made = { ...toolCall, toolCallId, nextVersion };
    const { result, isError, next, hasPressed, handed } =
      typeof successor === "string"
        ? notRun(successor)
        : await answerTool(parts.runTool, made, place, rules.timeoutMs, { leg, log });
    captioned.tool({ type: "tool_result", toolCallId, result, isError });
    contained(() => {
      if (call.signal.aborted) return;
      if (handed && successor && typeof successor !== "string")
        return handOver(toolCallId, toolCall, successor, handed);
      if (successor && typeof successor !== "string") handover = null;
      mayBeSilent = hasPressed;
      if (next && "to" in next) transferTo = next.to;
      const asks = mayGoOn();
      happen({ type: "tool_ended", call: toolCallId, next: next?.after ?? null });
      if (session === sessions) talk.answer(toolCall.callId, result, asks);
      // Another model has taken over, and does not know the call.
      else talk.tell(`The tool ${name}, which the agent before you called, has answered: ${result}`, asks);
    })();
  }

  /** Gets the model of an agent before it takes over. @returns why it cannot, for the model that calls */
  async function prepare(agentId: string): Promise<StsModel | string> {
    if (handover) return HANDED_OVER;
    handover = "begins";
    try {
      return await parts.modelOf(agentId);
    } catch (err) {
      log.warn({ err, agent_id: agentId }, "an agent could not take over a call");
      handover = null;
      return CANNOT_HAND_OVER;
    }
  }

  function handOver(toolCallId: string, { callId }: ToolCall, successor: StsModel, handed: HandOver): void {
    const passing = handOverTo(successor, handed, {
      owesWords: said.owesWords,
      after: (ms, work) => clock.after(ms, contained(work)),
      say: (text, by) => {
        if (by === "first") talk.answer(callId, `Say exactly this to the user, and nothing else: ${text}`, true);
        else talk.say(text);
      },
      open: (next, { agentId, voiceAgentId, contextFrom }) => {
        const keepsVoice = voiceAgentId !== agentId && next.provider === model.provider;
        const { voiceId } = keepsVoice ? model.conversing : next.conversing;
        model = { ...next, conversing: { ...next.conversing, voiceId } };
        talk.close();
        // Its words end here, whether it said so or not.
        if (reply?.hasBegun()) reply.done();
        talk = open(model, Math.max(1, contextFrom - parts.lastSequence));
      },
      finish: () => {
        handover = null;
        const asks = mayGoOn();
        happen({ type: "tool_ended", call: toolCallId, next: null });
        if (asks) talk.tell(TAKEN_OVER);
      },
    });
    if (handover === "begins") handover = passing;
  }

  function carryOut(effect: AgentEffect): void {
    switch (effect.type) {
      case "expect":
        reply = replyOn(leg, effect.reply);
        return;
      case "say":
        awaited = null;
        reply = replyOn(leg, effect.reply);
        return void talk.say(effect.kind === "greeting" ? model.greeting : lines[effect.kind]);
      case "say_for":
        awaited = null;
        operatorsReply = effect.reply;
        reply = replyOn(leg, effect.reply);
        return void talk.say(effect.text);
      case "ask":
        awaited = null;
        reply = replyOn(leg, effect.reply);
        talk.tell(effect.text);
        return void note(effect.text);
      case "tell":
        awaited = null;
        reply = replyOn(leg, effect.reply);
        return void talk.tell(effect.text);
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
    said.agent(text, audibleSince, latency, reply !== null && reply.id === operatorsReply);
    reply = null;
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
    inform: (text) => {
      const note = `${LETS_KNOW}${text}`;
      informed.push({ role: "system", text: note });
      talk.inform(note);
    },
    mute: (isMuted) => talk.mute(isMuted),
    reached,
    stop: () => {
      if (reply?.hasBegun()) store(reply.heard().text);
    },
    heard: () => reply?.heard().text ?? "",
    transferTo: () => {
      const { sts, conversing } = model;
      return { ...transferTo, sendEnvoy: stsEnvoy.bind(null, { sts, conversing, record: said.history() }) };
    },
    close: () => {
      if (handover && handover !== "begins") handover.close();
      said.end();
      talk.close();
    },
  };
}
