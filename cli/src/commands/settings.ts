import type { Settings } from "@parley/proto/parley/account/v1/account.ts";
import { type Command, InvalidArgumentError } from "commander";
import { type Environment, withAccount } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb, parseWholeNumber } from "../options.ts";
import { printRecord } from "../print.ts";

interface SettingsOptions {
  retentionDays?: number;
  timezone?: string;
}

export function addSettingsCommands(program: Command, env: Environment): void {
  const settings = program
    .command("settings")
    .description("Manage an owner's settings")
    .addHelpText(
      "after",
      examples(program, "settings get --owner own_…", "settings set --retention-days 30 --owner own_…"),
    );

  ownerVerb(settings, "get")
    .description("Show an owner's settings")
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.getSettings({ ownerId: owner }));
      await show(response.settings, json);
    });

  ownerVerb(settings, "set")
    .description("Change an owner's settings")
    .option("--retention-days <days>", "Days for which conversations are kept, 1 to 3650", parseWholeNumber)
    .option("--timezone <zone>", "IANA time zone of agents that have none of their own; empty for UTC")
    .addHelpText("after", examples(program, "settings set --retention-days 30 --owner own_…"))
    .action(async ({ owner, retentionDays, timezone, json }: OwnerOptions & SettingsOptions) => {
      if (retentionDays === undefined && timezone === undefined)
        throw new InvalidArgumentError("Give --retention-days, --timezone or both.");
      const changed = { ownerId: owner, retentionDays, timezone };
      const response = await withAccount(env, (account) => account.updateSettings(changed));
      await show(response.settings, json);
    });
}

function show(settings: Settings | undefined, json: boolean | undefined): Promise<void> {
  return printRecord(json, { retention_days: settings?.retentionDays ?? null, timezone: settings?.timezone ?? null });
}
