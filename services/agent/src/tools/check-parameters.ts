import type { ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { normalizeVariableName } from "@parley/shared/domain/variables/name";
import { invalid } from "@parley/shared/errors";
import { checkSchema } from "./check-schema.ts";

/** What every provider's models accept as the name of an argument. */
const ARGUMENT = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * The rules that hold for the parameters of every tool.
 * @throws ServiceError invalid
 */
export function checkParameters(parameters: readonly ToolParameter[]): void {
  for (const [at, parameter] of parameters.entries()) checkParameter(`parameters.${at}`, parameter);
  const byModel = parameters.map((parameter) => (parameter.source?.$case === "schema" ? parameter.name : null));
  for (const [at, name] of byModel.entries()) {
    if (name === null || byModel.indexOf(name) === at) continue;
    throw invalid(`parameters.${at}.name`, `parameters.${at}.name: the model has an argument ${name} already`);
  }
}

/** @throws ServiceError invalid at the first parameter that has the same key as an earlier one */
export function checkOnce(parameters: readonly ToolParameter[], keyOf: (parameter: ToolParameter) => string): void {
  const keys = parameters.map(keyOf);
  for (const [at, key] of keys.entries()) {
    if (keys.indexOf(key) === at) continue;
    throw invalid(`parameters.${at}.name`, `parameters.${at}.name must not be repeated: ${parameters[at]?.name}`);
  }
}

function checkParameter(path: string, { name, source, allowedFrom }: ToolParameter): void {
  if (!source) throw invalid(path, `${path} must have one of schema, variable, constant and secret`);
  if (source.$case === "schema") {
    if (!ARGUMENT.test(name))
      throw invalid(
        `${path}.name`,
        `${path}.name must be 1 to 64 letters, digits, dots, hyphens and underscores, because models use it`,
      );
    checkSchema(`${path}.schema`, source.value ?? {});
  } else if (allowedFrom !== undefined) {
    throw invalid(`${path}.allowed_from`, `${path}.allowed_from restricts the model, so it needs schema`);
  }
  if (source.$case === "variable") checkVariable(`${path}.variable`, source.value);
  if (allowedFrom !== undefined) checkVariable(`${path}.allowed_from`, allowedFrom);
}

/** @throws ServiceError invalid for a text that names no variable */
export function checkVariable(path: string, name: string): void {
  if (normalizeVariableName(name) === "")
    throw invalid(path, `${path} must be a variable's name, with a letter or a digit`);
}
