import { CARRIERS } from "@parley/shared/domain/api-names";
import type { Command } from "commander";
import { type Environment, withAccount } from "../connection.ts";
import { examples, jsonOption, ownerOption, wordOption } from "../options.ts";
import { presentOwnNumber } from "../present.ts";
import { formatRecord, formatTable, print } from "../print.ts";

interface OwnerOptions {
  owner: string;
  json?: boolean;
}

const E164 = "The number in E.164 form, such as +14155550123";

export function addNumberCommands(program: Command, env: Environment): void {
  const number = program
    .command("number")
    .description("Manage the phone numbers that an owner bought from a carrier")
    .addHelpText(
      "after",
      examples(program, "number add +14155550123 --carrier twilio --owner own_…", "number list --owner own_…"),
    );

  number
    .command("add")
    .description("Give an owner a phone number")
    .argument("<mobile_number>", E164)
    .addOption(wordOption("--carrier <carrier>", "The carrier of the number", CARRIERS).makeOptionMandatory())
    .addOption(ownerOption())
    .addOption(jsonOption())
    .addHelpText("after", examples(program, "number add +14155550123 --carrier twilio --owner own_…"))
    .action(async (mobileNumber: string, { carrier, owner, json }: OwnerOptions & { carrier: string }) => {
      const response = await withAccount(env, (account) =>
        account.addMobileNumber({ ownerId: owner, mobileNumber: { mobileNumber, telephonyProvider: carrier } }),
      );
      const fields = presentOwnNumber(response.mobileNumber);
      await print(json, fields, formatRecord(fields));
    });

  number
    .command("list")
    .description("List an owner's phone numbers, oldest first")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.listMobileNumbers({ ownerId: owner }));
      const numbers = response.mobileNumbers.map(presentOwnNumber);
      const text = formatTable(["mobile_number", "telephony_provider", "carrier_id"], numbers);
      await print(json, { mobile_numbers: numbers }, numbers.length > 0 ? text : `${owner} has no numbers yet.`);
    });

  number
    .command("remove")
    .description("Remove a phone number from an owner; an imported one gets its previous settings at the carrier back")
    .argument("<mobile_number>", E164)
    .addOption(ownerOption())
    .addOption(jsonOption())
    .addHelpText("after", examples(program, "number remove +14155550123 --owner own_…"))
    .action(async (mobileNumber: string, { owner, json }: OwnerOptions) => {
      await withAccount(env, (account) => account.removeMobileNumber({ ownerId: owner, mobileNumber }));
      await print(json, { mobile_number: mobileNumber, removed: true }, `Removed ${mobileNumber}.`);
    });
}
