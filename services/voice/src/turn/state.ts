import type { Decision, Effect, Filler, ReplyKind } from "./events.ts";
import type { TurnSettings } from "./settings.ts";

/** Where a call stands: who speaks, and what is expected next. Times are milliseconds of one monotonic clock. */
export interface TurnState {
  settings: TurnSettings;
  /** The call is over: nothing happens anymore. */
  over: boolean;
  user: UserState;
  /** What the agent says or is about to say: one reply at most. */
  reply: Reply | null;
  /** Numbers the replies. */
  replies: number;
  /** Since when neither party has shown a sign of life while the agent had nothing to say. */
  quietSince: number;
  /** Reminders since the user's last words. */
  reminders: number;
  /** The user has said something in this call. */
  userSpoke: boolean;
  /** The greeting was heard to its end or interrupted by words, or there is none. */
  greeted: boolean;
  /** The agent has asked for patience, which it does once in a call. */
  asksPatience: boolean;
  /** Answers that failed one after the other. */
  failures: number;
  /** The user is being connected elsewhere. */
  transferringSince: number | null;
  /** The agent calls a person first, which ends by itself. */
  isTransferWarm: boolean;
  /** Requests to the recognition whose answers come too late to count: the user has gone on, or their turn was over. */
  outdated: number;
  /** The other party has put the call on hold: it hears nothing, and what it sends, such as music, is not for the agent. */
  onHoldSince: number | null;
  /** A machine answered since then; when it is ready to record, the agent leaves its message. */
  machine: { since: number; isReady: boolean } | null;
  /** An operator keeps the agent silent: the model is not asked. */
  isMuted: boolean;
  /** The tools that run, oldest first. */
  tools: readonly RunningTool[];
  /** Tools have results that the model has not been asked to answer. */
  hasResults: boolean;
  /** Null if a recognition, a model and a voice do what a speech-to-speech model does alone. */
  model: ModelState | null;
}

export interface RunningTool {
  call: string;
  since: number;
  /** Counts as ended then, if nobody reports it. */
  lostAt: number;
  isCancellable: boolean;
  /** Heard while the reply waits and nobody speaks; null for none. */
  sound: string | null;
  /** What is still to be said while it runs. */
  fillers: readonly Filler[];
  /** The reply that waits for it; null if that reply was interrupted. */
  reply: number | null;
}

/** What is known of a speech-to-speech model, which hears, answers and speaks by itself. */
export interface ModelState {
  /** Since when it hears the user, whose words it has not reported. */
  hearsSince: number | null;
  /** The user's voice by the detector: when it began, and when the one before it ended. */
  voiceSince: number | null;
  silentSince: number;
  /** Speech, one after the other, that it has not reacted to, and when the first ended. */
  ignored: { count: number; since: number };
  /** Since when it has the result of a tool, of which it has said nothing yet. */
  owesSince: number | null;
}

export interface UserState {
  /** The voice detector hears speech since then. */
  speechSince: number | null;
  /** This stretch of speech had no words, or was over for the provider: it interrupts nobody anymore. */
  isDismissed: boolean;
  /** When the user began to speak, or to press keys, in this turn. */
  startedAt: number | null;
  /** Silence since then, after speech of this turn. */
  silentSince: number | null;
  /** The final words of this turn. */
  said: string;
  /** Words behind them that may still change. */
  partial: string;
  /** When the words last changed while the user was not known to be silent. */
  wordsAt: number | null;
  /** The keys that were pressed in this turn, and when the last one was. */
  keys: string;
  keysAt: number | null;
  /** The words at the time when the recognition was asked for everything it has. */
  finalizing: { since: number; words: string } | null;
  /** Whether the recognition has given everything that was said before the silence. */
  isFinalized: boolean;
  /** Its words are of the audio until then. */
  finalUntil: number;
  /** Words of a turn that ended before the recognition was sure of them: it says them again until then. */
  answered: { text: string; until: number } | null;
  /** Since when there has been speech about which the recognition has reported nothing. */
  unheardSince: number | null;
}

export interface Reply {
  id: number;
  kind: ReplyKind;
  /** `held`: stopped because the user may be speaking; it continues, or is interrupted. */
  stage: "thinking" | "speaking" | "held";
  /** When the stage began. */
  since: number;
  /** When the queued audio ends, or the moment from which audio was expected: of this reply, or of the one in whose place it came. */
  soundUntil: number;
  /** The voice has words of it. */
  isSaid: boolean;
  /** All of its words are known. */
  isWhole: boolean;
  /** The sound of the tool that it waited for last, until its next word. */
  sound: string | null;
  /** Whether it failed while it was held. */
  hasFailed: boolean;
  /** What follows when it was heard whole. */
  next: Next;
}

/** `give_up` ends the call as failed. */
export type Next = Decision | "give_up";

/** A state that is being changed, and the effects so far. */
export interface Draft extends TurnState {
  effects: Effect[];
}

export function initialState(settings: TurnSettings, now: number): TurnState {
  return {
    settings,
    over: false,
    user: silentUser(),
    reply: null,
    replies: 0,
    quietSince: now,
    reminders: 0,
    userSpoke: false,
    greeted: false,
    asksPatience: false,
    failures: 0,
    transferringSince: null,
    isTransferWarm: false,
    outdated: 0,
    onHoldSince: null,
    machine: null,
    isMuted: false,
    tools: [],
    hasResults: false,
    model: settings.isSpeechToSpeech ? quietModel(now) : null,
  };
}

function quietModel(now: number): ModelState {
  return {
    hearsSince: null,
    voiceSince: null,
    silentSince: now,
    ignored: NOTHING_IGNORED,
    owesSince: null,
  };
}

export const NOTHING_IGNORED: ModelState["ignored"] = { count: 0, since: 0 };

/** A user who has said nothing in this turn. */
export function silentUser(): UserState {
  return {
    speechSince: null,
    isDismissed: false,
    startedAt: null,
    silentSince: null,
    said: "",
    partial: "",
    wordsAt: null,
    keys: "",
    keysAt: null,
    finalizing: null,
    isFinalized: false,
    finalUntil: 0,
    answered: null,
    unheardSince: null,
  };
}

/** What the user has said and pressed in this turn so far, as the agent and the transcript get it. */
export function messageOf(user: UserState): string {
  const pressed = user.keys === "" ? "" : `[Pressed ${user.keys}]`;
  return [wordsOf(user), pressed].filter((text) => text !== "").join(" ");
}

/** What the user has said in this turn so far. */
export function wordsOf({ said, partial }: UserState): string {
  return [said, partial].filter((text) => text !== "").join(" ");
}
