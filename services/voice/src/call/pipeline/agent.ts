import type { CallAction, ToolNews, ToolStarted } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { SILENT_FRAME } from "../../audio/pcm.ts";
import type { SpeechEvent } from "../../speech/stt.ts";
import type { Decision } from "../../turn/events.ts";
import { isUnfinished } from "../../turn/phrases.ts";
import type { TurnState } from "../../turn/state.ts";
import type { CommonParts } from "../held-call.ts";
import type { AgentEffect, CallAgent, CallInProgress, Transferee } from "../hold-call.ts";
import { type LatencyWatch, watchLatency } from "../latency.ts";
import { roomOn } from "../queued-audio.ts";
import { pressKeys } from "../tools/press-keys.ts";
import type { Answer, AnswerEvents, Transcript } from "../transcript.ts";
import { pipelineEnvoy } from "../warm/pipeline-envoy.ts";
import type { Ears } from "../warm/utterances.ts";
import { mouth, type Voice } from "./mouth.ts";

/** What an agent needs that hears with one model, answers with another and speaks with a third. */
interface PipelineParts
  extends Ears,
    Pick<CommonParts, "greeting" | "lines" | "clock" | "log" | "measured" | "clients"> {
  voice: Voice;
  agentId: string;
  /** The voice of another agent's version, and the language that its users speak. @throws if it has none */
  voiceOf(agentId: string, agentVersion: number | undefined): Promise<{ voice: Voice; language: string | undefined }>;
  transcript: Transcript;
  /** Asks the agent's model about the conversation so far. */
  askModel(instruction: string): Promise<string>;
}

const LISTEN = { after: "listen", to: { phoneNumber: "", warm: undefined } } as const;

