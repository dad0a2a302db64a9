import { E164 as E164_FORM } from "@parley/shared/phone/e164";
import { isVisible } from "@parley/shared/text/name";
import { isTimeZone } from "@parley/shared/text/time-zone";
import { Kind, type TSchema, Type } from "@sinclair/typebox";
import type { TextSchema } from "../http/validate.ts";

interface TextOptions {
  min?: number;
  max?: number;
  pattern?: string;
  /** A check that no pattern can express. */
  check?: (text: string) => boolean;
  /** What the pattern or the check requires; completes "must …". */
  form?: string;
  description?: string;
  example?: string;
}

/** A string whose length is counted in code points. */
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

/** A text that people read or hear, so it must have something for them. */
export function Words(options: Pick<TextOptions, "max" | "description" | "example">): TextSchema {
  return Text({ min: 1, check: isVisible, form: "not be blank", ...options });
}

/** One of a few words. */
export function OneOf<const W extends readonly string[]>(words: W, options: { description?: string } = {}) {
  return Type.Unsafe<W[number]>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  );
}

/**
 * The same schema as a property with this description. A named schema keeps its own description; the property's stands
 * beside the reference to it.
 */
export function About<S extends TSchema>(schema: S, description: string): S {
  return schema.$id === undefined ? { ...schema, description } : { ...schema, about: description };
}

export function Nullable<S extends TSchema>(schema: S, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** Optional; null means the same as missing. */
export function Maybe<S extends TSchema>(schema: S, description?: string) {
  return Type.Optional(Nullable(schema, description ?? schema.description));
}

/** An object without further fields. */
export const strict = { additionalProperties: false };

export const Count = (description: string) => Type.Integer({ minimum: 0, description });

/** Any JSON object. */
export const Json = Type.Record(Type.String(), Type.Unknown());

const VariableValue = Type.Unsafe<unknown>({ [Kind]: "VariableValue" });

/** Values by name, wherever a request gives them. */
export const DynamicVariables = Maybe(
  Type.Record(Type.String(), VariableValue),
  "Values for the variables of the agent's prompt, greeting and tools: any JSON, where a list or an object has at most 16 KiB and stands in a text as JSON. `null` means the same as missing.",
);

/** What a client keeps with a conversation: any JSON object, in which the values of variables have a place. */
export const Metadata = Type.Object({ dynamic_variables: DynamicVariables }, { additionalProperties: true });

export const PageQuery = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1, description: "Page to return.", examples: [1] }),
  ),
  page_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 10, description: "Items on a page.", examples: [10] }),
  ),
};

export const E164 = Text({
  pattern: E164_FORM.source,
  form: "be a phone number in E.164 form, such as +14155550123",
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
