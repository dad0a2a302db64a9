import type { Command } from "commander";
import type { Environment } from "../connection.ts";
import { examples, verb } from "../options.ts";
import { formatRecord, formatTable, print, type Value } from "../print.ts";
import { publicApi } from "../public-api.ts";

interface CallsOptions {
  status?: string;
  batch?: string;
  json?: boolean;
}

const COLUMNS = ["call_id", "status", "outcome", "to_mobile_number", "created_at", "duration_seconds"];

export function addCallsCommands(program: Command, env: Environment): void {
  const calls = program
    .command("calls")
    .description("Show and hang up the calls that agents make, with the key in PARLEY_API_KEY")
    .addHelpText("after", examples(program, "calls list --status RINGING,IN_PROGRESS", "calls hang-up call_…"));

  verb(calls, "list")
    .description("List the newest 100 calls")
    .option(
      "--status <statuses>",
      "Only calls with these statuses, separated by commas: QUEUED, RINGING, IN_PROGRESS, ENDED",
    )
    .option("--batch <batch_id>", "Only calls of this batch")
    .action(async ({ status, batch, json }: CallsOptions) => {
      const query = new URLSearchParams({
        page_size: "100",
        ...(status && { status }),
        ...(batch && { batch_id: batch }),
      });
      const list = await publicApi(env).get<{ calls: Record<string, Value>[] }>(`/calls?${query}`);
      await print(json, list, list.calls.length > 0 ? formatTable(COLUMNS, list.calls) : "No calls match.");
    });

  for (const [name, description, method, action] of [
    ["get", "Show a call", "get", ""],
    ["hang-up", "Remove a call from the queue, stop its ringing, or end it", "post", "/hangup"],
  ] as const) {
    verb(calls, name)
      .description(description)
      .argument("<call_id>", "The call, call_…")
      .action(async (callId: string, { json }: CallsOptions) => {
        const path = `/calls/${encodeURIComponent(callId)}${action}`;
        const call = await publicApi(env)[method]<Record<string, Value>>(path);
        await print(json, call, formatRecord(call));
      });
  }
}
