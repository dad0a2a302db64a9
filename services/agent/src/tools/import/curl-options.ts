import { parseArgs } from "node:util";
import { split } from "shlex";
import { Unusable } from "./unusable.ts";

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const texts = { type: "string", multiple: true } as const;

/** The options of curl that say what is requested, and those that do not and stand in many commands. */
const OPTIONS = {
  request: { ...text, short: "X" },
  header: { ...texts, short: "H" },
  data: { ...texts, short: "d" },
  "data-ascii": texts,
  "data-binary": texts,
  "data-raw": texts,
  "data-urlencode": texts,
  json: texts,
  get: { ...flag, short: "G" },
  head: { ...flag, short: "I" },
  user: { ...text, short: "u" },
  "oauth2-bearer": text,
  cookie: { ...texts, short: "b" },
  url: texts,
  compressed: flag,
  "connect-timeout": text,
  fail: { ...flag, short: "f" },
  "fail-with-body": flag,
  globoff: { ...flag, short: "g" },
  "http1.1": flag,
  http2: flag,
  include: { ...flag, short: "i" },
  insecure: { ...flag, short: "k" },
  location: { ...flag, short: "L" },
  "max-time": { ...text, short: "m" },
  "no-buffer": { ...flag, short: "N" },
  output: { ...text, short: "o" },
  referer: { ...text, short: "e" },
  retry: text,
  "show-error": { ...flag, short: "S" },
  silent: { ...flag, short: "s" },
  "user-agent": { ...text, short: "A" },
  verbose: { ...flag, short: "v" },
  "write-out": { ...text, short: "w" },
} as const;

/** The request that a curl command makes. */
export interface CurlRequest {
  /** Null for curl's own choice. */
  method: string | null;
  url: string;
  headers: [name: string, value: string][];
  /** The pieces of the body. */
  data: string[];
  isJson: boolean;
  /** Whether the data go into the query. */
  isGet: boolean;
  isHead: boolean;
  /** `user:password`. */
  user: string | null;
  bearer: string | null;
}

/** Reads a command as a shell and curl would. Nothing is expanded or run. @throws Unusable */
export function readCurl(command: string): CurlRequest {
  const [name, ...args] = wordsOf(command);
  if (name !== "curl") throw new Unusable("The command must begin with curl");
  const { values, positionals } = optionsOf(args);
  const urls = [...positionals, ...(values.url ?? [])];
  if (urls.length !== 1) throw new Unusable(`The command must have one address, and has ${urls.length}`);
  if (values["data-urlencode"]) throw new Unusable("The option --data-urlencode sends a form, and tools send JSON");
  const data = ["data", "data-ascii", "data-binary"].flatMap((option) => values[option as "data"] ?? []);
  if (data.some((piece) => piece.startsWith("@")))
    throw new Unusable("The body is in a file: put its text into the command");
  const url = urls[0] ?? "";
  return {
    method: values.request ?? null,
    url: /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`,
    headers: [
      ...(values.header ?? []).map(headerOf),
      ...(values.cookie ?? []).map((cookie): [string, string] => ["Cookie", cookie]),
    ],
    data: [...data, ...(values["data-raw"] ?? []), ...(values.json ?? [])],
    isJson: values.json !== undefined,
    isGet: values.get === true,
    isHead: values.head === true,
    user: values.user ?? null,
    bearer: values["oauth2-bearer"] ?? null,
  };
}

function wordsOf(command: string): string[] {
  try {
    return split(command.trim());
  } catch {
    throw new Unusable("A quotation mark in the command has no other one");
  }
}

function optionsOf(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    throw new Unusable(`The command cannot be read: ${error instanceof Error ? error.message.split(". ")[0] : ""}`);
  }
}

function headerOf(line: string): [name: string, value: string] {
  const at = line.search(/[:;]/);
  return at === -1 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}
