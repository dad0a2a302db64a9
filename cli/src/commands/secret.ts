import type { Secret } from "@parley/proto/parley/account/v1/account.ts";
import { presentSecret } from "@parley/shared/domain/present/secret";
import { ServiceError } from "@parley/shared/errors";
import type { Command } from "commander";
import { type AccountClient, type Environment, withAccount } from "../connection.ts";
import { inItsWords } from "../explain.ts";
import { examples, type OwnerOptions, ownerVerb } from "../options.ts";
import { formatTable, print, printRecord } from "../print.ts";
import { readSecret } from "../stdin.ts";

export function addSecretCommands(program: Command, env: Environment): void {
  const secret = program
    .command("secret")
    .description("Manage the secrets that an owner's tools and models send")
    .addHelpText(
      "after",
      examples(program, "secret set shop_api_key --owner own_… < key.txt", "secret list --owner own_…"),
    );

  ownerVerb(secret, "list")
    .description("List an owner's secrets by name, without their values")
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.listSecrets({ ownerId: owner }));
      const secrets = response.secrets.map(presentSecret);
      const text = formatTable(["name", "version", "updated_at"], secrets);
      await print(json, { secrets }, secrets.length > 0 ? text : `${owner} has no secrets yet.`);
    });

  ownerVerb(secret, "set")
    .description(
      "Give a secret the value on standard input, which a terminal does not show; a new name makes a new secret",
    )
    .argument("<name>")
    .action(async (name: string, { owner, json }: OwnerOptions) => {
      const value = await readSecret("Value");
      const stored = await withAccount(env, (account) => store(account, { ownerId: owner, name, value }));
      if (!stored) throw new ServiceError("internal", "the account service left the secret out of its response");
      await printRecord(json, presentSecret(stored));
    });

  ownerVerb(secret, "delete")
    .description("Delete a secret that no tool and no agent uses")
    .argument("<name>")
    .action(async (name: string, { owner, json }: OwnerOptions) => {
      await withAccount(env, (account) => account.deleteSecret({ ownerId: owner, name }));
      await print(json, { name, deleted: true }, `The secret ${name} is deleted.`);
    });
}

async function store(
  account: AccountClient,
  request: { ownerId: string; name: string; value: string },
): Promise<Secret | undefined> {
  try {
    return (await account.setSecret(request)).secret;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== "not_found") throw error;
    const { secret } = await account.createSecret(request).catch(inItsWords);
    return secret;
  }
}
