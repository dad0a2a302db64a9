import { randomBytes } from "node:crypto";
import type { Owner, Tier } from "@parley/proto/parley/account/v1/account.ts";
import { TIERS } from "@parley/shared/api-names";
import { type Command, Option } from "commander";
import { type AccountClient, type Environment, withAccount } from "../connection.ts";
import { jsonOption, ownerOption, parseWholeNumber } from "../options.ts";
import { presentOwner, presentOwnerInFull } from "../present.ts";
import { formatRecord, formatTable, print } from "../print.ts";

interface PlanOptions {
  tier?: keyof typeof TIERS;
  rateLimit?: number;
  json?: boolean;
}

interface PasswordOptions {
  owner: string;
  stdin?: boolean;
  json?: boolean;
}

const PAGE_SIZE = 100;
/** 24 characters of base64url. */
const PASSWORD_BYTES = 18;

export function addOwnerCommands(program: Command, env: Environment): void {
  const owner = program
    .command("owner")
    .description("the accounts whose data API keys open")
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley owner create --name "Acme" --email ops@acme.example
  $ bun run parley owner list
  $ bun run parley owner update own_… --tier enterprise --rate-limit 2500`,
    );

  owner
    .command("create")
    .description("makes an owner")
    .requiredOption("--name <name>", "1 to 100 characters")
    .requiredOption("--email <email>", "one owner's only")
    .addOption(tierOption().default("free"))
    .addOption(rateLimitOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley owner create --name "Acme" --email ops@acme.example --tier pro
  $ bun run parley owner create --name "Acme" --email ops@acme.example --tier enterprise --rate-limit 2500 --json`,
    )
    .action(async ({ name, email, json, ...plan }: PlanOptions & { name: string; email: string }) => {
      const response = await withAccount(env, (account) =>
        account.createOwner({ name, email, tier: TIERS[plan.tier ?? "free"], rateLimitPerMinute: plan.rateLimit }),
      );
      const fields = presentOwner(response.owner);
      print(json, fields, formatRecord(fields));
    });

  owner
    .command("list")
    .description("lists all owners, newest first")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: boolean }) => {
      const owners = (await withAccount(env, listAllOwners)).map(presentOwnerInFull);
      const columns = ["owner_id", "name", "email", "tier", "rate_limit_per_minute", "created_at"];
      print(json, { owners }, owners.length > 0 ? formatTable(columns, owners) : "There are no owners yet.");
    });

  owner
    .command("show")
    .description("shows an owner")
    .argument("<owner_id>")
    .addOption(jsonOption())
    .action(async (ownerId: string, { json }: { json?: boolean }) => {
      const response = await withAccount(env, (account) => account.getOwner({ ownerId }));
      const fields = presentOwnerInFull(response.owner);
      print(json, fields, formatRecord(fields));
    });

  owner
    .command("update")
    .description("changes an owner; what is not given stays")
    .argument("<owner_id>")
    .option("--name <name>", "1 to 100 characters")
    .addOption(tierOption())
    .addOption(rateLimitOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A new tier or limit holds for the owner's keys within a second.

Examples:
  $ bun run parley owner update own_… --name "Acme Europe"
  $ bun run parley owner update own_… --tier enterprise --rate-limit 2500`,
    )
    .action(async (ownerId: string, { name, json, ...plan }: PlanOptions & { name?: string }) => {
      const tier: Tier | undefined = plan.tier && TIERS[plan.tier];
      const response = await withAccount(env, (account) =>
        account.updateOwner({ ownerId, name, tier, rateLimitPerMinute: plan.rateLimit }),
      );
      const fields = presentOwnerInFull(response.owner);
      print(json, fields, formatRecord(fields));
    });

  owner
    .command("password")
    .description("gives an owner a password to sign in with, and ends the owner's sessions")
    .addOption(ownerOption())
    .option("--stdin", "read the password from standard input; else one is made and shown, this once")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A password has 15 to 256 characters.

Examples:
  $ bun run parley owner password --owner own_…
  $ bun run parley owner password --owner own_… --stdin < password.txt`,
    )
    .action(async ({ owner, stdin, json }: PasswordOptions) => {
      const password = stdin ? await readLine() : randomBytes(PASSWORD_BYTES).toString("base64url");
      const fields = await withAccount(env, async (account) => {
        await account.setPassword({ ownerId: owner, password });
        const { owner: changed } = await account.getOwner({ ownerId: owner });
        return { owner_id: owner, email: changed?.email ?? null, ...(!stdin && { password }) };
      });
      const keep = stdin ? "" : "\n\nKeep the password now: it is not shown again.";
      print(json, fields, `${formatRecord(fields)}${keep}`);
    });

  owner
    .command("delete")
    .description("deletes an owner: its keys and sessions stop working within a second, for good")
    .argument("<owner_id>")
    .addOption(jsonOption())
    .action(async (ownerId: string, { json }: { json?: boolean }) => {
      await withAccount(env, (account) => account.deleteOwner({ ownerId }));
      print(json, { owner_id: ownerId, deleted: true }, `Deleted ${ownerId}.`);
    });
}

function tierOption(): Option {
  return new Option("--tier <tier>", "100 or 500 requests per minute and key, or an agreed number").choices(
    Object.keys(TIERS),
  );
}

function rateLimitOption(): Option {
  return new Option("--rate-limit <number>", "requests per minute and key, for the enterprise tier").argParser(
    parseWholeNumber,
  );
}

/** Standard input without the end of its line. */
async function readLine(): Promise<string> {
  return (await Bun.stdin.text()).replace(/\r?\n$/, "");
}

async function listAllOwners(account: AccountClient): Promise<Owner[]> {
  const all: Owner[] = [];
  for (;;) {
    const afterOwnerId = all.at(-1)?.ownerId ?? "";
    const { owners } = await account.listOwners({ pageSize: PAGE_SIZE, afterOwnerId });
    all.push(...owners);
    if (owners.length < PAGE_SIZE) return all;
  }
}
