import type { ApiKey } from "@parley/proto/parley/account/v1/account.ts";
import type { Command } from "commander";
import { type AccountClient, type Environment, withAccount } from "../connection.ts";
import { jsonOption, ownerOption, parseList, parseTime } from "../options.ts";
import { presentKey, presentNewKey } from "../present.ts";
import { formatRecord, formatTable, print } from "../print.ts";

interface OwnerOptions {
  owner: string;
  json?: boolean;
}

interface NewKeyOptions extends OwnerOptions {
  name?: string;
  expiresAt?: Date;
  scopes?: string[];
}

type Change = (account: AccountClient, key: { ownerId: string; keyId: string }) => Promise<{ key: ApiKey | undefined }>;

export function addKeyCommands(program: Command, env: Environment): void {
  const key = program
    .command("key")
    .description("the API keys of an owner")
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley key create --owner own_… --name "CI"
  $ bun run parley key list --owner own_…
  $ bun run parley key deactivate key_… --owner own_…`,
    );

  key
    .command("create")
    .description("makes a key and shows it, this once")
    .addOption(ownerOption())
    .option("--name <name>", "to tell it from others, up to 100 characters")
    .option("--expires-at <time>", "date or time from which it no longer works", parseTime)
    .option("--scopes <scopes>", "what it may do, separated by commas (default: everything)", parseList)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Scopes: agents:read, agents:write, prompts:read, prompts:write, conversations:read, chat, calls, catalogue:read, *

Examples:
  $ bun run parley key create --owner own_…
  $ bun run parley key create --owner own_… --name "CI" --expires-at 2030-01-31T12:00:00Z --scopes agents:read,chat --json`,
    )
    .action(async ({ owner, name = "", expiresAt, scopes = [], json }: NewKeyOptions) => {
      const response = await withAccount(env, (account) =>
        account.createKey({ ownerId: owner, name, expiresAt, scopes }),
      );
      const fields = presentNewKey(response.key, response.apiKey);
      print(json, fields, `${formatRecord(fields)}\n\nKeep the api_key now: it is not shown again.`);
    });

  key
    .command("list")
    .description("lists an owner's keys, newest first")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.listKeys({ ownerId: owner }));
      const keys = response.keys.map(presentKey);
      const columns = ["key_id", "prefix", "name", "status", "scopes", "expires_at", "created_at"];
      print(json, { keys }, keys.length > 0 ? formatTable(columns, keys) : `${owner} has no keys yet.`);
    });

  addChange(key, env, "activate", "switches an inactive key on again", (account, request) =>
    account.activateKey(request),
  );
  addChange(key, env, "deactivate", "switches a key off within a second, until it is activated", (account, request) =>
    account.deactivateKey(request),
  );

  key
    .command("delete")
    .description("deletes a key: it stops working within a second, for good")
    .argument("<key_id>")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async (keyId: string, { owner, json }: OwnerOptions) => {
      await withAccount(env, (account) => account.deleteKey({ ownerId: owner, keyId }));
      print(json, { key_id: keyId, deleted: true }, `Deleted ${keyId}.`);
    });
}

function addChange(noun: Command, env: Environment, verb: string, description: string, change: Change): void {
  noun
    .command(verb)
    .description(description)
    .argument("<key_id>")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExample:\n  $ bun run parley key ${verb} key_… --owner own_…`)
    .action(async (keyId: string, { owner, json }: OwnerOptions) => {
      const { key } = await withAccount(env, (account) => change(account, { ownerId: owner, keyId }));
      const fields = presentKey(key);
      print(json, fields, formatRecord(fields));
    });
}
