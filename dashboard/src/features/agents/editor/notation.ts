/** The types that the builder offers, in plain words. */
export const KINDS = [
  { value: "str", label: "Text" },
  { value: "bool", label: "Yes or no" },
  { value: "int", label: "Whole number" },
  { value: "float", label: "Number" },
  { value: "list[str]", label: "List of text" },
  { value: "choice", label: "Choice" },
  { value: "other", label: "Other" },
] as const;
export type Kind = (typeof KINDS)[number]["value"];

export interface FieldType {
  kind: Kind;
  /** The choices, separated by commas, or the notation itself. */
  detail: string;
  isOptional: boolean;
}

const OPTIONAL = /^Optional\[(.*)\]$/s;
const CHOICE = /^Literal\[(.*)\]$/s;

/** Reads the API's notation of a type (docs/api-reference.md#analysis-settings). */
export function readNotation(notation: string): FieldType {
  const inner = OPTIONAL.exec(notation)?.[1];
  const type = inner ?? notation;
  const isOptional = inner !== undefined;
  const choices = choicesIn(CHOICE.exec(type)?.[1]);
  if (choices) return { kind: "choice", detail: choices.join(", "), isOptional };
  const known = KINDS.find(({ value }) => value === type && value !== "choice" && value !== "other");
  return known ? { kind: known.value, detail: "", isOptional } : { kind: "other", detail: notation, isOptional: false };
}

/** Writes a type in the API's notation. */
export function notationOf({ kind, detail, isOptional }: FieldType): string {
  if (kind === "other") return detail;
  const type = kind === "choice" ? `Literal[${choicesOf(detail)}]` : kind;
  return isOptional ? `Optional[${type}]` : type;
}

function choicesOf(detail: string): string {
  return detail
    .split(",")
    .map((choice) => JSON.stringify(choice.trim()))
    .join(",");
}

/** Null unless it is a list of texts without commas. */
function choicesIn(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  try {
    const choices: unknown = JSON.parse(`[${list}]`);
    const areTexts = Array.isArray(choices) && choices.every((each) => typeof each === "string" && !each.includes(","));
    return areTexts ? choices : null;
  } catch {
    return null;
  }
}
