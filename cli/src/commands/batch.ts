import { basename } from "node:path";
import { REPEATED_OUTCOMES } from "@parley/shared/domain/api-names";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Environment } from "../connection.ts";
import { examples, parseTime, parseWholeNumber, verb } from "../options.ts";
import { formatRecord, formatTable, print, type Value } from "../print.ts";
import { publicApi } from "../public-api.ts";
import { textOfFile } from "../text-of-file.ts";

interface BatchOptions {
  name?: string;
  agent: string;
  csv: string;
  from?: string;
  start?: Date;
  window?: { from_time: string; to_time: string };
  timezone: string;
  retries: number;
  retryAfter: number;
  retryOn: string[];
  json?: boolean;
}

/** In addition to the fields that the API shows. */
interface Batch {
  counts: Record<string, number>;
}

const COLUMNS = ["batch_id", "name", "status", "agent_id", "total", "created_at", "ended_at"];

export function addBatchCommands(program: Command, env: Environment): void {
  const batch = program
    .command("batch")
    .description("Have an agent call many numbers, with the key in PARLEY_API_KEY")
    .addHelpText(
      "after",
      examples(
        program,
        "batch create --agent agt_… --csv customers.csv --window 09:00-17:00 --timezone America/New_York",
        "batch get bat_…",
      ),
    );

  verb(batch, "create")
    .description("Call the numbers of a CSV file")
    .requiredOption("--agent <agent_id>", "The agent that calls, agt_…")
    .requiredOption(
      "--csv <file>",
      "CSV file with a column to_mobile_number, and a dynamic variable in each other column",
    )
    .option("--name <name>", "Name to recognize the batch by (default: that of the file)")
    .option("--from <mobile_number>", "The number that calls (default: the agent's first)")
    .addOption(new Option("--start <time>", "When the first call may start (default: now)").argParser(parseTime))
    .addOption(
      new Option("--window <from-to>", "Time of day at which calls may start: 09:00-17:00").argParser(parseWindow),
    )
    .option("--timezone <zone>", "IANA time zone of the window", "UTC")
    .addOption(
      new Option(
        "--retries <number>",
        "Number of further calls to a number, if --retry-on has the outcome of the last one",
      )
        .argParser(parseWholeNumber)
        .default(0),
    )
    .addOption(
      new Option("--retry-after <minutes>", "Minutes between calls to a number")
        .argParser(parseWholeNumber)
        .default(60),
    )
    .addOption(
      new Option("--retry-on <outcomes...>", "Outcomes after which a number is called again")
        .choices(Object.keys(REPEATED_OUTCOMES))
        .default(["busy", "no_answer"]),
    )
    .action(
      async ({ name, agent, csv, from, start, window, timezone, retries, retryAfter, retryOn, json }: BatchOptions) => {
        const created = await publicApi(env).post<Batch>("/call-batches", {
          name: name ?? basename(csv),
          agent_id: agent,
          csv: await textOfFile(csv),
          ...(from && { from_mobile_number: from }),
          ...(start && { start_at: start.toISOString() }),
          ...(window && { window: { ...window, timezone } }),
          ...(retries > 0 && { retries: { max: retries, after_minutes: retryAfter, on: retryOn } }),
        });
        await show(created, json);
      },
    );

  verb(batch, "list")
    .description("List the newest 100 batches")
    .action(async ({ json }: BatchOptions) => {
      const list = await publicApi(env).get<{ batches: Record<string, Value>[] }>("/call-batches?page_size=100");
      await print(json, list, list.batches.length > 0 ? formatTable(COLUMNS, list.batches) : "There are no batches.");
    });

  for (const [name, description, method] of [
    ["get", "Show a batch with its counts", "get"],
    ["pause", "Start no further calls until the batch is resumed", "post"],
    ["resume", "Start further calls again", "post"],
    ["cancel", "Start no further calls, permanently", "post"],
  ] as const) {
    verb(batch, name)
      .description(description)
      .argument("<batch_id>", "The batch, bat_…")
      .action(async (batchId: string, { json }: BatchOptions) => {
        const path = `/call-batches/${encodeURIComponent(batchId)}${method === "get" ? "" : `/${name}`}`;
        await show(await publicApi(env)[method]<Batch>(path), json);
      });
  }
}

async function show({ counts, ...batch }: Batch, json: boolean | undefined): Promise<void> {
  await print(json, { ...batch, counts }, formatRecord({ ...batch, ...counts }));
}

function parseWindow(text: string): BatchOptions["window"] {
  const [, from_time, to_time] = /^(\d{2}:\d{2})-(\d{2}:\d{2})$/.exec(text) ?? [];
  if (!from_time || !to_time) throw new InvalidArgumentError("It must be two times of day, such as 09:00-17:00.");
  return { from_time, to_time };
}
