import { type Command, Option } from "commander";
import { type Environment, withAccount } from "../connection.ts";
import { jsonOption, ownerOption } from "../options.ts";
import { presentNumber } from "../present.ts";
import { formatRecord, formatTable, print } from "../print.ts";

interface OwnerOptions {
  owner: string;
  json?: boolean;
}

export function addNumberCommands(program: Command, env: Environment): void {
  const number = program
    .command("number")
    .description("the phone numbers that an owner bought from a carrier")
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley number add +14155550123 --carrier twilio --owner own_…
  $ bun run parley number list --owner own_…`,
    );

  number
    .command("add")
    .description("gives an owner a number")
    .argument("<mobile_number>", "in E.164 form, such as +14155550123")
    .addOption(
      new Option("--carrier <carrier>", "whom the number is from: twilio or plivo")
        .argParser((carrier) => carrier.toUpperCase())
        .makeOptionMandatory(),
    )
    .addOption(ownerOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ bun run parley number add +14155550123 --carrier twilio --owner own_…")
    .action(async (mobileNumber: string, { carrier, owner, json }: OwnerOptions & { carrier: string }) => {
      const response = await withAccount(env, (account) =>
        account.addMobileNumber({ ownerId: owner, mobileNumber: { mobileNumber, telephonyProvider: carrier } }),
      );
      const fields = presentNumber(response.mobileNumber);
      print(json, fields, formatRecord(fields));
    });

  number
    .command("list")
    .description("lists an owner's numbers, in the order in which they were added")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.listMobileNumbers({ ownerId: owner }));
      const numbers = response.mobileNumbers.map(presentNumber);
      const text = formatTable(["mobile_number", "telephony_provider"], numbers);
      print(json, { mobile_numbers: numbers }, numbers.length > 0 ? text : `${owner} has no numbers yet.`);
    });

  number
    .command("remove")
    .description("takes a number from an owner")
    .argument("<mobile_number>", "in E.164 form, such as +14155550123")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async (mobileNumber: string, { owner, json }: OwnerOptions) => {
      await withAccount(env, (account) => account.removeMobileNumber({ ownerId: owner, mobileNumber }));
      print(json, { mobile_number: mobileNumber, removed: true }, `Removed ${mobileNumber}.`);
    });
}
