import { type JsonObject, parseObject } from "@parley/shared/json/json-object";
import type { Command } from "commander";
import type { Environment } from "../connection.ts";
import { examples, verb } from "../options.ts";
import { formatRecord, formatTable, print, type Value, visible, write } from "../print.ts";
import { plainApi } from "../public-api.ts";
import { readStdin } from "../stdin.ts";
import { addToolImport } from "./tool-import.ts";

interface Shown {
  json?: boolean;
}

type Tool = Record<string, unknown>;

const COLUMNS = ["id", "name", "type", "description"];
/** What a person sees of a tool; `--json` prints everything. */
const FIELDS = ["id", "name", "type", "description", "method", "url", "timeout_ms", "retries", "run", "updated_at"];
const SECRET_FIELDS = ["signing_secret", "old_secret_valid_until"];
/** A tool's call may take two minutes. */
const TRY_WITHIN_MS = 130_000;

export function addToolCommands(program: Command, env: Environment): void {
  const tool = program
    .command("tool")
    .description("Manage the tools that agents can call, with the key in PARLEY_API_KEY")
    .addHelpText(
      "after",
      examples(
        program,
        "tool create < look-up-order.json",
        "tool update tol_… <<< '{ \"timeout_ms\": 5000 }'",
        "tool import --url https://api.shop.example/openapi.json --operation getOrder",
        'tool try tol_… <<< \'{ "arguments": { "order_id": "A-1001" } }\'',
      ),
    );

  verb(tool, "list")
    .description("List the newest 100 tools")
    .option("--search <text>", "Only tools with this text in their name or description")
    .option("--type <type>", "Only tools of this type: http, client or mcp")
    .action(async ({ search, type, json }: Shown & { search?: string; type?: string }) => {
      const query = new URLSearchParams({ page_size: "100", ...(search && { search }), ...(type && { type }) });
      const list = await plainApi(env).get<{ tools: Tool[] }>(`/tools?${query}`);
      const rows = list.tools as Record<string, Value>[];
      await print(json, list as never, rows.length > 0 ? formatTable(COLUMNS, rows) : "No tools match.");
    });

  verb(tool, "get")
    .description("Show a tool; --json shows all of it")
    .argument("<tool_id>", "The tool, tol_…")
    .action(async (toolId: string, { json }: Shown) => {
      await show(await plainApi(env).get<Tool>(pathOf(toolId)), json);
    });

  verb(tool, "create")
    .description("Create a tool from the JSON object on standard input; its signing secret is not shown again")
    .action(async ({ json }: Shown, command: Command) => {
      const given = await readObject(command);
      await showSaved(await plainApi(env).post<Tool>("/tools", given), given, json);
    });

  addToolImport(program, tool, () => plainApi(env));

  verb(tool, "update")
    .description("Change the fields of a tool that the JSON object on standard input has")
    .argument("<tool_id>", "The tool, tol_…")
    .action(async (toolId: string, { json }: Shown, command: Command) => {
      const given = await readObject(command);
      await showSaved(await plainApi(env).patch<Tool>(pathOf(toolId), given), given, json);
    });

  verb(tool, "delete")
    .description("Delete a tool that no agent uses")
    .argument("<tool_id>", "The tool, tol_…")
    .action(async (toolId: string, { json }: Shown) => {
      const deleted = await plainApi(env).delete<Record<string, Value>>(pathOf(toolId));
      await print(json, deleted, formatRecord(deleted));
    });

  verb(tool, "rotate-secret")
    .description("Give a tool a new signing secret and show it once; the old one stays valid for 24 hours")
    .argument("<tool_id>", "The tool, tol_…")
    .action(async (toolId: string, { json }: Shown) => {
      await show(await plainApi(env).post<Tool>(`${pathOf(toolId)}/rotate-secret`), json);
    });

  verb(tool, "accept")
    .description("Accept what the server of an MCP tool changed: everything that it offers now is on")
    .argument("<tool_id>", "The tool, tol_…")
    .action(async (toolId: string, { json }: Shown) => {
      await show(await plainApi(env).post<Tool>(`${pathOf(toolId)}/accept`), json);
    });

  verb(tool, "try")
    .description("Call a tool with the arguments and variables in the JSON object on standard input")
    .argument("<tool_id>", "The tool, tol_…")
    .action(async (toolId: string, { json }: Shown, command: Command) => {
      const path = `${pathOf(toolId)}/try`;
      const tried = await plainApi(env).post<Tool>(path, await readObject(command), TRY_WITHIN_MS);
      await print(
        json,
        tried as never,
        formatRecord(scalarsOf(tried, ["status", "duration_ms", "is_error", "for_model"])),
      );
    });
}

function pathOf(toolId: string): string {
  return `/tools/${encodeURIComponent(toolId)}`;
}

async function readObject(command: Command): Promise<JsonObject> {
  const fields = parseObject(await readStdin());
  if (!fields) command.error("error: standard input must be a JSON object");
  return fields as JsonObject;
}

/** The API ignores fields that it does not know, so a misspelled one would go unnoticed. */
async function showSaved(tool: Tool, given: JsonObject, json: boolean | undefined): Promise<void> {
  await show(tool, json);
  const ignored = Object.keys(given).filter((field) => given[field] !== null && !Object.hasOwn(tool, field));
  if (ignored.length === 0) return;
  await write(process.stderr, `Ignored, because tools have no such field: ${visible(ignored.join(", "))}\n`);
}

async function show(tool: Tool, json: boolean | undefined): Promise<void> {
  const fields = scalarsOf(tool, [...FIELDS, ...SECRET_FIELDS]);
  const note = "signing_secret" in tool ? "\n\nKeep the signing_secret now: it is not shown again." : "";
  await print(json, tool as never, `${formatRecord(fields)}${shownContents(tool)}${note}`);
}

/** What an MCP tool has of its server's tools, and what it cannot have. */
function shownContents({ mcp_tools: tools = [], problems = [] }: Tool & Contents): string {
  const table = tools.length > 0 ? `\n\n${formatTable(["name", "state"], tools)}` : "";
  const notes = problems.map(({ name, problem }) => visible(`${name}: ${problem}`));
  return notes.length > 0 ? `${table}\n\n${notes.join("\n")}` : table;
}

interface Contents {
  mcp_tools?: readonly { name: string; state: string }[];
  problems?: readonly { name: string; problem: string }[];
}

function scalarsOf(object: Tool, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name] as Value]));
}
