import type { components } from "../../../api/gen/schema.ts";
import { constantOf } from "../editor/json-text.ts";
import { simpleSchemaOf } from "../editor/parameters/simple-schema.ts";

type Tool = components["schemas"]["Tool"];

/** What a model may give to a tool. */
export interface Argument {
  name: string;
  schema: Readonly<Record<string, unknown>>;
  isRequired: boolean;
}

/** What the model may give: to an MCP tool, what the named tool of its server takes. */
export function argumentsOf(tool: Tool, mcpTool: string): Argument[] {
  if (tool.type !== "mcp")
    return (tool.parameters ?? []).flatMap(({ name, schema, required }) =>
      schema == null ? [] : [{ name, schema: schema as Record<string, unknown>, isRequired: required ?? false }],
    );
  const { properties = {}, required = [] } = (tool.mcp_tools?.find(({ name }) => name === mcpTool)?.input_schema ??
    {}) as { properties?: Record<string, Record<string, unknown>>; required?: readonly string[] };
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

/** The variables of a conversation that a call of the tool uses. */
export function variablesOf(tool: Tool): string[] {
  const texts = [tool.url ?? "", ...Object.values(tool.headers ?? {}).filter((value) => typeof value === "string")];
  const inTexts = texts.flatMap((text) =>
    [...text.matchAll(/\{\{\s*([^{}|]+?)\s*(?:\|[^{}]*)?\}\}/g)].map(([, name]) => name),
  );
  const ofParameters = (tool.parameters ?? []).flatMap(({ variable, allowed_from }) => [variable, allowed_from]);
  return [...new Set([...inTexts, ...ofParameters].filter((name) => name != null))];
}

/** The arguments that were typed, in the types of their schemas; those without a text are left out. */
export function typedArguments(of: readonly Argument[], values: Readonly<Record<string, string>>): object {
  const given = of.filter(({ name }) => (values[name] ?? "") !== "");
  return Object.fromEntries(given.map(({ name, schema }) => [name, typed(schema, values[name] ?? "")]));
}

function typed(schema: Argument["schema"], text: string): unknown {
  // A number among texts stays a text. What does not fit is sent as it is, and the answer says so, as to a model.
  return simpleSchemaOf(schema)?.kind === "string" ? text : constantOf(text);
}

/** The values of variables: JSON where it is typed, such as a list. */
export function typedVariables(values: Readonly<Record<string, string>>): object {
  const given = Object.entries(values).filter(([, text]) => text !== "");
  return Object.fromEntries(given.map(([name, text]) => [name, /^\s*[[{]/.test(text) ? constantOf(text) : text]));
}
