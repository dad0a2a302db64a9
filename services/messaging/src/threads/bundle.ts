import type { WaitingMessage } from "../store/incoming.ts";

/** People write a thought in several messages. */
const QUIET_MS = 2_000;
/** Someone who never pauses gets an answer too. */
const WAIT_MAX_MS = 10_000;
/** Of one turn: what comes beyond is the next one. */
const CHARACTERS_MAX = 16_000;

/** When messages are answered of which the first and the last came at these times. */
export function dueOf(firstAt: Date, lastAt: Date): Date {
  return new Date(Math.min(lastAt.getTime() + QUIET_MS, firstAt.getTime() + WAIT_MAX_MS));
}

/** The messages that one turn answers, in order; at least one, if there is one. */
export function bundleOf(waiting: readonly WaitingMessage[]): readonly WaitingMessage[] {
  let characters = 0;
  const end = waiting.findIndex(({ content }) => {
    characters += "text" in content ? content.text.length + 1 : 0;
    return characters > CHARACTERS_MAX;
  });
  return end === -1 ? waiting : waiting.slice(0, Math.max(1, end));
}
