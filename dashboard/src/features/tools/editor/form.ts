import type { components } from "../../../api/gen/schema.ts";
import { constantOf, objectIn, textOfConstant } from "./json-text.ts";

type Schemas = components["schemas"];
type Tool = Schemas["Tool"];
/** The body of a tool's PATCH; that of its POST has the same fields. */
export type ToolBody = Schemas["UpdateToolRequest"];

export const SOURCES = ["schema", "variable", "constant", "secret"] as const;
export type Source = (typeof SOURCES)[number];
export type Place = NonNullable<Schemas["ToolParameter"]["in"]>;

/** A parameter as it is edited. It keeps what was entered for the sources that it does not have now. */
export interface ParameterRow {
  name: string;
  in: Place | null;
  required: boolean;
  source: Source;
  /** JSON. */
  schema: string;
  variable: string;
  /** JSON, or a text as it is. */
  constant: string;
  secret: string;
  allowed_from: string;
}

export interface HeaderRow {
  name: string;
  value: string | { secret: string };
}

/** A tool as it is edited: lists instead of objects, so that a name can be typed. */
export type ToolForm = Omit<ToolBody, "headers" | "parameters"> & {
  type: Tool["type"];
  name: string;
  description: string;
  headers: readonly HeaderRow[];
  parameters: readonly ParameterRow[];
};

export const NEW_PARAMETER: ParameterRow = {
  name: "",
  in: null,
  required: true,
  source: "schema",
  schema: '{ "type": "string" }',
  variable: "",
  constant: "",
  secret: "",
  allowed_from: "",
};

const NEW = { name: "", description: "", headers: [], parameters: [] } as const;

/** A tool that does not exist yet, with the API's defaults where a field shows them. */
export function newForm(type: Tool["type"]): ToolForm {
  if (type === "http") return { ...NEW, type, method: "GET", url: "" };
  return type === "mcp" ? { ...NEW, type, url: "", on_change: "keep_if_schema_same" } : { ...NEW, type, wait: true };
}

/** The fields that each type has beside those of every tool. */
const FIELDS: Readonly<Record<Tool["type"], readonly (keyof ToolBody)[]>> = {
  http: ["method", "url", "auth", "retries", "idempotent", "result", "assignments"],
  client: ["wait"],
  mcp: ["url", "auth", "tools", "on_change"],
};
const COMMON: readonly (keyof ToolBody)[] = ["name", "description", "timeout_ms", "speech", "interruption", "run"];

/** A stored tool in the form of its editor. */
export function formOf(tool: Tool): ToolForm {
  const fields = [...COMMON, ...FIELDS[tool.type]].map((field) => [field, tool[field as keyof Tool]]);
  return {
    ...(Object.fromEntries(fields) as Pick<ToolForm, "name" | "description">),
    type: tool.type,
    headers: Object.entries(tool.headers ?? {}).map(([name, value]) => ({ name, value })),
    parameters: (tool.parameters ?? []).map(rowOf),
  };
}

function rowOf(parameter: Schemas["ToolParameter"]): ParameterRow {
  const source = SOURCES.find((each) => Object.hasOwn(parameter, each)) ?? "schema";
  return {
    ...NEW_PARAMETER,
    name: parameter.name,
    in: parameter.in ?? null,
    required: parameter.required ?? false,
    source,
    allowed_from: parameter.allowed_from ?? "",
    ...(source === "schema" && { schema: JSON.stringify(parameter.schema, null, 2) }),
    ...(source === "variable" && { variable: parameter.variable ?? "" }),
    ...(source === "constant" && { constant: textOfConstant(parameter.constant) }),
    ...(source === "secret" && { secret: parameter.secret ?? "" }),
  };
}

/** What to send for a form, and what keeps it from being sent, by the paths of the API. */
export function bodyOf(form: ToolForm): { body: ToolBody; faults: ReadonlyMap<string, string> } {
  const { type, headers, parameters } = form;
  const faults = new Map<string, string>();
  const body: ToolBody = {};
  for (const field of [...COMMON, ...FIELDS[type]])
    if (form[field] !== undefined) Object.assign(body, { [field]: form[field] });
  if (type !== "client") body.headers = headersOf(headers, faults);
  if (type !== "mcp") body.parameters = parameters.map((row, at) => parameterOf(row, at, faults));
  return { body: { ...body, name: form.name.trim(), ...(body.url != null && { url: body.url.trim() }) }, faults };
}

function headersOf(rows: readonly HeaderRow[], faults: Map<string, string>): NonNullable<ToolBody["headers"]> {
  const names = rows.map(({ name }) => name.trim());
  for (const [at, name] of names.entries()) {
    if (name === "") faults.set(`headers.${at}`, "Enter the name of the header, or remove the row.");
    else if (names.indexOf(name) !== at) faults.set(`headers.${at}`, "This header is already in the list.");
  }
  return Object.fromEntries(rows.map(({ value }, at) => [names[at], value]));
}

function parameterOf(row: ParameterRow, at: number, faults: Map<string, string>): Schemas["ToolParameter"] {
  const { source, required } = row;
  const place = row.in && { in: row.in };
  const common = { name: row.name.trim(), ...place, required };
  if (source !== "schema")
    return { ...common, [source]: source === "constant" ? constantOf(row.constant) : row[source] };
  const schema = objectIn(row.schema);
  if (!schema) faults.set(`parameters.${at}.schema`, "This is not a JSON object.");
  const allowedFrom = row.allowed_from.trim();
  return { ...common, schema: schema ?? {}, ...(allowedFrom && { allowed_from: allowedFrom }) };
}

/** The path parameters that an address names, such as `order_id` in `/orders/{order_id}`. */
export function namesInPath(url: string): string[] {
  const names = [...url.replaceAll(/\{\{.*?\}\}/g, "").matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name.trim());
  return [...new Set(names)];
}
