import type { Settings } from "@parley/proto/parley/account/v1/account.ts";
import type { Command } from "commander";
import { type Environment, withAccount } from "../connection.ts";
import { examples, jsonOption, ownerOption, parseWholeNumber } from "../options.ts";
import { formatRecord, print } from "../print.ts";

interface OwnerOptions {
  owner: string;
  json?: boolean;
}

export function addSettingsCommands(program: Command, env: Environment): void {
  const settings = program
    .command("settings")
    .description("Manage an owner's settings")
    .addHelpText(
      "after",
      examples(program, "settings get --owner own_…", "settings set --retention-days 30 --owner own_…"),
    );

  settings
    .command("get")
    .description("Show an owner's settings")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.getSettings({ ownerId: owner }));
      await show(response.settings, json);
    });

  settings
    .command("set")
    .description("Change an owner's settings")
    .requiredOption("--retention-days <days>", "Days for which conversations are kept, 1 to 3650", parseWholeNumber)
    .addOption(ownerOption())
    .addOption(jsonOption())
    .addHelpText("after", examples(program, "settings set --retention-days 30 --owner own_…"))
    .action(async ({ owner, retentionDays, json }: OwnerOptions & { retentionDays: number }) => {
      const response = await withAccount(env, (account) => account.updateSettings({ ownerId: owner, retentionDays }));
      await show(response.settings, json);
    });
}

function show(settings: Settings | undefined, json: boolean | undefined): Promise<void> {
  const fields = { retention_days: settings?.retentionDays ?? null };
  return print(json, fields, formatRecord(fields));
}