export function pipelineAgent(parts: PipelineParts, call: CallInProgress): CallAgent {
  const { clock, transcript, lines } = parts;
  const { leg, captioned, contained, happen } = call;
  let { voice, agentId: voiceAgentId } = parts;
  /** That the model has set for the call. */
  let language: string | undefined;
  let answer: Answer | null = null;
  let latency: LatencyWatch | null = null;
  /** Since when the reply can be heard. */
  let audibleSince: number | null = null;
  let lastWordsAt = clock.now();
  /** What was said besides the model's words of this reply. */
  let fillers: string[] = [];
  /** Whether the reply is an operator's. */
  let isOperators = false;
  /** Calls that the reply waits for, and those that go on without one. */
  const awaited = new Set<string>();
  const following = new Map<string, "awaited" | "background">();
  /** Aborts when there are more to follow. */
  let more = new AbortController();
  let next: { after: Decision; to: Omit<Transferee, "sendEnvoy"> } = LISTEN;

  const agent = mouth({
    leg,
    voice: () => voice,
    room: (signal) => roomOn(leg, clock, signal),
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

  const recognized = contained((event: SpeechEvent) => {
    if (event.type === "failed") {
      call.note(event.error.detail);
      return void happen({ type: "recognition_failed" });
    }
    if (event.type === "partial" || event.type === "final") lastWordsAt = clock.now();
    happen(event);
  });
  const hearing = parts.hearing.listen({ ...parts.listening, signal: call.signal }, recognized);

  function carryOut(effect: AgentEffect, before: TurnState): void {
    switch (effect.type) {
      case "ask":
        return void ask(effect.reply, effect.text, before);
      case "expect":
        // Only a speech-to-speech model begins to answer by itself.
        return;
      case "say":
        agent.begin(effect.reply);
        agent.say(effect.kind === "greeting" ? parts.greeting : lines[effect.kind]);
        agent.end();
        return;
      case "say_for":
        isOperators = true;
        agent.begin(effect.reply);
        agent.say(effect.text);
        agent.end();
        return;
      case "ask_patience":
        agent.say(`${lines.delay} `);
        agent.flush();
        return;
      case "fill":
        fillers.push(effect.text);
        agent.say(`${effect.text} `);
        agent.flush();
        return;
      case "answer_results":
        agent.begin(effect.reply);
        answer = transcript.askResults(answerEvents(effect.reply));
        return;
      case "tell":
        next = LISTEN;
        agent.begin(effect.reply);
        answer = transcript.askResults(answerEvents(effect.reply), effect.text);
        return;
      case "cancel_tool":
        // The conversation service cancels it when the turn ends.
        awaited.delete(effect.call);
        return void parts.clients?.over([effect.call]);
      case "hold":
        return void agent.hold();
      case "resume":
        return void agent.resume();
      case "interrupt":
      case "finish":
        return void stop();
      case "finalize":
        return void hearing.finalize();
      case "note":
        return void transcript.append("user", effect.text, undefined, before.user.startedAt);
    }
  }

  function ask(reply: number, text: string, before: TurnState): void {
    const now = clock.now();
    const { silentSince, wordsAt, keysAt } = before.user;
    latency = watchLatency(keysAt ?? silentSince ?? wordsAt ?? now);
    latency.reach("transcriptMs", Math.max(lastWordsAt, keysAt ?? 0));
    latency.reach("endOfTurnMs", now);
    if (!before.settings.endsTurns && keysAt === null && isUnfinished(text)) latency.isUnfinished();
    next = LISTEN;
    agent.begin(reply);
    captioned.tell("user", text, true);
    answer = transcript.ask(text, answerEvents(reply), before.user.startedAt);
  }

  function answerEvents(reply: number): AnswerEvents {
    return {
      text: contained((words) => {
        latency?.reach("firstWordMs", clock.now());
        agent.say(words);
      }),
      action: contained(act),
      complete: contained(() => {
        happen({ type: "answered", reply, next: next.after });
        agent.end();
      }),
      failed: (error) => {
        parts.log.warn({ err: error }, "an answer failed");
        call.note(error.detail);
        happen({ type: "failed", reply });
      },
      delayed: () => happen({ type: "delayed", reply }),
      toolStarted: contained(toolStarted),
      toolLeft: ({ toolCallId, rules }) => {
        if (!rules?.isCancellable) void follow([toolCallId], "background");
      },
      clientCall: (toolCall) => void parts.clients?.make(toolCall),
      toolNews: contained(toolNews),
      toolEnded: contained((toolCall) => {
        parts.clients?.over([toolCall]);
        if (awaited.delete(toolCall)) happen({ type: "tool_ended", call: toolCall, next: null });
      }),
    };
  }

  function toolNews({ toolCallId, event }: ToolNews): void {
    if (event?.$case === "called") captioned.tool({ type: "tool_call", toolCallId, ...event.value });
    if (event?.$case === "answered") captioned.tool({ type: "tool_result", toolCallId, ...event.value });
  }

  function toolStarted({ toolCallId, rules }: ToolStarted): void {
    if (rules?.isBackground) return void follow([toolCallId], "background");
    awaited.add(toolCallId);
    const { timeoutMs = 0, isCancellable = false, before = null, delayed = [], sound = null } = rules ?? {};
    happen({ type: "tool_started", call: toolCallId, rules: { timeoutMs, isCancellable, before, delayed, sound } });
  }

  /** Reports when calls end that no reply waits for. */
  async function follow(toolCalls: readonly string[], how: "awaited" | "background"): Promise<void> {
    const isFollowing = following.size > 0;
    for (const toolCall of toolCalls) following.set(toolCall, how);
    // Whoever waits now does not know of these.
    more.abort();
    if (isFollowing) return;
    while (following.size > 0 && !call.signal.aborted) {
      more = new AbortController();
      const ended = await transcript.ended([...following.keys()], AbortSignal.any([call.signal, more.signal]));
      parts.clients?.over(ended);
      contained(() => {
        for (const toolCall of ended) {
          const was = following.get(toolCall);
          following.delete(toolCall);
          if (was === "awaited") happen({ type: "tool_ended", call: toolCall, next: null });
          else if (was) happen({ type: "background_result" });
        }
      })();
    }
  }

  function act(action: NonNullable<CallAction["action"]>): void {
    if (action.$case === "endCall") next = { ...next, after: "hang_up" };
    if (action.$case === "transferCall") {
      const { phoneNumber, warm } = action.value;
      next = { after: warm ? "warm_transfer" : "transfer", to: { phoneNumber, warm } };
    }
    if (action.$case === "sendDtmf") void press(action.value.keys);
    if (action.$case === "setLanguage") {
      language = action.value.language;
      voice.options.language = language;
      hearing.setLanguage(language);
    }
    if (action.$case === "handOver") changeVoice(action.value.voiceAgentId, action.value.voiceAgentVersion);
  }

  /** A later turn tells again whose voice it is, so one that cannot be had now may speak then. */
  function changeVoice(agentId: string, agentVersion: number | undefined): void {
    if (agentId === voiceAgentId) return;
    const before = voiceAgentId;
    voiceAgentId = agentId;
    agent.change(
      parts.voiceOf(agentId, agentVersion).then(
        (found) => {
          if (voiceAgentId !== agentId) return found.voice;
          voice = found.voice;
          if (language !== undefined) voice.options.language = language;
          else if (found.language !== undefined) hearing.setLanguage(found.language);
          return voice;
        },
        (err) => {
          parts.log.warn({ err, agent_id: agentId }, "the voice of an agent that took over could not be had");
          if (voiceAgentId === agentId) voiceAgentId = before;
          return voice;
        },
      ),
    );
  }

  async function press(keys: string): Promise<void> {
    const fault = await pressKeys(leg, keys, parts.log);
    if (fault !== null) call.note(fault);
  }

  function stop(): void {
    const heard = agent.stop();
    if (answer) {
      const figures = latency?.figures() ?? {};
      answer.settle(heard, figures, audibleSince, fillers);
      if (figures.audibleMs !== undefined) parts.measured?.(figures);
    } else {
      transcript.append(isOperators ? "operator" : "assistant", heard, undefined, audibleSince);
    }
    if (heard !== "") captioned.tell("agent", heard, true);
    answer = null;
    latency = null;
    audibleSince = null;
    fillers = [];
    isOperators = false;
    // The user did not want to wait for them, but they go on.
    const left = [...awaited];
    awaited.clear();
    if (left.length > 0) void follow(left, "awaited");
  }

  return {
    carryOut,
    hear: (frame) => hearing.send(frame ?? SILENT_FRAME),
    reached: agent.reached,
    stop,
    heard: () => {
      const heard = agent.heard();
      // So that it survives this process.
      answer?.hear(heard);
      return heard;
    },
    transferTo: () => ({ ...next.to, sendEnvoy: pipelineEnvoy.bind(null, { ...parts, voice }) }),
    close: () => hearing.close(),
  };
}
