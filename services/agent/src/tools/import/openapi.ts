import type { Tool, ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { PARAMETER_PLACES, TOOL_METHODS } from "@parley/shared/domain/tools";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { invalid } from "@parley/shared/errors";
import { isObject, type JsonObject, parseObject } from "@parley/shared/json/json-object";
import { DESCRIPTION_MAX, type Imported, type Problem, TOO_LONG, toolFrom, URL_MAX } from "./imported.ts";
import { toolName } from "./names.ts";
import { parametersOf } from "./parameters.ts";
import { type Parts, partsOf } from "./schemas.ts";
import { securityOf } from "./security.ts";
import { Unusable } from "./unusable.ts";

const METHODS = ["get", "head", "post", "put", "patch", "delete", "options", "trace"];
const OPERATIONS_MAX = 2_000;

interface OpenApiSource {
  /** JSON or YAML. */
  text: string;
  /** Where it was read, to which the addresses of its servers may be relative. */
  url?: string | undefined;
  /** The field of the request that names it. */
  path: string;
}

/** Makes a tool of each operation of an OpenAPI document. @throws ServiceError invalid for another document */
export function importOpenApi({ text, url, path }: OpenApiSource, allowedHosts: AllowList): Imported {
  const document = parse(path, text);
  const parts = partsOf(document);
  const imported: Imported = { tools: [], problems: [] };
  const names = new Set<string>();
  for (const [number, found] of operationsOf(document).entries()) {
    const place = `${found.method.toUpperCase()} ${found.route.slice(0, 200)}`;
    const notes: string[] = [];
    try {
      if (number >= OPERATIONS_MAX) throw new Unusable(`Only ${OPERATIONS_MAX} operations are read`);
      const pathItem = parts.resolve(found.pathItem);
      const operation = parts.resolve(pathItem[found.method]);
      const given = { ...found, document, parts, pathItem, operation, url };
      imported.tools.push(toolOf(given, { names, notes, allowedHosts }));
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      notes.splice(0, notes.length, error.message);
    }
    imported.problems.push(...notes.map((problem): Problem => ({ operation: place, problem: `${problem}.` })));
    if (number === OPERATIONS_MAX) break;
  }
  return imported;
}

/** @throws ServiceError invalid */
function parse(path: string, text: string): JsonObject {
  const document = parseObject(text) ?? parseYaml(path, text);
  if (typeof document.openapi !== "string" || !/^3\.[01](?:\.|$)/.test(document.openapi)) {
    const version =
      document.swagger === undefined
        ? ""
        : ` This one is Swagger ${String(document.swagger).slice(0, 20)}: convert it first.`;
    throw invalid(path, `${path} must be an OpenAPI document of version 3.0 or 3.1.${version}`);
  }
  return document;
}

function parseYaml(path: string, text: string): JsonObject {
  let document: unknown;
  try {
    document = Bun.YAML.parse(text);
  } catch (error) {
    const reason = error instanceof SyntaxError ? `: ${error.message.slice(0, 200)}` : "";
    throw invalid(path, `${path} is neither JSON nor YAML${reason}`);
  }
  if (!isObject(document)) throw invalid(path, `${path} must be an OpenAPI document of version 3.0 or 3.1`);
  return document;
}

interface Found {
  /** In lower case, as in the document. */
  method: string;
  route: string;
  pathItem: unknown;
}

function operationsOf({ paths }: JsonObject): Found[] {
  const routes = Object.entries(isObject(paths) ? paths : {});
  return routes.flatMap(([route, pathItem]) =>
    METHODS.filter((method) => isObject(pathItem) && isObject(pathItem[method])).map((method) => ({
      method,
      route,
      pathItem,
    })),
  );
}

interface Given extends Found {
  document: JsonObject;
  parts: Parts;
  pathItem: JsonObject;
  operation: JsonObject;
  url: string | undefined;
}

/** @throws Unusable */
function toolOf(
  { document, parts, method, route, pathItem, operation, url }: Given,
  { names, notes, allowedHosts }: { names: Set<string>; notes: string[]; allowedHosts: AllowList },
): Tool {
  const known = Object.entries(TOOL_METHODS).find(([name]) => name === method.toUpperCase());
  if (!known) throw new Unusable(`Tools have no ${method.toUpperCase()} requests`);
  const { auth, headers, parameters: keys, notes: ofSecurity } = securityOf(parts, document, operation);
  notes.push(...ofSecurity);
  const filled = parametersOf(parts, pathItem, operation, notes);
  const isSet = isSetBy(
    [auth?.kind?.$case === "header" ? auth.kind.value.name : "", ...headers.map(({ name }) => name)],
    keys,
  );
  const { operationId, summary, description } = operation;
  const about = [summary, description]
    .map((text) => (typeof text === "string" ? text.slice(0, 2 * DESCRIPTION_MAX).trim() : ""))
    .filter((text) => text !== "")
    .join("\n\n");
  const http = {
    method: known[1],
    url: addressOf([operation.servers, pathItem.servers, document.servers], route, url),
    headers,
    auth,
    parameters: [...filled.filter((parameter) => !isSet(parameter)), ...keys],
  };
  const name = typeof operationId === "string" ? operationId : `${method} ${route}`;
  const checked = toolFrom("checked", about || `${method.toUpperCase()} ${route}`, http, allowedHosts);
  return { ...checked, name: toolName(name, names) };
}

/** Whether a parameter is what authenticates: documents often have both. */
function isSetBy(headers: readonly string[], keys: readonly ToolParameter[]): (parameter: ToolParameter) => boolean {
  const names = new Set(headers.map((name) => name.toLowerCase()));
  return ({ name, in: place }) =>
    place === PARAMETER_PLACES.header ? names.has(name.toLowerCase()) : keys.some((key) => key.name === name);
}

/** The operation's address at the first server of the innermost list. @throws Unusable */
function addressOf(lists: readonly unknown[], route: string, url: string | undefined): string {
  const servers = lists.find((list) => Array.isArray(list) && list.length > 0) as unknown[] | undefined;
  const server = servers?.find(isObject) ?? { url: "/" };
  const variables = isObject(server.variables) ? server.variables : {};
  if (String(server.url).length > URL_MAX) throw new Unusable(TOO_LONG);
  const template = String(server.url ?? "/").replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) ? String(variable.default ?? "").slice(0, URL_MAX) : whole;
  });
  const base = URL.canParse(template) ? template : url === undefined ? null : URL.parse(template, url)?.href;
  if (!base)
    throw new Unusable(`The document does not tell the address of its server: it has ${template.slice(0, 200)}`);
  // A fragment only tells operations of one path apart.
  return base.replace(/[/#?]+$/, "") + route.replace(/#.*$/, "");
}
