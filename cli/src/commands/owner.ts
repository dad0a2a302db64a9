import { randomBytes } from "node:crypto";
import type { Owner, Tier } from "@parley/proto/parley/account/v1/account.ts";
import { TIERS } from "@parley/shared/domain/api-names";
import { presentCallPolicy } from "@parley/shared/domain/present/account";
import { type Command, Option } from "commander";
import { type AccountClient, type Environment, withAccount } from "../connection.ts";
import { examples, ownerVerb, parseWholeNumber, verb } from "../options.ts";
import { presentOwner, presentOwnerInFull } from "../present.ts";
import { formatRecord, formatTable, print, printRecord } from "../print.ts";
import { readStdin } from "../stdin.ts";

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
/** Encodes to 24 characters of base64url. */
const PASSWORD_BYTES = 18;

interface CallsOptions {
  countries?: string;
  callsPerDay?: number;
  minutesPerDay?: number;
  json?: boolean;
}

export function addOwnerCommands(program: Command, env: Environment): void {
  const owner = program
    .command("owner")
    .description("Manage owners, the accounts that API keys belong to")
    .addHelpText(
      "after",
      examples(
        program,
        'owner create --name "Acme" --email ops@acme.example',
        "owner list",
        "owner update own_… --tier enterprise --rate-limit 2500",
      ),
    );

  verb(owner, "create")
    .description("Create an owner")
    .requiredOption("--name <name>", "Name, 1 to 100 characters")
    .requiredOption("--email <email>", "Email address, unique among owners")
    .addOption(tierOption().default("free"))
    .addOption(rateLimitOption())
    .addHelpText(
      "after",
      examples(
        program,
        'owner create --name "Acme" --email ops@acme.example --tier pro',
        'owner create --name "Acme" --email ops@acme.example --tier enterprise --rate-limit 2500 --json',
      ),
    )
    .action(async ({ name, email, json, ...plan }: PlanOptions & { name: string; email: string }) => {
      const response = await withAccount(env, (account) =>
        account.createOwner({ name, email, tier: TIERS[plan.tier ?? "free"], rateLimitPerMinute: plan.rateLimit }),
      );
      await printRecord(json, presentOwner(response.owner));
    });

  verb(owner, "list")
    .description("List all owners, newest first")
    .action(async ({ json }: { json?: boolean }) => {
      const owners = (await withAccount(env, listAllOwners)).map(presentOwnerInFull);
      const columns = ["owner_id", "name", "email", "tier", "rate_limit_per_minute", "created_at"];
      await print(json, { owners }, owners.length > 0 ? formatTable(columns, owners) : "There are no owners yet.");
    });

  verb(owner, "show")
    .description("Show an owner")
    .argument("<owner_id>")
    .action(async (ownerId: string, { json }: { json?: boolean }) => {
      const response = await withAccount(env, (account) => account.getOwner({ ownerId }));
      await printRecord(json, presentOwnerInFull(response.owner));
    });

  verb(owner, "update")
    .description("Change an owner; options that you leave out stay as they are")
    .argument("<owner_id>")
    .option("--name <name>", "Name, 1 to 100 characters")
    .addOption(tierOption())
    .addOption(rateLimitOption())
    .addHelpText(
      "after",
      `
A new tier or limit applies to the owner's keys within a second.
${examples(program, 'owner update own_… --name "Acme Europe"', "owner update own_… --tier enterprise --rate-limit 2500")}`,
    )
    .action(async (ownerId: string, { name, json, ...plan }: PlanOptions & { name?: string }, command: Command) => {
      if (name === undefined && plan.tier === undefined && plan.rateLimit === undefined)
        command.error("error: give at least one of --name, --tier and --rate-limit");
      const tier: Tier | undefined = plan.tier && TIERS[plan.tier];
      const response = await withAccount(env, (account) =>
        account.updateOwner({ ownerId, name, tier, rateLimitPerMinute: plan.rateLimit }),
      );
      await printRecord(json, presentOwnerInFull(response.owner));
    });

  verb(owner, "calls")
    .description("Show what an owner's agents may call, or change it; options that you leave out stay as they are")
    .argument("<owner_id>")
    .option(
      "--countries <codes>",
      'Countries that they may call: US,DE, or "numbers" for those of the owner\'s numbers',
    )
    .addOption(new Option("--calls-per-day <number>", "Calls and transfers in a UTC day").argParser(parseWholeNumber))
    .addOption(new Option("--minutes-per-day <number>", "Minutes of these calls").argParser(parseWholeNumber))
    .addHelpText(
      "after",
      examples(program, "owner calls own_…", "owner calls own_… --countries US,CA --calls-per-day 1000"),
    )
    .action(async (ownerId: string, { countries, callsPerDay, minutesPerDay, json }: CallsOptions) => {
      const codes = countries === "numbers" ? [] : countries?.split(",").map((code) => code.trim().toUpperCase());
      const isChange = [codes, callsPerDay, minutesPerDay].some((given) => given !== undefined);
      const { policy } = await withAccount(env, (account) =>
        isChange
          ? account.setCallPolicy({ ownerId, countries: codes && { codes }, callsPerDay, minutesPerDay })
          : account.getCallPolicy({ ownerId }),
      );
      if (!policy) throw new Error("the service answered with an empty message");
      const fields = presentCallPolicy(policy);
      await print(json, fields, formatRecord({ ...fields, countries: fields.countries.join(", ") || "none" }));
    });

  ownerVerb(owner, "password")
    .description("Set the password that an owner signs in with, and end the owner's sessions")
    .option("--stdin", "Read the password from standard input instead of generating one and showing it once")
    .addHelpText(
      "after",
      `
A password has 15 to 256 characters.
${examples(program, "owner password --owner own_…", "owner password --owner own_… --stdin < password.txt")}`,
    )
    .action(async ({ owner, stdin, json }: PasswordOptions) => {
      const password = stdin ? await readStdin() : randomBytes(PASSWORD_BYTES).toString("base64url");
      const fields = await withAccount(env, async (account) => {
        await account.setPassword({ ownerId: owner, password });
        const { owner: changed } = await account.getOwner({ ownerId: owner });
        return { owner_id: owner, email: changed?.email ?? null, ...(!stdin && { password }) };
      });
      const keep = stdin ? "" : "\n\nKeep the password now: it is not shown again.";
      await print(json, fields, `${formatRecord(fields)}${keep}`);
    });

  verb(owner, "delete")
    .description("Delete an owner for good; its keys and sessions stop working within a second, and its calls end")
    .argument("<owner_id>")
    .action(async (ownerId: string, { json }: { json?: boolean }) => {
      await withAccount(env, (account) => account.deleteOwner({ ownerId }));
      await print(json, { owner_id: ownerId, deleted: true }, `Deleted ${ownerId}.`);
    });
}

function tierOption(): Option {
  return new Option(
    "--tier <tier>",
    "Requests per minute of each key: free 100, pro 500, enterprise as --rate-limit says",
  ).choices(Object.keys(TIERS));
}

function rateLimitOption(): Option {
  return new Option(
    "--rate-limit <number>",
    "Requests per minute of each key, required for the enterprise tier and only for it",
  ).argParser(parseWholeNumber);
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
