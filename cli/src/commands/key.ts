import type { ApiKey } from "@parley/proto/parley/account/v1/account.ts";
import { SCOPES } from "@parley/shared/domain/api-names";
import type { Command } from "commander";
import { type AccountClient, type Environment, withAccount } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb, parseList, parseTime } from "../options.ts";
import { presentKey, presentListedKey, presentNewKey } from "../present.ts";
import { formatRecord, formatTable, print, printRecord } from "../print.ts";

interface NewKeyOptions extends OwnerOptions {
  name?: string;
  expiresAt?: Date;
  scopes?: string[];
}

type Change = (account: AccountClient, key: { ownerId: string; keyId: string }) => Promise<{ key: ApiKey | undefined }>;

export function addKeyCommands(program: Command, env: Environment): void {
  const key = program
    .command("key")
    .description("Manage the API keys of an owner")
    .addHelpText(
      "after",
      examples(
        program,
        'key create --owner own_… --name "CI"',
        "key list --owner own_…",
        "key deactivate key_… --owner own_…",
      ),
    );

  ownerVerb(key, "create")
    .description("Create a key and show it; it is not shown again")
    .option("--name <name>", "Name that identifies the key, up to 100 characters")
    .option("--expires-at <time>", "Date or time at which the key stops working", parseTime)
    .option(
      "--scopes <scopes>",
      "What the key may do, separated by commas (default: *, everything but agents:override)",
      parseList,
    )
    .addHelpText(
      "after",
      `
Scopes: ${SCOPES.join(", ")}
${examples(program, "key create --owner own_…", 'key create --owner own_… --name "CI" --expires-at 2030-01-31T12:00:00Z --scopes agents:read,chat --json')}`,
    )
    .action(async ({ owner, name = "", expiresAt, scopes = [], json }: NewKeyOptions) => {
      const response = await withAccount(env, (account) =>
        account.createKey({ ownerId: owner, name, expiresAt, scopes }),
      );
      const fields = presentNewKey(response.key, response.apiKey);
      await print(json, fields, `${formatRecord(fields)}\n\nKeep the api_key now: it is not shown again.`);
    });

  ownerVerb(key, "list")
    .description("List an owner's keys, newest first")
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.listKeys({ ownerId: owner }));
      const keys = response.keys.map(presentListedKey);
      const columns = ["key_id", "prefix", "name", "status", "scopes", "expires_at", "created_at", "last_used_at"];
      await print(json, { keys }, keys.length > 0 ? formatTable(columns, keys) : `${owner} has no keys yet.`);
    });

  addChange(key, env, "activate", "Activate an inactive key", (account, request) => account.activateKey(request));
  addChange(
    key,
    env,
    "deactivate",
    "Deactivate a key within a second, until you activate it again",
    (account, request) => account.deactivateKey(request),
  );

  ownerVerb(key, "delete")
    .description("Delete a key for good; it stops working within a second")
    .argument("<key_id>")
    .action(async (keyId: string, { owner, json }: OwnerOptions) => {
      await withAccount(env, (account) => account.deleteKey({ ownerId: owner, keyId }));
      await print(json, { key_id: keyId, deleted: true }, `Deleted ${keyId}.`);
    });
}

function addChange(noun: Command, env: Environment, name: string, description: string, change: Change): void {
  ownerVerb(noun, name)
    .description(description)
    .argument("<key_id>")
    .addHelpText("after", examples(noun, `key ${name} key_… --owner own_…`))
    .action(async (keyId: string, { owner, json }: OwnerOptions) => {
      const { key } = await withAccount(env, (account) => change(account, { ownerId: owner, keyId }));
      await printRecord(json, presentKey(key));
    });
}
