import { isTooLongForVariable } from "@parley/shared/domain/variables/values";
import { ServiceError, type Violation } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import { Kind, type Static, type TSchema, TypeRegistry } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { explain } from "./explain.ts";

// A separate kind for texts, because JSON Schema counts code points and TypeBox counts UTF-16 units.
TypeRegistry.Set<TextSchema>("Text", (schema, value) => {
  if (typeof value !== "string") return false;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, check } = schema;
  if (value.length < minLength || (value.length > maxLength && codePoints(value) > maxLength)) return false;
  if (minLength > 1 && codePoints(value) < minLength) return false;
  if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) return false;
  return check === undefined || check(value);
});

TypeRegistry.Set("VariableValue", (_schema, value) => !isTooLongForVariable(value));

export interface TextSchema extends TSchema {
  [Kind]: "Text";
  static: string;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  check?: (text: string) => boolean;
}

/** Checks values against a schema, compiled once. */
export type Validator<S extends TSchema> = (value: unknown) => Static<S>;

/**
 * @returns a function that returns the value, typed
 * @throws (the function) ServiceError invalid, with every violation and its path
 */
export function validator<S extends TSchema>(schema: S): Validator<S> {
  const compiled = TypeCompiler.Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return value;
    throw violation(explain(schema, value, ""));
  };
}

function violation(violations: readonly Violation[]): ServiceError {
  return new ServiceError("invalid", violations[0]?.message ?? "The request is not valid", { violations });
}
