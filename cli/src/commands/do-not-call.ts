import { presentDoNotCall } from "@parley/shared/domain/present/do-not-call";
import { type Command, Option } from "commander";
import { type Environment, requireOwner, withVoice } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb, parseWholeNumber } from "../options.ts";
import { formatPage, formatTable, pagesOf, print, printRecord } from "../print.ts";

interface ListOptions extends OwnerOptions {
  search: string;
  page: number;
  pageSize: number;
}

const E164 = "The number in E.164 form, such as +14155550123";

export function addDoNotCallCommands(program: Command, env: Environment): void {
  const list = program
    .command("do-not-call")
    .description("Manage the numbers that an owner's agents must not call")
    .addHelpText(
      "after",
      examples(program, "do-not-call add +14155550123 --owner own_…", "do-not-call list --owner own_…"),
    );

  ownerVerb(list, "add")
    .description("Add a number to the list: calls to it are refused, and batches skip it")
    .argument("<mobile_number>", E164)
    .addHelpText("after", examples(program, "do-not-call add +14155550123 --owner own_…"))
    .action(async (mobileNumber: string, { owner, json }: OwnerOptions) => {
      await requireOwner(env, owner);
      const { number } = await withVoice(env, (voice) => voice.addDoNotCall({ ownerId: owner, mobileNumber }));
      if (!number) throw new Error("the service answered with an empty message");
      await printRecord(json, presentDoNotCall(number));
    });

  ownerVerb(list, "list")
    .description("List the numbers, sorted as text")
    .addOption(new Option("--search <number>", "Only numbers that are this one or begin with it").default("", "all"))
    .addOption(new Option("--page <number>", "Page to show, starting at 1").argParser(parseWholeNumber).default(1))
    .addOption(
      new Option("--page-size <number>", "Numbers on a page, 1 to 100").argParser(parseWholeNumber).default(20),
    )
    .addHelpText(
      "after",
      examples(program, "do-not-call list --owner own_…", "do-not-call list --search +1415 --owner own_…"),
    )
    .action(async ({ owner, search, page, pageSize, json }: ListOptions) => {
      const wanted = { number: page, size: pageSize };
      const { numbers, total } = await withVoice(env, (voice) =>
        voice.listDoNotCall({ ownerId: owner, search, page: wanted }),
      );
      if (total === 0) await requireOwner(env, owner);
      const shown = numbers.map(presentDoNotCall);
      const document = { numbers: shown, total, page, page_size: pageSize, total_pages: pagesOf(wanted, total) };
      const table = `${formatTable(["mobile_number", "created_at"], shown)}\n${formatPage(wanted, total)}`;
      await print(json, document, total > 0 ? table : nothingFound(owner, search));
    });

  ownerVerb(list, "remove")
    .description("Remove a number from the list")
    .argument("<mobile_number>", E164)
    .addHelpText("after", examples(program, "do-not-call remove +14155550123 --owner own_…"))
    .action(async (mobileNumber: string, { owner, json }: OwnerOptions) => {
      await withVoice(env, (voice) => voice.removeDoNotCall({ ownerId: owner, mobileNumber }));
      await print(json, { mobile_number: mobileNumber, removed: true }, `Removed ${mobileNumber}.`);
    });
}

function nothingFound(owner: string, search: string): string {
  return search === "" ? `${owner} has no numbers on the list.` : `${owner} has no number on the list that begins so.`;
}
