import type { components } from "../../../../api/gen/schema.ts";
import { constantOf, objectIn, textOfConstant } from "../../../tools/editor/json-text.ts";
import { type AssertionRow, assertionOf, assertionRowOf } from "./assertion-rows.ts";

type Schemas = components["schemas"];
type Test = Schemas["Test"];
/** The body of a test's PATCH; that of its POST has the same fields. */
export type TestBody = Schemas["UpdateTestRequest"];
export type TestModel = Schemas["TestModel"];
type Line = Schemas["TestLine"];
type Mock = Schemas["ToolMock"];

/** What the user says, as it is edited. */
export interface LineRow {
  text: string;
  noise: NonNullable<Line["noise"]> | null;
  interrupt_at_ms: number | null;
  dtmf: string;
}

/** What a tool answers, as it is edited. It keeps what was entered for the outcome that it does not have now. */
export interface MockRow {
  tool: string;
  /** A JSON object; empty for any arguments. */
  when: string;
  delay_ms: number | null;
  outcome: "result" | "error";
  /** JSON, or a text as it is. */
  result: string;
  recorded: boolean;
  error: string;
}

export interface VariableRow {
  name: string;
  /** JSON, or a text as it is. */
  value: string;
}

/** A test as it is edited. It keeps what was entered for the kind and the channel that it does not have now. */
export interface TestForm {
  name: string;
  required: boolean;
  kind: Test["kind"];
  channel: Test["channel"];
  repeat: number | null;
  /** Null for all. */
  pass_at_least: number | null;
  messages: readonly LineRow[];
  persona: string;
  goal: string;
  first_message: string;
  turns_max: number | null;
  /** Null for the agent's own. */
  model: TestModel | null;
  variables: readonly VariableRow[];
  tool_mocks: readonly MockRow[];
  unmocked: Test["unmocked"];
  assertions: readonly AssertionRow[];
}

export const NEW_LINE: LineRow = { text: "", noise: null, interrupt_at_ms: null, dtmf: "" };
export const NEW_MOCK: MockRow = {
  tool: "",
  when: "",
  delay_ms: null,
  outcome: "result",
  result: "",
  recorded: false,
  error: "",
};

export const NEW_TEST: TestForm = {
  name: "",
  required: false,
  kind: "scripted",
  channel: "text",
  repeat: 1,
  pass_at_least: null,
  messages: [NEW_LINE],
  persona: "",
  goal: "",
  first_message: "",
  turns_max: null,
  model: null,
  variables: [],
  tool_mocks: [],
  unmocked: "error",
  assertions: [assertionRowOf({ type: "contains", value: "" })],
};

/** A stored test in the form of its editor. */
export function formOf(test: Test): TestForm {
  const { name, required, kind, channel, repeat, pass_at_least, turns_max, model, unmocked } = test;
  return {
    ...{ name, required, kind, channel, repeat, turns_max, model, unmocked },
    pass_at_least: pass_at_least === repeat ? null : pass_at_least,
    messages: test.messages.map((line) => ({
      ...NEW_LINE,
      ...(typeof line === "string" ? { text: line } : given(line)),
    })),
    persona: test.persona ?? "",
    goal: test.goal ?? "",
    first_message: test.first_message ?? "",
    variables: Object.entries(test.variables).map(([name, value]) => ({ name, value: textOfConstant(value) })),
    tool_mocks: test.tool_mocks.map(mockRowOf),
    assertions: test.assertions.map(assertionRowOf),
  };
}

function given(line: Line): Partial<LineRow> {
  return Object.fromEntries(Object.entries(line).filter(([, value]) => value != null));
}

function mockRowOf({ tool, when, delay_ms, result, recorded, error }: Mock): MockRow {
  return {
    tool,
    when: when ? JSON.stringify(when, null, 2) : "",
    delay_ms: delay_ms ?? null,
    outcome: error == null ? "result" : "error",
    result: error == null ? textOfConstant(result) : "",
    recorded: recorded ?? false,
    error: error ?? "",
  };
}

