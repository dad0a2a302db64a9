import type { HandOver } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { StsModel } from "./model.ts";

/** What a handover does with the sessions of both models. */
interface HandoverHands {
  /** Whether the first model has still to report what the user said. */
  owesWords(): boolean;
  /** Has the model say this, and report when it is said. */
  say(text: string, by: "first" | "successor"): void;
  /** Ends the first model's session, and opens the successor's. */
  open(successor: StsModel, handed: HandOver): void;
  /** The successor answers the user from now on. */
  finish(): void;
  /** Does the work later, unless the returned function is called first. */
  after(ms: number, work: () => void): () => void;
}

/**
 * A model that takes over in the middle of a call: the first one says its message, the successor its greeting, and then it answers. For
 * turn-taking, the tool that hands over runs until then.
 */
export interface Handover {
  /** The model that speaks has said everything. */
  goOn(): void;
  /** The model reports that the user speaks. */
  userBegan(): void;
  /** The model reports what the user said, perhaps before the handover began. */
  userSaid(): void;
  /** The model speaks. @returns whether its words are dropped, because the user has interrupted it */
  speaks(): boolean;
  /** The model cannot go on. @returns whether the call can */
  fails(): boolean;
  /** The call is over. */
  close(): void;
}

/** How long the first model may take to begin its message, or to report what the user said. */
const SAYS_WITHIN_MS = 5_000;

export function handOverTo(successor: StsModel, handed: HandOver, hands: HandoverHands): Handover {
  let stage: "message" | "greeting" | "over" = "message";
  let isInterrupted = false;
  let isMessageSaid = false;
  let stopWaiting = () => {};

  /** The successor is to know the words that led to it. */
  function endMessage(): void {
    isMessageSaid = true;
    if (hands.owesWords()) wait();
    else goOn();
  }

  function wait(): void {
    stopWaiting();
    stopWaiting = hands.after(SAYS_WITHIN_MS, goOn);
  }

  function goOn(): void {
    stopWaiting();
    if (stage === "message") {
      stage = "greeting";
      hands.open(successor, handed);
      if (handed.greets && successor.greeting !== "") {
        hands.say(successor.greeting, "successor");
        return;
      }
    }
    if (stage === "over") return;
    stage = "over";
    hands.finish();
  }

  if (handed.message === "") endMessage();
  else {
    wait();
    hands.say(handed.message, "first");
  }
  return {
    goOn: () => (stage === "message" ? endMessage() : goOn()),
    close: () => {
      stopWaiting();
      stage = "over";
    },
    userBegan: () => {
      // The successor hears the user itself; what was said to the first one is still to be reported.
      if (stage === "greeting") goOn();
      isInterrupted = true;
    },
    userSaid: () => {
      if (stage === "message" && (isInterrupted || isMessageSaid)) goOn();
    },
    speaks: () => {
      const isDropped = stage === "message" && isInterrupted;
      if (isDropped) wait();
      else if (!isMessageSaid) stopWaiting();
      return isDropped;
    },
    fails: () => {
      const isFirst = stage === "message";
      if (isFirst) goOn();
      return isFirst;
    },
  };
}
