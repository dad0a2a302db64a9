import { ConfigError } from "@parley/shared/config";
import { type Command, Option } from "commander";
import { examples, verb } from "../options.ts";
import { formatTable, print, visible } from "../print.ts";
import type { PublicApi } from "../public-api.ts";
import { readStdin } from "../stdin.ts";

interface ImportOptions {
  url?: string;
  file?: string;
  curl?: string;
  operation?: string[];
  json?: boolean;
}

interface Imported {
  tools: Record<string, unknown>[];
  problems: { operation: string; problem: string }[];
}

/** Adds `tool import`. */
export function addToolImport(program: Command, tool: Command, api: () => PublicApi): void {
  const sources = ["url", "file", "curl"];
  const source = (flags: string, name: string, description: string) =>
    new Option(flags, description).conflicts(sources.filter((other) => other !== name));
  verb(tool, "import")
    .description("Show the tools that an OpenAPI document or a curl command makes, and create the chosen ones")
    .addOption(source("--url <url>", "url", "Address of an OpenAPI document"))
    .addOption(source("--file <file>", "file", "File with an OpenAPI document, in JSON or YAML"))
    .addOption(source("--curl <command>", "curl", "curl command; - reads it from standard input"))
    .option("--operation <name...>", "Names of the tools to create, as shown, or the document's operationIds")
    .addHelpText(
      "after",
      examples(
        program,
        "tool import --url https://api.shop.example/openapi.json",
        "tool import --file openapi.yaml --operation getOrder --operation createOrder",
        "tool import --curl - < command.txt",
      ),
    )
    .action(async ({ url, file, curl, operation, json }: ImportOptions, command: Command) => {
      if (url === undefined && file === undefined && curl === undefined)
        command.error("error: give one of --url, --file and --curl");
      const body = file !== undefined ? { document: await textOf(file) } : url !== undefined ? { url } : { curl };
      if (body.curl === "-") body.curl = await readStdin();
      const imported = await api().post<Imported>("/tools/import", body);
      if (!operation) return print(json, imported, shown(imported));
      const created: Record<string, unknown>[] = [];
      try {
        for (const each of chosen(imported, operation)) created.push(await api().post("/tools", each));
      } finally {
        // Also of those before one that is refused: their secrets are not shown again.
        if (created.length > 0) await print(json, { tools: created }, shownCreated(created));
      }
    });
}

async function textOf(path: string): Promise<string> {
  return Bun.file(path)
    .text()
    .catch(() => {
      throw new ConfigError(`${path} cannot be read`);
    });
}

/** Those of the given names, all of which must be there before any is created. @throws ConfigError */
function chosen({ tools }: Imported, names: readonly string[]): Record<string, unknown>[] {
  return names.map((name) => {
    const found = tools.find((tool) => tool.name === name || tool.name === asToolName(name));
    if (!found) throw new ConfigError(`There is no tool ${name}: leave out --operation to see their names`);
    return found;
  });
}

/** As the import makes a name of an operationId. */
function asToolName(operationId: string): string {
  return operationId.replaceAll(/[^a-zA-Z0-9]+/g, "_");
}

function shownCreated(tools: readonly Record<string, unknown>[]): string {
  const rows = tools.map(({ id, name, signing_secret }) => ({ id, name, signing_secret }));
  const text = formatTable(["id", "name", "signing_secret"], rows as never);
  return `${text}\n\nKeep the signing secrets now: they are not shown again.`;
}

function shown({ tools, problems }: Imported): string {
  const rows = tools.map(({ name, method, url, auth, headers, parameters }) => {
    const secrets = new Set(secretsIn({ auth, headers, parameters }));
    return { name, method, url, secrets: [...secrets].join(", ") };
  });
  const table = rows.length > 0 ? formatTable(["name", "method", "url", "secrets"], rows as never) : "No tools.";
  const notes = problems.map(({ operation, problem }) => visible(`${operation}: ${problem}`));
  const next = "Nothing is created yet. Make the secrets (parley secret set), then name the tools with --operation.";
  return [table, ...(notes.length > 0 ? ["", ...notes] : []), ...(rows.length > 0 ? ["", next] : [])].join("\n");
}

/** The names of secrets, which stand in several places. */
function secretsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "secret" in value && typeof value.secret === "string" ? [value.secret] : [];
  return [...own, ...Object.entries(value).flatMap(([name, inner]) => (name === "schema" ? [] : secretsIn(inner)))];
}
