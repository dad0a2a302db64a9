import type { ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { parseText } from "@parley/shared/domain/variables/grammar";
import { isSystemVariable, normalizeVariableName } from "@parley/shared/domain/variables/name";

/** Where the values of a call's parameters come from. */
export interface Sources {
  /** What the model gave, valid for the tool's schemas. */
  args: Readonly<Record<string, unknown>>;
  /** Dynamic variables by canonical key. */
  variables: Readonly<Record<string, unknown>>;
  /** The owner's secrets by name, those that exist of the ones that the tool names. */
  secrets: ReadonlyMap<string, string>;
}

/** Why a request cannot be made: what the model is told. */
export class Refused extends Error {}

/** The value of a parameter; undefined when it has none and needs none. @throws Refused without a required value */
export function parameterValue(
  { name, required, source }: ToolParameter,
  { args, variables, secrets }: Sources,
): unknown {
  switch (source?.$case) {
    case "schema":
      return Object.hasOwn(args, name) ? args[name] : undefined;
    case "constant":
      return source.value;
    case "secret":
      return secretOf(secrets, source.value);
    case "variable": {
      const value = variableOf(variables, normalizeVariableName(source.value));
      if (value === undefined && required)
        throw new Refused(`Nothing was called: the variable "${source.value}" has no value.`);
      return value;
    }
    default:
      return undefined;
  }
}

/** @throws Refused when the owner has none of this name */
export function secretOf(secrets: ReadonlyMap<string, string>, name: string): string {
  const value = secrets.get(name);
  if (value === undefined) throw new Refused(`Nothing was called: the secret "${name}" does not exist.`);
  return value;
}

/**
 * Fills the `{{variables}}` of a text.
 * @param write how a value stands in the text
 * @throws Refused when a variable has neither a value nor a default
 */
export function fillText(text: string, { variables }: Sources, write: (value: string) => string): string {
  const pieces = parseText(text).map((piece) => {
    if (typeof piece === "string") return piece;
    const value = variableOf(variables, piece.key) ?? piece.defaultText;
    if (value === null) throw new Refused(`Nothing was called: the variable "${piece.key}" has no value.`);
    return write(textOf(value));
  });
  return pieces.join("");
}

/** A value as text: a string as it is, everything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Null means the same as no value. A system variable always has one. */
function variableOf(variables: Sources["variables"], key: string): unknown {
  const value = Object.hasOwn(variables, key) ? (variables[key] ?? undefined) : undefined;
  return value === undefined && isSystemVariable(key) ? "" : value;
}
