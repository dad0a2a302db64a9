import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { isTimeZone } from "../http/time-zone.ts";
import type { TextSchema } from "../http/validate.ts";

interface TextOptions {
  min?: number;
  max?: number;
  pattern?: string;
  /** What no pattern can say. */
  check?: (text: string) => boolean;
  /** What the pattern or the check asks for, completing "must …". */
  form?: string;
  description?: string;
  example?: string;
}

/** A string, its length in code points. */
export function Text({ min, max, pattern, check, form, description, example }: TextOptions = {}): TextSchema {
  return Type.Unsafe<string>({
    [Kind]: "Text",
    type: "string",
    ...(min !== undefined && { minLength: min }),
    ...(max !== undefined && { maxLength: max }),
    ...(pattern !== undefined && { pattern }),
    ...(check !== undefined && { check }),
    ...(form !== undefined && { form }),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { examples: [example] }),
  }) as unknown as TextSchema;
}

/** One of some words. */
export function OneOf<const W extends readonly string[]>(words: W, options: { description?: string } = {}) {
  return Type.Unsafe<W[number]>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  );
}

/**
 * The same schema as a property that the text describes. A schema with a name of its own keeps the description that it has under
 * that name: the property's stands beside the reference to it.
 */
export function About<S extends TSchema>(schema: S, description: string): S {
  return schema.$id === undefined ? { ...schema, description } : { ...schema, about: description };
}

export function Nullable<S extends TSchema>(schema: S, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** May be left out, or null, which means the same. */
export function Maybe<S extends TSchema>(schema: S, description?: string) {
  return Type.Optional(Nullable(schema, description));
}

/** Any JSON object. */
export const Json = Type.Record(Type.String(), Type.Unknown());

export const PageQuery = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1, description: "Page to return.", examples: [1] }),
  ),
  page_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 10, description: "Items on a page.", examples: [10] }),
  ),
};

export const E164 = Text({
  pattern: "^\\+[1-9]\\d{6,14}$",
  form: "be a phone number in E.164, such as +14155550123",
  description: "Phone number in E.164 form.",
  example: "+14155550123",
});

export const TimeZone = Text({
  max: 100,
  check: isTimeZone,
  form: "be an IANA time zone, such as Europe/Berlin",
  description: "IANA time zone.",
  example: "Europe/Berlin",
});

export const DateTimeText = Text({
  pattern: "^(?!0000)\\d{4}-\\d{2}-\\d{2}([T ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:?\\d{2})?)?$",
  form: "be an ISO 8601 date and time, such as 2026-01-31T09:30:00Z",
  description: "ISO 8601 date, or date and time; UTC unless it names an offset.",
  example: "2026-01-31T09:30:00Z",
});
