import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import type { TokenUsage } from "../port.ts";
import type { CalledTools } from "./called-tools.ts";

/**
 * How a provider's protocol is read. What an event does not mean here, it does not mean to us: servers send more than they document,
 * and protocols grow.
 */
export interface Protocol {
  /** Limit for an event of a stream. */
  eventCharactersMax: number;
  /** Whether the reason for the end comes once, at the end. Some models of Gemini give it in each event. */
  endsOnce: boolean;
  /**
   * Begins to read one answer. A whole answer is one more event.
   * @returns what takes each event, with the name that the stream gives it, and tells what it means
   */
  listen(heard: Heard): (event: JsonObject, type: string) => void;
}

/** A few words have some hundreds of characters. */
export const WORDS_MAX = 256 * 1024;

/** What an event can mean. Every function but `fail` ignores values that it cannot use. */
export interface Heard {
  /** Words of the reply. */
  text(given: unknown): void;
  /** Tool calls and the pieces of their arguments. */
  tools: CalledTools;
  /** Whether the answer has words or tool calls so far. */
  readonly hasBegun: boolean;
  /** Counts of tokens. A later count replaces an earlier one. */
  usage(counts: Partial<Record<keyof TokenUsage, unknown>>): void;
  /** The answer ends, for this reason in the provider's words. */
  end(reason: unknown): void;
  /** Nothing more follows, so that nothing more is read. */
  over(): void;
  /** The provider reports an error in place of the rest. */
  fail(error: unknown): void;
}

/** The object in a JSON value; empty for a value of another kind. */
export function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : NOTHING;
}

/** The objects of a JSON list. A single object stands for a list of one. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : isObject(value) ? [value] : [];
}

const NOTHING: JsonObject = Object.freeze({});

/** The sum of token counts that a provider reports apart, those left out being zero. */
export function sumOfCounts(...counts: unknown[]): unknown {
  return counts.reduce<number>((sum, count) => sum + (typeof count === "number" ? count : 0), 0);
}
