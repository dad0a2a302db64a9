import type { ServiceError } from "@parley/shared/errors";
import type { Pcm } from "../audio/pcm.ts";

/** A speech-to-speech provider with its credentials: one model that hears and speaks. */
export interface SpeechToSpeech {
  converse(options: ConverseOptions, event: (event: SpokenTurnEvent) => void): SpokenConversation;
}

export interface ConverseOptions {
  model: string;
  voiceId?: string | undefined;
  language?: string | undefined;
  params: Readonly<Record<string, unknown>>;
  /** The agent's prompt, with its variables filled. */
  prompt: string;
  tools: readonly { name: string; description: string; parameters: Readonly<Record<string, unknown>> }[];
  /** The conversation so far, oldest first, for a connection that goes on with it. */
  history(): readonly Told[];
  /** Whether the first connection goes on with a conversation, rather than beginning one. */
  continues?: boolean;
  /** Aborted when the call ends. */
  signal: AbortSignal;
}

export interface Said {
  role: "user" | "assistant";
  text: string;
}

/** What was said, or what the model was let know. */
export interface Told extends Omit<Said, "role"> {
  role: Said["role"] | "system";
}

export interface SpokenConversation {
  send(audio: Pcm): void;
  /** Makes the agent say this, such as the greeting. */
  say(text: string): void;
  /**
   * The user has typed this, such as the keys of a phone.
   * @param asks whether the agent answers at once, as it does if this is absent; otherwise it does when the user has finished
   */
  tell(text: string, asks?: boolean): void;
  /** Lets the model know this for its next answer. */
  inform(text: string): void;
  /** Whether it answers nothing by itself. A model that cannot be told so hears nothing until it may answer again. */
  mute(isMuted: boolean): void;
  /** The reply was stopped after this much of its audio was heard. */
  interrupt(heardMs: number): void;
  /**
   * Answers a tool call.
   * @param asks whether the agent continues at once; otherwise it does when the user has finished, or at `ask`, if the provider can wait
   */
  answer(callId: string, result: string, asks: boolean): void;
  /** Makes the agent answer what it has been told. */
  ask(): void;
  close(): void;
}

export type SpokenTurnEvent =
  | { type: "user_began" }
  /** What the user said, complete. */
  | { type: "user_said"; text: string }
  | { type: "audio"; audio: Pcm }
  /** What the agent says, in pieces, as it says it. */
  | { type: "text"; text: string }
  | { type: "tool_call"; callId: string; name: string; arguments: unknown }
  /** The agent has said everything; also if its connection was lost in the middle, and it will not continue. */
  | { type: "done" }
  | { type: "failed"; error: ServiceError };
