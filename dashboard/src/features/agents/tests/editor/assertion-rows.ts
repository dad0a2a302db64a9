import type { components } from "../../../../api/gen/schema.ts";
import { constantOf, objectIn, textOfConstant } from "../../../tools/editor/json-text.ts";

type Assertion = components["schemas"]["TestAssertion"];
export type AssertionType = Assertion["type"];
type Field = Exclude<keyof Assertion, "type">;

/** An assertion as it is edited. It keeps what was entered for the types that it does not have now. */
export interface AssertionRow {
  type: AssertionType;
  /** Null for the whole conversation. */
  turn: number | null;
  value: string;
  tool: string;
  /** A JSON object; empty for any arguments. */
  arguments: string;
  agent_id: string;
  max: number | null;
  document: string;
  field: string;
  /** JSON, or a text as it is. */
  equals: string;
  criterion: string;
  /** Null for the agent's own. */
  model: NonNullable<Assertion["model"]> | null;
}

/** What can be checked, with the fields that it needs. */
export const ASSERTIONS: readonly {
  type: AssertionType;
  label: string;
  /** Missing, it cannot be sent; the text says what to do then. */
  needs: Partial<Record<Field, string>>;
  may?: readonly Field[];
}[] = [
  { type: "contains", label: "A reply contains", needs: { value: "Enter the text." }, may: ["turn"] },
  { type: "not_contains", label: "No reply contains", needs: { value: "Enter the text." }, may: ["turn"] },
  { type: "equals", label: "A reply is exactly", needs: { value: "Enter the text." }, may: ["turn"] },
  { type: "matches", label: "A reply matches", needs: { value: "Enter the regular expression." }, may: ["turn"] },
  { type: "tool_called", label: "Tool is called", needs: { tool: "Enter the tool." }, may: ["turn", "arguments"] },
  { type: "tool_not_called", label: "Tool is not called", needs: { tool: "Enter the tool." }, may: ["turn"] },
  { type: "judge", label: "A model judges", needs: { criterion: "Enter what must be true." }, may: ["turn", "model"] },
  {
    type: "analysis",
    label: "Analysis has the value",
    needs: { field: "Enter the field.", equals: "Enter the value." },
  },
  { type: "ended_by", label: "Is ended by", needs: { value: "Choose who ends it." } },
  { type: "handed_off_to", label: "Is handed over to", needs: { agent_id: "Choose the agent." }, may: ["turn"] },
  { type: "language", label: "Agent speaks", needs: { value: "Enter the language." }, may: ["turn"] },
  { type: "latency_ms", label: "Replies take at most", needs: { max: "Enter the milliseconds." }, may: ["turn"] },
  { type: "source_used", label: "Document is used", needs: { document: "Enter the document." }, may: ["turn"] },
];

/** @returns the label of a type in the words of the editor */
export function assertionLabel(type: AssertionType): string {
  return ASSERTIONS.find((each) => each.type === type)?.label ?? type;
}

/** The fields that a type of assertion has. */
export function fieldsOfType(type: AssertionType): readonly Field[] {
  const { needs = {}, may = [] } = ASSERTIONS.find((each) => each.type === type) ?? {};
  return [...may, ...(Object.keys(needs) as Field[])];
}

const NEW: Omit<AssertionRow, "type"> = {
  turn: null,
  value: "",
  tool: "",
  arguments: "",
  agent_id: "",
  max: null,
  document: "",
  field: "",
  equals: "",
  criterion: "",
  model: null,
};

export function assertionRowOf({ arguments: wanted, equals, ...assertion }: Assertion): AssertionRow {
  const entered = Object.fromEntries(Object.entries(assertion).filter(([, value]) => value != null));
  return {
    ...NEW,
    ...(entered as Pick<AssertionRow, "type">),
    ...(wanted && { arguments: JSON.stringify(wanted, null, 2) }),
    ...(equals !== undefined && { equals: textOfConstant(equals) }),
  };
}

/** What to send for a row. @param faults gets what keeps it from being sent, by the paths of the API */
export function assertionOf(row: AssertionRow, path: string, faults: Map<string, string>): Assertion {
  const { needs = {} } = ASSERTIONS.find(({ type }) => type === row.type) ?? {};
  const assertion: Assertion = { type: row.type };
  for (const field of fieldsOfType(row.type)) {
    const value = enteredIn(row, field);
    const missing = needs[field];
    if (value === INVALID) faults.set(`${path}.${field}`, "This is not a JSON object.");
    else if (value !== undefined) Object.assign(assertion, { [field]: value });
    else if (missing !== undefined) faults.set(`${path}.${field}`, missing);
  }
  return assertion;
}

const INVALID = Symbol("invalid");

/** @returns undefined for a field that is empty */
function enteredIn(row: AssertionRow, field: Field): unknown {
  const entered = row[field];
  if (typeof entered !== "string") return entered ?? undefined;
  if (entered.trim() === "") return undefined;
  if (field === "equals") return constantOf(entered);
  if (field === "arguments") return objectIn(entered) ?? INVALID;
  // Spaces around a text that must be there count.
  return field === "value" ? entered : entered.trim();
}
