import { setImmediate } from "node:timers/promises";
import type {
  RunTurnsResponse,
  TurnEnd,
  TurnNews,
  TurnStarted,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";

/**
 * What turns have to tell the one caller of theirs: what happens in one turn of the loop, or while it is behind, leaves together.
 * While many turns speak, further words also wait until `GATHER_MS` after the last message, because a message costs both ends more
 * than the words in it. Whatever is urgent takes along all that waits.
 */
export interface TurnOutbox {
  tellStarted(number: number, started: TurnStarted): void;
  /** @param urgent whether the client waits for it: for the first words of a reply */
  tellText(number: number, text: string, urgent: boolean): void;
  /** @param sent is called once the end has left, or cannot anymore */
  tellEnd(number: number, end: TurnEnd, sent?: () => void): void;
  /** Tells that the replica stops. */
  stop(): void;
  /** Ends the messages after what waits, or throws `error` there. */
  end(error?: unknown): void;
  messages(): AsyncGenerator<RunTurnsResponse>;
}

/** Nobody sees that a word comes this much later. Spoken turns go another way, `Converse`. */
const GATHER_MS = 10;
/** With fewer turns, messages are few too. */
const GATHER_FROM_TURNS = 8;

/**
 * @param replica the name of this process in the first message
 * @param turnsUnderWay how many turns speak, or will
 */
export function turnOutbox(replica: string, turnsUnderWay: () => number, gatherMs = GATHER_MS): TurnOutbox {
  let waiting = new Map<number, TurnNews>();
  let whenSent: (() => void)[] = [];
  let stopping = false;
  let ended: { error?: unknown } | null = null;
  let leftAt = Number.NEGATIVE_INFINITY;
  let wake = Promise.withResolvers<void>();
  let hurry = Promise.withResolvers<void>();

  function newsOf(number: number, urgent: boolean): TurnNews {
    if (urgent) hurry.resolve();
    const known = waiting.get(number);
    if (known) return known;
    const news = { number, started: undefined, text: "", end: undefined };
    waiting.set(number, news);
    wake.resolve();
    return news;
  }

  /** Waits for something to tell, and then until it may leave. */
  async function due(): Promise<void> {
    await wake.promise;
    const leftMs = turnsUnderWay() < GATHER_FROM_TURNS ? 0 : leftAt + gatherMs - performance.now();
    if (leftMs > 0) {
      const timer = setTimeout(hurry.resolve, leftMs);
      await hurry.promise;
      clearTimeout(timer);
    }
    await setImmediate();
  }

  function letGo(): void {
    for (const sent of whenSent.splice(0)) sent();
  }

  return {
    tellStarted(number, started) {
      newsOf(number, false).started = started;
    },
    tellText(number, text, urgent) {
      newsOf(number, urgent).text += text;
    },
    tellEnd(number, end, sent) {
      newsOf(number, true).end = end;
      if (sent) whenSent.push(sent);
    },
    stop() {
      stopping = true;
      wake.resolve();
      hurry.resolve();
    },
    end(error) {
      ended = error === undefined ? {} : { error };
      wake.resolve();
      hurry.resolve();
    },
    async *messages() {
      try {
        yield { replica, news: [], stopping };
        for (;;) {
          await due();
          wake = Promise.withResolvers();
          hurry = Promise.withResolvers();
          leftAt = performance.now();
          const news = [...waiting.values()];
          const sent = whenSent;
          waiting = new Map();
          whenSent = [];
          if (news.length > 0 || !ended) yield { replica: "", news, stopping };
          for (const each of sent) each();
          if (ended && waiting.size === 0) break;
        }
        if ("error" in ended) throw ended.error;
      } finally {
        letGo();
      }
    },
  };
}
