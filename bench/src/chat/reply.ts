/** The mock upstream's reply to everything, 60 words. */
export const WORDS = Array.from({ length: 10 }, () => ["of", "course", "we", "can", "do", "that"]).flat();
export const REPLY = WORDS.join(" ");
export const REPLY_PIECES = WORDS.map((word, at) => (at === 0 ? word : ` ${word}`));

/** The value of the prompt's variable, which the upstream requires. */
export const COMPANY = "Acme";
/** The upstream's models, with the milliseconds that each takes for a word. */
export const WORD_EVERY_MS = { bench: 0, "bench-5ms": 5, "bench-20ms": 20, "bench-60ms": 60 } as const;
export type Model = keyof typeof WORD_EVERY_MS;
export const MODELS = Object.keys(WORD_EVERY_MS) as Model[];

/** The upstream's model that first calls `find_order` with the number of ORDER, and replies only to its result. */
export const TOOL_MODEL = "bench-tool";
/** What the tool's server answers. */
export const ORDER = { order_id: "A-1042", status: "shipped", carrier: "Northern Post", expected: "2026-12-03" };

/** @throws when no model speaks at that pace */
export function modelOfPace(everyMs: number): Model {
  const model = MODELS.find((candidate) => WORD_EVERY_MS[candidate] === everyMs);
  if (!model) throw new Error(`A word comes every ${Object.values(WORD_EVERY_MS).join(", ")} ms, not every ${everyMs}`);
  return model;
}
