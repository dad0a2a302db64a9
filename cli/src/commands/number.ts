import { CARRIER_CALL_MS } from "@parley/shared/carriers/rest";
import { CARRIERS } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";
import type { Command } from "commander";
import { type Environment, withAccount } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb, wordOption } from "../options.ts";
import { presentOwnNumber, presentProvenNumber } from "../present.ts";
import { formatTable, print, printRecord } from "../print.ts";

/** How long a command waits for the account service, which has a carrier ring in the meantime. */
const PATIENT = { timeoutMs: CARRIER_CALL_MS };
const COLUMNS = ["mobile_number", "telephony_provider", "carrier_id"];
const E164 = "The number in E.164 form, such as +14155550123";

export function addNumberCommands(program: Command, env: Environment): void {
  const number = program
    .command("number")
    .description("Manage the phone numbers that an owner bought from a carrier")
    .addHelpText(
      "after",
      examples(program, "number add +14155550123 --carrier twilio --owner own_…", "number list --owner own_…"),
    );

  ownerVerb(number, "add")
    .description("Give an owner a phone number")
    .argument("<mobile_number>", E164)
    .addOption(wordOption("--carrier <carrier>", "The carrier of the number", CARRIERS).makeOptionMandatory())
    .addHelpText("after", examples(program, "number add +14155550123 --carrier twilio --owner own_…"))
    .action(async (mobileNumber: string, { carrier, owner, json }: OwnerOptions & { carrier: string }) => {
      const response = await withAccount(env, (account) =>
        account.addMobileNumber({ ownerId: owner, mobileNumber: { mobileNumber, telephonyProvider: carrier } }),
      );
      await printRecord(json, presentOwnNumber(response.mobileNumber));
    });

  ownerVerb(number, "list")
    .description("List an owner's phone numbers, oldest first")
    .option("--proof", "Show whether the owner has proven that each number is theirs")
    .action(async ({ owner, json, proof = false }: OwnerOptions & { proof?: boolean }) => {
      const response = await withAccount(env, (account) => account.listMobileNumbers({ ownerId: owner }));
      const numbers = response.mobileNumbers.map(proof ? presentProvenNumber : presentOwnNumber);
      const text = formatTable([...COLUMNS, ...(proof ? ["state", "note"] : [])], numbers);
      await print(json, { mobile_numbers: numbers }, numbers.length > 0 ? text : `${owner} has no numbers yet.`);
    });

  ownerVerb(number, "prove")
    .description("Vouch as the operator that a number is an owner's; this replaces any other owner's claim")
    .argument("<mobile_number>", E164)
    .addHelpText("after", examples(program, "number prove +14155550123 --owner own_…"))
    .action(async (mobileNumber: string, { owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.proveMobileNumber({ ownerId: owner, mobileNumber }));
      await printRecord(json, presentProvenNumber(response.mobileNumber));
    });

  ownerVerb(number, "call")
    .description("Have a number called, to tell a code with which its owner proves that it is theirs")
    .argument("<mobile_number>", E164)
    .addHelpText("after", examples(program, "number call +14155550123 --owner own_…"))
    .action(async (mobileNumber: string, { owner, json }: OwnerOptions) => {
      const request = { ownerId: owner, mobileNumber };
      const { expiresAt } = await withAccount(env, (account) => account.callWithCode(request, PATIENT));
      const fields = { mobile_number: mobileNumber, expires_at: isoTime(expiresAt) ?? null };
      await print(json, fields, `${mobileNumber} is being called. Enter the code with: parley number confirm`);
    });

  ownerVerb(number, "confirm")
    .description("Prove with the code that the call told that a number is an owner's")
    .argument("<mobile_number>", E164)
    .argument("<code>", "The six digits")
    .addHelpText("after", examples(program, "number confirm +14155550123 042137 --owner own_…"))
    .action(async (mobileNumber: string, code: string, { owner, json }: OwnerOptions) => {
      const request = { ownerId: owner, mobileNumber, code };
      const response = await withAccount(env, (account) => account.confirmCode(request));
      await printRecord(json, presentProvenNumber(response.mobileNumber));
    });

  ownerVerb(number, "remove")
    .description("Remove a phone number from an owner; an imported one gets its previous settings at the carrier back")
    .argument("<mobile_number>", E164)
    .addHelpText("after", examples(program, "number remove +14155550123 --owner own_…"))
    .action(async (mobileNumber: string, { owner, json }: OwnerOptions) => {
      await withAccount(env, (account) => account.removeMobileNumber({ ownerId: owner, mobileNumber }));
      await print(json, { mobile_number: mobileNumber, removed: true }, `Removed ${mobileNumber}.`);
    });
}