/** What to send for a form, and what keeps it from being sent, by the paths of the API. */
export function bodyOf(form: TestForm): { body: TestBody; faults: ReadonlyMap<string, string> } {
  const faults = new Map<string, string>();
  const { required, kind, channel, repeat, pass_at_least, unmocked } = form;
  if (form.name.trim() === "") faults.set("name", "Enter a name.");
  const body: TestBody = {
    ...{ name: form.name.trim(), required, kind, channel, repeat, pass_at_least, unmocked },
    ...(kind === "scripted" ? scriptOf(form, faults) : simulationOf(form, faults)),
    variables: variablesOf(form.variables, faults),
    tool_mocks: form.tool_mocks.map((row, at) => mockOf(row, `tool_mocks.${at}`, faults)),
    assertions: form.assertions.map((row, at) => assertionOf(row, `assertions.${at}`, faults)),
  };
  if (form.assertions.length === 0) faults.set("assertions", "Add at least one: a test without any proves nothing.");
  return { body, faults };
}

function scriptOf({ messages, channel }: TestForm, faults: Map<string, string>): TestBody {
  if (messages.length === 0) faults.set("messages", "Add what the user says.");
  for (const [at, { text, dtmf }] of messages.entries()) {
    if (text.trim() !== "" || (channel === "voice" && dtmf.trim() !== "")) continue;
    faults.set(
      `messages.${at}`,
      `Enter what the user says${channel === "voice" ? " or presses" : ""}, or remove the row.`,
    );
  }
  return {
    messages: messages.map((row) => (channel === "text" ? row.text : lineOf(row))),
    ...{ persona: null, goal: null, first_message: null, turns_max: null, model: null },
  };
}

function lineOf({ text, noise, interrupt_at_ms, dtmf }: LineRow): string | Line {
  const keys = dtmf.trim();
  if (noise === null && interrupt_at_ms === null && keys === "") return text;
  return {
    text,
    ...(noise !== null && { noise }),
    ...(interrupt_at_ms !== null && { interrupt_at_ms }),
    ...(keys !== "" && { dtmf: keys }),
  };
}

function simulationOf(
  { persona, goal, first_message, turns_max, model }: TestForm,
  faults: Map<string, string>,
): TestBody {
  if (persona.trim() === "") faults.set("persona", "Enter who the user is.");
  if (goal.trim() === "") faults.set("goal", "Enter what the user wants.");
  return { messages: [], persona, goal, first_message: first_message.trim() || null, turns_max, model };
}

function variablesOf(rows: readonly VariableRow[], faults: Map<string, string>): Record<string, unknown> {
  const names = rows.map(({ name }) => name.trim());
  for (const [at, name] of names.entries()) {
    if (name === "") faults.set(`variables.${at}`, "Enter the name of the variable, or remove the row.");
    else if (names.indexOf(name) !== at) faults.set(`variables.${at}`, "This variable is already in the list.");
  }
  return Object.fromEntries(rows.map(({ value }, at) => [names[at], constantOf(value)]));
}

function mockOf({ outcome, ...row }: MockRow, path: string, faults: Map<string, string>): Mock {
  const when = row.when.trim() === "" ? undefined : objectIn(row.when);
  if (row.tool.trim() === "") faults.set(`${path}.tool`, "Enter the name of the tool, or remove the row.");
  if (when === null) faults.set(`${path}.when`, "This is not a JSON object.");
  if (outcome === "error" && row.error.trim() === "") faults.set(`${path}.error`, "Enter why the call fails.");
  if (outcome === "result" && constantOf(row.result) === null)
    faults.set(`${path}.result`, "Enter another result than null.");
  return {
    tool: row.tool.trim(),
    ...(when && { when }),
    ...(row.delay_ms !== null && { delay_ms: row.delay_ms }),
    ...(outcome === "error"
      ? { error: row.error }
      : { result: constantOf(row.result), ...(row.recorded && { recorded: true }) }),
  };
}
