export type TurnEvent =
  /** The other party is on the line. */
  | { type: "connected"; greets: boolean; isRejected?: boolean }
  /** The voice detector is sure that speech began or ended so long ago. */
  | { type: "speech_began"; agoMs: number }
  | { type: "speech_ended"; agoMs: number }
  /** Events of the recognition, as in SpeechEvent. */
  | { type: "partial"; text: string }
  | { type: "final"; text: string }
  | { type: "end_of_turn" }
  /** A key of the phone: 0-9, *, # or A-D. */
  | { type: "pressed"; key: string }
  | { type: "finalized" }
  | { type: "recognition_failed" }
  /** The voice has the first words of an answer. */
  | { type: "worded"; reply: number }
  /** This many more milliseconds of a reply were queued. */
  | { type: "sound"; reply: number; ms: number }
  /** All words of an answer are known. */
  | { type: "answered"; reply: number; next: Decision }
  /** A reply was heard to its end. */
  | { type: "played"; reply: number }
  /** A reply cannot be spoken, or not any further. */
  | { type: "failed"; reply: number }
  /** An answer takes long because one of our services is down. */
  | { type: "delayed"; reply: number }
  /** A speech-to-speech model hears the user, or reports what the user said. */
  | { type: "user_began" }
  | { type: "user_said"; text: string }
  /** It speaks, or writes what it speaks, in its reply or in one that it begins by itself. */
  | { type: "speaks" }
  /** It has said everything, so far. */
  | { type: "done" }
  /** A model has called a tool that takes time. The reply waits for it. */
  | { type: "tool_started"; call: string; rules: ToolRules }
  /** It has ended, and the model has its result. With speech to speech, it may have decided what follows the model's next words. */
  | { type: "tool_ended"; call: string; next: Decision | null }
  /** A tool for which no reply waits has a result. */
  | { type: "background_result" }
  /** The user could not be connected elsewhere. */
  | { type: "transfer_failed" }
  /** The person whom the agent has called does not take the call; this is for the model. */
  | { type: "not_taken"; told: string }
  /** The other party has put the call on hold, or continues; so much of the reply is still queued. */
  | { type: "put_on_hold" }
  | { type: "taken_off_hold"; queuedMs: number }
  /** A machine has answered; nobody answers its greeting. */
  | { type: "machine" }
  /** The machine records now. */
  | { type: "machine_ready" }
  /** An operator has the agent say this, after which it listens or hangs up. */
  | { type: "operator_says"; text: string; next: "listen" | "hang_up" }
  /** An operator keeps the agent silent, or no longer. */
  | { type: "muted"; isMuted: boolean }
  /** An operator connects the user elsewhere, or ends the call. */
  | { type: "operator_transfers" }
  | { type: "operator_ends" }
  /** The other party left. */
  /** The user, unless there is another reason. */
  | { type: "left"; reason?: EndReason }
  /** Time has passed (dueAt). */
  | { type: "time" };

/** How a call waits for a tool. */
export interface ToolRules {
  /** When the tool's own limit ends it. */
  timeoutMs: number;
  /** Whether the call is cancelled when the user interrupts the reply. */
  isCancellable: boolean;
  /** Said at once unless the model has said something itself; null for nothing. */
  before: string | null;
  /** Said, in order, while the tool still runs. */
  delayed: readonly Filler[];
  /** Heard while the reply waits and nobody speaks; null for none. */
  sound: string | null;
}

export interface Filler {
  afterMs: number;
  text: string;
}

/** What a model may decide to do after its words. */
export type Decision = "listen" | "hang_up" | "transfer" | "warm_transfer";

export type ReplyKind =
  | "answer"
  | "greeting"
  | "reminder"
  | "retry"
  | "not_transferred"
  | "apology"
  | "voicemail"
  | "rejection"
  | "operator";

export type Outcome = "SUCCESS" | "HUNG_UP_EARLY" | "CANCELLED" | "ERROR";

export type Effect =
  /** Ask the model for the answer to these words. */
  | { type: "ask"; reply: number; text: string }
  /** A speech-to-speech model owes an answer, or has begun one. */
  | { type: "expect"; reply: number }
  /** Speak a line of the agent's own. */
  | { type: "say"; reply: number; kind: Exclude<ReplyKind, "answer" | "operator"> }
  /** Speak what an operator wants said. */
  | { type: "say_for"; reply: number; text: string }
  /** Ask the model for an answer to the results of tools that it has not answered. */
  | { type: "answer_results"; reply: number }
  /** Speak this line before the further words of the reply, and mark it as a filler in the transcript. */
  | { type: "fill"; reply: number; text: string }
  /** The user does not want to wait for this call, and its tool allows to cancel it. */
  | { type: "cancel_tool"; call: string }
  /** Speak the request for patience before the words of this answer. */
  | { type: "ask_patience"; reply: number }
  /** Stop playing, drop the queue and abort the voice; words that still arrive are kept. */
  | { type: "hold"; reply: number }
  /** Resume speaking after what was heard. */
  | { type: "resume"; reply: number }
  /** The reply is over: abort its model and voice, but no tool, and store what was heard of it. */
  | { type: "interrupt"; reply: number }
  /** The reply was heard whole: store it. */
  | { type: "finish"; reply: number }
  /** Ask the recognition for its result so far. */
  | { type: "finalize" }
  /** Store these words of the user, for which the model is not asked. */
  | { type: "note"; text: string }
  /** Ask the model to go on, and tell it this. */
  | { type: "tell"; reply: number; text: string }
  /** Connect the user elsewhere. */
  | { type: "transfer" }
  | { type: "hang_up"; outcome: Outcome; reason: EndReason };

export type EndReason =
  | "agent_ended"
  | "operator_ended"
  | "time_over"
  | "left_message"
  | "rejected"
  | "user_left"
  | "user_silent"
  | "failed";
