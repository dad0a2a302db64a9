import { type HttpTool, ParameterPlace, type ToolHeader, ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import { fillText, parameterValue, Refused, type Sources, secretOf, textOf } from "./values.ts";

/** A request before its signature and authorization. */
export interface HttpRequest {
  method: string;
  url: string;
  /** By name in lower case. */
  headers: Record<string, string>;
  body: string;
}

const BODY = ParameterPlace.PARAMETER_PLACE_BODY;
const METHODS: Readonly<Record<ToolMethod, string>> = {
  [ToolMethod.TOOL_METHOD_UNSPECIFIED]: "GET",
  [ToolMethod.TOOL_METHOD_GET]: "GET",
  [ToolMethod.TOOL_METHOD_HEAD]: "HEAD",
  [ToolMethod.TOOL_METHOD_POST]: "POST",
  [ToolMethod.TOOL_METHOD_PUT]: "PUT",
  [ToolMethod.TOOL_METHOD_PATCH]: "PATCH",
  [ToolMethod.TOOL_METHOD_DELETE]: "DELETE",
};

function methodOf({ method }: Pick<HttpTool, "method">): string {
  return METHODS[method];
}

/**
 * Builds a tool's request from its parameters, which have their places in the path, the query, the headers and a JSON body.
 * @throws Refused when a value is missing or cannot stand where it should
 */
export function requestOf(tool: HttpTool, sources: Sources): HttpRequest {
  const values = tool.parameters
    .map((parameter) => ({ name: parameter.name, in: parameter.in, value: parameterValue(parameter, sources) }))
    // Only JSON can say null.
    .filter((parameter) => parameter.value !== undefined && (parameter.value !== null || parameter.in === BODY));
  const at = (place: ParameterPlace) => values.filter((parameter) => parameter.in === place);
  const headers = {
    ...headersOf(tool.headers, sources),
    ...Object.fromEntries(
      at(ParameterPlace.PARAMETER_PLACE_HEADER).map(({ name, value }) => headerOf(name, textOf(value))),
    ),
  };
  const path = new Map(at(ParameterPlace.PARAMETER_PLACE_PATH).map(({ name, value }) => [name, textOf(value)]));
  const url = withQuery(urlOf(tool.url, path, sources), at(ParameterPlace.PARAMETER_PLACE_QUERY));
  const fields = at(BODY).map(({ name, value }) => [name, value]);
  if (fields.length === 0) return { method: methodOf(tool), url, headers, body: "" };
  const body = JSON.stringify(Object.fromEntries(fields));
  return { method: methodOf(tool), url, headers: { ...headers, "content-type": "application/json" }, body };
}

/** The headers of a tool, filled in. @throws Refused as above */
export function headersOf(headers: readonly ToolHeader[], sources: Sources): Record<string, string> {
  const filled = headers.map(({ name, value }) => {
    if (value?.$case === "secret") return headerOf(name, secretOf(sources.secrets, value.value));
    return headerOf(
      name,
      fillText(value?.value ?? "", sources, (text) => text),
    );
  });
  return Object.fromEntries(filled);
}

/** RFC 9110, 5.5: visible characters, spaces and tabs, of Latin-1. @throws Refused for other values */
export function headerOf(name: string, value: string): [name: string, value: string] {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new Refused(
      `Nothing was called: the value of the header "${name}" has characters that a header cannot have.`,
    );
  }
  return [name.toLowerCase(), value.trim()];
}

/** The scheme and the host, which no value can change, then the path with its segments, then the query of the template. */
const PARTS = /^(https?:\/\/[^/?]+)([^?]*)(.*)$/is;
/** The segments that lead elsewhere (https://url.spec.whatwg.org/#double-dot-path-segment). */
const NO_SEGMENT = /^(?:\.|%2e){0,2}$/i;

function urlOf(template: string, path: ReadonlyMap<string, string>, sources: Sources): string {
  /** A written value has no `/` and no `?`, so that the parts are always those of the template. */
  const partsWith = (write: (value: string) => string) => {
    const [, origin = "", whole = "", query = ""] = PARTS.exec(fillText(template, sources, write)) ?? [];
    const filled = whole.replace(/\{([^{}]+)\}/g, (_, name: string) => {
      const value = path.get(name);
      if (value === undefined) throw new Refused(`Nothing was called: the path parameter "${name}" has no value.`);
      return write(value);
    });
    return { origin, segments: filled.split("/"), query };
  };
  const { origin, segments, query } = partsWith((text) => encodeURIComponent(text.toWellFormed()));
  const own = partsWith(() => "x").segments;
  if (segments.some((segment, at) => segment !== own[at] && NO_SEGMENT.test(segment)))
    throw new Refused('Nothing was called: a value in the path of the URL must not be empty, "." or "..".');
  return origin + segments.join("/") + query;
}

/** Appends the parameters; one whose value is a list stands once for each item. */
function withQuery(url: string, parameters: readonly { name: string; value: unknown }[]): string {
  const query = new URLSearchParams();
  for (const { name, value } of parameters) {
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, textOf(item));
  }
  // Not every server reads + as a space.
  const text = query.toString().replaceAll("+", "%20");
  if (text === "") return url;
  const separator = !url.includes("?") ? "?" : /[?&]$/.test(url) ? "" : "&";
  return url + separator + text;
}
