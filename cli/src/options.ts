import { type Command, InvalidArgumentError, Option } from "commander";

const INT32_MAX = 2_147_483_647;

/** The options of a verb on what an owner has. */
export interface OwnerOptions {
  owner: string;
  json?: boolean;
}

/** A verb of a noun. */
export function verb(noun: Command, name: string): Command {
  return noun.command(name).addOption(new Option("--json", "Print one JSON document"));
}

/** A verb on what an owner has. */
export function ownerVerb(noun: Command, name: string): Command {
  const owner = new Option("--owner <owner_id>", "ID of the owner, own_…").env("PARLEY_OWNER_ID").makeOptionMandatory();
  return verb(noun, name).addOption(owner);
}

/** What most verbs have, in the order in which help shows it after a verb's own options. */
const COMMON_OPTIONS = ["--owner", "--json", "--help"];

export function inHelpOrder(options: readonly Option[]): Option[] {
  const place = ({ long }: Option) => COMMON_OPTIONS.indexOf(long ?? "");
  return options.toSorted((one, other) => place(one) - place(other));
}

/** An option that may be given several times. @param words all that it may be, if these are few */
export function repeatableOption(flags: string, description: string, words?: readonly string[]): Option {
  return new Option(flags, description).argParser((value: string, before: string[] = []) => {
    if (value.trim() === "") throw new InvalidArgumentError("It must not be empty.");
    if (words && !words.includes(value)) throw new InvalidArgumentError(`Allowed choices are ${words.join(", ")}.`);
    return [...before, value];
  });
}

/** Help text with command lines as the user would type them. */
export function examples(command: Command, ...lines: readonly string[]): string {
  const program = command.parent ?? command;
  return [
    "",
    lines.length === 1 ? "Example:" : "Examples:",
    ...lines.map((line) => `  $ ${program.name()} ${line}`),
  ].join("\n");
}

/** An option that takes one of several words, in any letter case. */
export function wordOption(flags: string, description: string, words: readonly string[]): Option {
  const parse = (text: string) => {
    const word = text.toUpperCase();
    if (!words.includes(word)) throw new InvalidArgumentError(`Allowed choices are ${words.join(", ")}.`);
    return word;
  };
  return new Option(flags, description).choices([...words]).argParser(parse);
}

export function parseWholeNumber(text: string): number {
  const number = Number(text);
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  if (Math.abs(number) > INT32_MAX) throw new InvalidArgumentError(`It must be from -${INT32_MAX} to ${INT32_MAX}.`);
  return number;
}

export function parseNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw new InvalidArgumentError("It must be a number.");
  return number;
}

/** Parses a date or time; a date means midnight UTC. */
export function parseTime(text: string): Date {
  const match = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.exec(text);
  const time = new Date(text);
  const day = match?.[1] ?? "";
  // JavaScript rolls an invalid day over into the next month instead of failing.
  if (!match || Number.isNaN(time.getTime()) || new Date(`${day}T00:00:00Z`).getUTCDate() !== Number(day.slice(8))) {
    throw new InvalidArgumentError("It must be a date or a time with its zone, such as 2030-01-31T12:00:00Z.");
  }
  return time;
}

/** Parses a comma-separated list; a repeated option adds to it. */
export function parseList(text: string, before: readonly string[] | undefined): string[] {
  const items = text.split(",").map((item) => item.trim());
  if (items.includes("")) throw new InvalidArgumentError("It must be names separated by commas.");
  return [...(before ?? []), ...items];
}
