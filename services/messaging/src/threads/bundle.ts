import type { WaitingMessage } from "../store/incoming.ts";

/** How long to wait for further messages: people write a thought in several. */
const QUIET_MS = 2_000;
/** The longest wait, so that someone who never pauses gets an answer too. */
const WAIT_MAX_MS = 10_000;
/** Limit for the text of one turn; the next turn takes the rest. */
const CHARACTERS_MAX = 16_000;

/** When to answer messages whose first and last arrived at these times. */
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
