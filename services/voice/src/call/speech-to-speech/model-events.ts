import type { Logger } from "@parley/shared/log";
import type { SpokenConversation, SpokenTurnEvent } from "../../speech/sts.ts";
import type { Leg } from "../../transport/leg.ts";
import type { Contained, Ending } from "../call-over.ts";
import type { Captions } from "../captions.ts";
import type { Agent } from "./agent.ts";
import type { Machine } from "./machine.ts";
import type { Pending } from "./pending.ts";
import type { SaidInOrder } from "./said.ts";
import type { Silence } from "./silence.ts";
import { answerTool, type RunTool, type ToolCall } from "./tools.ts";
import type { User } from "./user.ts";

/** What the model and the other party's line both change. */
export interface StsLine {
  /** Null until the other party is connected. */
  leg: Leg | null;
  talk: SpokenConversation | null;
  /** The greeting was heard or interrupted, or there is none. */
  greeted: boolean;
  /** The agent says its last words. */
  isApologizing: boolean;
  /** The user is being connected elsewhere. */
  transferringSince: number | null;
}

export interface ModelEventParts {
  line: StsLine;
  said: SaidInOrder;
  user: User;
  agent: Agent;
  pending: Pending;
  silence: Silence;
  machine: Machine;
  captioned: Captions;
  ending: Pick<Ending, "isOver">;
  runTool: RunTool;
  log: Logger;
}

/** What the call does besides. */
export interface CallActions {
  /** Stops the agent where it is. */
  interrupt(): void;
  /** The model owes an answer from now on. */
  owe(): void;
  /** Does what the model decided. */
  act(): void;
  fail(note: string): void;
  contained: Contained;
}

/** What happens when the model reports something. */
export function modelEvents(
  { line, said, user, agent, pending, silence, machine, captioned, ending, runTool, log }: ModelEventParts,
  { interrupt, owe, act, fail, contained }: CallActions,
): {
  hear(event: SpokenTurnEvent): void;
  /** The words, or keys, of the user. */
  userSaid(text: string): void;
} {
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
        return void answerWithTool(event);
      case "done":
        return void replyDone();
      case "failed":
        // It cannot apologize anymore.
        log.warn({ err: event.error }, "a speech-to-speech model failed");
        return void fail(event.error.detail);
    }
  }

  function userBegan(): void {
    if (machine.isThere() || line.isApologizing) return;
    interrupt();
    user.begins();
    pending.settle();
    said.userBegan();
    captioned.state("listening");
  }

  function userSaid(text: string): void {
    if (machine.isThere() || line.isApologizing) return;
    said.user(text);
    captioned.tell("user", text, true);
    user.said();
    line.greeted = true;
    silence.userSpoke();
    if (!agent.isSpeaking()) owe();
  }

  function speak(event: Extract<SpokenTurnEvent, { type: "audio" | "text" }>): void {
    if (!line.leg || line.transferringSince !== null || machine.isGreeting()) return;
    user.stops();
    pending.settle();
    agent.speak(line.leg, event);
  }

  function replyDone(): void {
    if (agent.isSpeaking()) agent.done();
    else if (!pending.listens() && pending.isClear()) act();
  }

  async function answerWithTool(call: ToolCall): Promise<void> {
    pending.toolBegins();
    user.stops();
    const place = { messages: said.messages(), offset: agent.offset() };
    const { result, next: decided } = await answerTool(runTool, call, place, log);
    contained(() => {
      pending.toolEnds(decided);
      if (ending.isOver()) return;
      line.talk?.answer(call.callId, result);
      owe();
    })();
  }

  return { hear, userSaid };
}
