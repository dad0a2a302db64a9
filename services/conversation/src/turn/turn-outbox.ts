import { setImmediate } from "node:timers/promises";
import type {
  RunTurnsResponse,
  ToolNews,
  TurnEnd,
  TurnNews,
  TurnStarted,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { lastBoundary } from "./reply/words.ts";

/** A turn of the caller's, by the number that it gave the turn, and whose turn it is. */
interface ToldTurn {
  number: number;
  ownerId: string;
}

/**
 * The events of the turns of one caller. Events of one turn of the loop, and those that arrive while the caller is behind, leave
 * in one message. While many turns speak, words after the first also wait until `GATHER_MS` after the last message, because a
 * message costs both ends more than the words in it. An urgent event takes along everything that waits. A message has at most 16
 * Ki characters of an owner, or more for tools' results, and 64 Ki in all: owners, and the turns of each, take turns, and a longer text leaves in several
 * messages.
 */
export interface TurnOutbox {
  tellStarted(turn: ToldTurn, started: TurnStarted): void;
  /** @param urgent whether the client waits for it: for the first words of a reply */
  tellText(turn: ToldTurn, text: string, urgent: boolean): void;
  tellTool(turn: ToldTurn, tool: Omit<ToolNews, "offset">): void;
  tellEnd(turn: ToldTurn, end: TurnEnd): void;
  /** Tells the caller that the replica is stopping. */
  stop(): void;
  /** Ends the messages after those that wait, or throws `error` there. */
  end(error?: unknown): void;
  messages(): AsyncGenerator<RunTurnsResponse>;
}

/** With as many turns in progress, words after the first wait for others. Fewer turns have few words to read or send. */
const GATHER_FROM_TURNS = 8;
/** Readers do not notice such a delay of a word. Spoken turns use another call, `Converse`. */
const GATHER_MS = 10;
/** The most characters in a message, because both ends handle it in one turn of their event loops. A whole reply has up to a million. */
const CHARACTERS_OF_OWNER = 16 * 1024;
const CHARACTERS_MAX = 64 * 1024;
/** How many characters the rest of a turn's news counts as. */
const NEWS_CHARACTERS = 64;

/**
 * @param replica the name of this process in the first message
 * @param turnsUnderWay how many turns speak, or will
 */
export function turnOutbox(replica: string, turnsUnderWay: () => number, gatherMs = GATHER_MS): TurnOutbox {
  /** The waiting events, by owner and then by turn, in the order in which they leave. */
  const waiting = new Map<string, Map<number, TurnNews>>();
  let stopping = false;
  let ended: { error?: unknown } | null = null;
  let leftAt = Number.NEGATIVE_INFINITY;
  let wake = Promise.withResolvers<void>();
  let hurry = Promise.withResolvers<void>();

  function waitingOf({ number, ownerId }: ToldTurn, urgent: boolean): TurnNews {
    if (urgent) hurry.resolve();
    wake.resolve();
    const turns = waiting.get(ownerId) ?? new Map<number, TurnNews>();
    waiting.set(ownerId, turns);
    const known = turns.get(number) ?? { number, started: undefined, text: "", end: undefined, tools: [] };
    turns.set(number, known);
    return known;
  }

  /** Waits for something to send, and then until it may leave. */
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

  /** Takes the events of the next message. */
  function take(): TurnNews[] {
    const news: TurnNews[] = [];
    let left = CHARACTERS_MAX;
    for (const [ownerId, turns] of [...waiting]) {
      if (left < CHARACTERS_OF_OWNER) break;
      // To the end of the round.
      waiting.delete(ownerId);
      left -= takeOf(turns, news);
      if (turns.size > 0) waiting.set(ownerId, turns);
    }
    return news;
  }

  /** The same of one owner's turns. @returns the characters taken */
  function takeOf(turns: Map<number, TurnNews>, news: TurnNews[]): number {
    let taken = 0;
    for (const [number, each] of turns) {
      const { text, tools } = each;
      if (taken > 0 && taken + text.length + charactersOf(tools) > CHARACTERS_OF_OWNER) break;
      turns.delete(number);
      if (text.length > CHARACTERS_OF_OWNER) {
        const cut = wholeWords(text, CHARACTERS_OF_OWNER);
        const later = tools.filter(({ offset }) => offset > cut);
        const now = tools.filter(({ offset }) => offset <= cut);
        news.push({ ...each, text: text.slice(0, cut), tools: now, end: undefined });
        turns.set(number, {
          ...{ number, started: undefined, text: text.slice(cut), end: each.end },
          tools: later.map((tool) => ({ ...tool, offset: tool.offset - cut })),
        });
        return CHARACTERS_OF_OWNER;
      }
      news.push(each);
      taken += text.length + charactersOf(tools) + NEWS_CHARACTERS;
    }
    return taken;
  }

  return {
    tellStarted(turn, started) {
      waitingOf(turn, false).started = started;
    },
    tellText(turn, text, urgent) {
      waitingOf(turn, urgent).text += text;
    },
    tellTool(turn, tool) {
      const { tools, text } = waitingOf(turn, false);
      tools.push({ ...tool, offset: text.length });
    },
    tellEnd(turn, end) {
      waitingOf(turn, true).end = end;
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
      yield { replica, news: [], stopping };
      for (;;) {
        await due();
        wake = Promise.withResolvers();
        hurry = Promise.withResolvers();
        leftAt = performance.now();
        const news = take();
        if (waiting.size > 0) {
          wake.resolve();
          hurry.resolve();
        }
        if (news.length > 0 || !ended) yield { replica: "", news, stopping };
        if (ended && waiting.size === 0) break;
      }
      if ("error" in ended) throw ended.error;
    },
  };
}

function charactersOf(tools: readonly ToolNews[]): number {
  return tools.reduce((sum, { event }) => {
    const text = event?.$case === "called" ? event.value.arguments : (event?.value.result ?? "");
    return sum + text.length + NEWS_CHARACTERS;
  }, 0);
}

/** Where to cut a text of more than `max` characters: after its last whole word, or in a word that is longer, but in no character. */
function wholeWords(text: string, max: number): number {
  const cut = lastBoundary(text.slice(0, max), 0);
  if (cut > 0) return cut;
  return /[\ud800-\udbff]/.test(text.charAt(max - 1)) ? max - 1 : max;
}
