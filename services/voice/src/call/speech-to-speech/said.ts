import type { PassingTime } from "@parley/shared/shares/passing-time";
import type { Said } from "../../speech/sts.ts";
import type { Latency } from "../latency.ts";

/** What is said, in the order in which it was said: a model reports what the user said only when it has begun to answer. */
interface SaidInOrder {
  /** The user speaks: what the model will report belongs here. */
  userBegan(): void;
  user(text: string): void;
  /**
   * @param startedAt when it was first heard; null if not at all
   * @param latency the reply's latency: the stages that were measured
   * @param byOperator whether an operator had the agent say it
   */
  agent(text: string, startedAt: number | null, latency?: Latency, byOperator?: boolean): void;
  /** The call is over: reports that are still missing will not come. */
  end(): void;
  /**
   * What was said so far, for a new connection of the model; the oldest is dropped first.
   * @param from the number of the first message, from 1 on
   */
  history(from?: number): Said[];
  /** Whether the model has still to report what the user said. */
  owesWords(): boolean;
  /** The number of messages so far, including those that the model has not reported yet. */
  messages(): number;
}

/** If the model reports nothing about a voice for this long, the voice had no words. */
const WORDS_WITHIN_MS = 5_000;
const HISTORY_MAX = 50;

interface Entry {
  role: Said["role"];
  /** Null while the model has not reported it. */
  text: string | null;
  startedAt: number | null;
  latency?: Latency | undefined;
  byOperator: boolean;
}

export function saidInOrder(
  clock: PassingTime,
  store: (said: Said & Pick<Entry, "startedAt" | "latency" | "byOperator">) => void,
): SaidInOrder {
  let waiting: Entry[] = [];
  const told: Said[] = [];
  let stored = 0;
  let stopWaiting = () => {};

  function flush(): void {
    for (let first = waiting[0]; first && first.text !== null; first = waiting[0]) {
      waiting.shift();
      const { role, text, ...how } = first;
      if (text === "") continue;
      const said = { role, text };
      if (told.push(said) > HISTORY_MAX) told.shift();
      stored++;
      store({ ...said, ...how });
    }
  }

  const giveUp = () => {
    waiting = waiting.filter(({ text }) => text !== null);
    flush();
  };

  return {
    userBegan: () => {
      stopWaiting();
      // A pause in what the user says does not start another message.
      if (waiting.at(-1)?.text !== null || waiting.length === 0)
        waiting.push({ role: "user", text: null, startedAt: clock.now(), byOperator: false });
    },
    user: (text) => {
      const missing = waiting.find((entry) => entry.text === null);
      if (missing) missing.text = text;
      else waiting.push({ role: "user", text, startedAt: null, byOperator: false });
      stopWaiting();
      flush();
    },
    agent: (text, startedAt, latency, byOperator = false) => {
      waiting.push({ role: "assistant", text, startedAt, latency, byOperator });
      flush();
      if (waiting.length === 0) return;
      stopWaiting();
      stopWaiting = clock.after(WORDS_WITHIN_MS, giveUp);
    },
    end: () => {
      stopWaiting();
      giveUp();
    },
    history: (from = 1) => told.slice(Math.max(0, from - 1 - (stored - told.length))),
    owesWords: () => waiting.some(({ text }) => text === null),
    messages: () => stored + waiting.length,
  };
}
