import { setImmediate } from "node:timers/promises";
import type {
  RunTurnsResponse,
  TurnEnd,
  TurnNews,
  TurnStarted,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";

/** What turns have to tell the one caller of theirs: what happens in one turn of the loop, or while it is behind, leaves together. */
export interface TurnOutbox {
  tellStarted(number: number, started: TurnStarted): void;
  tellText(number: number, text: string): void;
  /** @param sent is called once the end has left, or cannot any more */
  tellEnd(number: number, end: TurnEnd, sent?: () => void): void;
  /** Tells that the replica stops. */
  stop(): void;
  /** Ends the messages after what waits, or throws `error` there. */
  end(error?: unknown): void;
  messages(): AsyncGenerator<RunTurnsResponse>;
}

/** @param replica the name of this process in the first message */
export function turnOutbox(replica: string): TurnOutbox {
  let waiting = new Map<number, TurnNews>();
  let whenSent: (() => void)[] = [];
  let stopping = false;
  let ended: { error?: unknown } | null = null;
  let wake = Promise.withResolvers<void>();

  function newsOf(number: number): TurnNews {
    const known = waiting.get(number);
    if (known) return known;
    const news = { number, started: undefined, text: "", end: undefined };
    waiting.set(number, news);
    wake.resolve();
    return news;
  }

  function letGo(): void {
    for (const sent of whenSent.splice(0)) sent();
  }

  return {
    tellStarted(number, started) {
      newsOf(number).started = started;
    },
    tellText(number, text) {
      newsOf(number).text += text;
    },
    tellEnd(number, end, sent) {
      newsOf(number).end = end;
      if (sent) whenSent.push(sent);
    },
    stop() {
      stopping = true;
      wake.resolve();
    },
    end(error) {
      ended = error === undefined ? {} : { error };
      wake.resolve();
    },
    async *messages() {
      try {
        yield { replica, news: [], stopping };
        for (;;) {
          await wake.promise;
          await setImmediate();
          wake = Promise.withResolvers();
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
