import { codePoints } from "@parley/shared/text/length";
import type { SessionKey } from "../store/session-key.ts";
import type { Live } from "./live.ts";

/** Tells watchers the words of a reply while it is made. */
export interface WatchedWords {
  say(text: string): void;
  /** The reply is over: the whole message follows. */
  stop(): void;
}

/** How long words are gathered. */
const GATHER_MS = 50;

/** Costs a reply that nobody watches next to nothing. @param seq of the reply */
export function watchedWords(live: Pick<Live, "wantsWords" | "tell">, key: SessionKey, seq: number): WatchedWords {
  let said = "";
  let told = 0;
  let toldCharacters = 0;
  let timer: Timer | null = null;
  let isOver = false;

  async function tell(): Promise<void> {
    const text = said.slice(told);
    const event = { event: "words" as const, data: { seq, role: "assistant", offset: toldCharacters, text } };
    told += text.length;
    toldCharacters += codePoints(text);
    await live.tell(key, [event]);
    timer = null;
    // Words that came in the meantime.
    if (told < said.length) gather();
  }

  function gather(): void {
    if (timer !== null || isOver || !live.wantsWords(key)) return;
    timer = setTimeout(() => void tell(), GATHER_MS);
  }

  return {
    say(text) {
      said += text;
      gather();
    },
    stop() {
      isOver = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
