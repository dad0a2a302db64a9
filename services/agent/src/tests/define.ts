import {
  type Assertion,
  ENDED_BY,
  type Line,
  TEST_LIMITS,
  type TestDefinition,
  TURNS_DEFAULT,
} from "@parley/shared/domain/tests";
import { invalid } from "@parley/shared/errors";
import { isLonger } from "@parley/shared/text/length";
import { isVisible } from "@parley/shared/text/name";
import { checkExpression } from "./assertions/expression.ts";

/** What a request may say of a test, beside its name and whether it is required. Null has the same meaning as nothing. */
export type GivenTest = { [F in keyof Omit<TestDefinition, "messages">]?: TestDefinition[F] | null } & {
  messages?: readonly (string | GivenLine)[] | null;
};
type GivenLine = Omit<Line, "text"> & { text?: string | null };

/**
 * The test with every default filled in.
 * @throws ServiceError invalid at the first rule that it breaks by itself; what it refers to is checked where it is stored
 */
export function defineTest(given: GivenTest): TestDefinition {
  const { kind = "scripted", channel = "text" } = plain(given);
  const repeat = given.repeat ?? 1;
  const test: TestDefinition = {
    kind,
    channel,
    repeat,
    pass_at_least: given.pass_at_least ?? repeat,
    messages: (given.messages ?? []).map((line) =>
      typeof line === "string" ? line : { ...line, text: line.text ?? "" },
    ),
    persona: given.persona ?? null,
    goal: given.goal ?? null,
    first_message: given.first_message ?? null,
    turns_max: given.turns_max ?? (kind === "simulated" ? TURNS_DEFAULT : null),
    model: given.model ?? null,
    variables: given.variables ?? {},
    tool_mocks: given.tool_mocks ?? [],
    unmocked: given.unmocked ?? "error",
    assertions: given.assertions ?? [],
  };
  if (test.pass_at_least > repeat)
    throw invalid("pass_at_least", `pass_at_least must be at most repeat, which is ${repeat}`);
  checkUser(test, given);
  test.tool_mocks.forEach((mock, at) => {
    const outcomes = [mock.result, mock.error].filter((outcome) => outcome != null);
    const path = `tool_mocks.${at}`;
    if (outcomes.length !== 1) throw invalid(path, `${path} must have exactly one of result and error`);
  });
  if (test.assertions.length === 0)
    throw invalid("assertions", "assertions must have at least one: a test without any proves nothing");
  for (const [at, assertion] of test.assertions.entries()) checkAssertion(test, assertion, `assertions.${at}`);
  const bytes = Buffer.byteLength(JSON.stringify(test));
  if (bytes > TEST_LIMITS.bytes)
    throw invalid("", `The test must have at most ${TEST_LIMITS.bytes} bytes as JSON: it has ${bytes}`);
  return test;
}

function plain({ kind, channel }: GivenTest): Partial<Pick<TestDefinition, "kind" | "channel">> {
  return { ...(kind != null && { kind }), ...(channel != null && { channel }) };
}

const OF_SIMULATED = ["persona", "goal", "first_message", "turns_max", "model"] as const;

function checkUser(test: TestDefinition, given: GivenTest): void {
  if (test.kind === "scripted") {
    const foreign = OF_SIMULATED.find((field) => given[field] != null);
    if (foreign) throw invalid(foreign, `${foreign} is for simulated tests only: leave it out`);
    if (test.messages.length === 0) throw invalid("messages", "messages is required: what the user says, in order");
    for (const [at, message] of test.messages.entries()) checkLine(test, message, `messages.${at}`);
    return;
  }
  if (test.messages.length > 0) throw invalid("messages", "messages is for scripted tests only: leave it out");
  for (const field of ["persona", "goal"] as const)
    if (test[field] === null) throw invalid(field, `${field} is required for simulated tests`);
}

const OF_VOICE = ["noise", "interrupt_at_ms", "dtmf"] as const satisfies (keyof Line)[];

function checkLine({ channel }: TestDefinition, message: string | Line, path: string): void {
  const text = typeof message === "string" ? message : message.text;
  if (channel === "voice" && isLonger(text, TEST_LIMITS.spoken))
    throw invalid(path, `${path} must be at most ${TEST_LIMITS.spoken} characters, because a voice speaks it`);
  if (typeof message === "string") return;
  const foreign = channel === "voice" ? undefined : OF_VOICE.find((field) => message[field] != null);
  if (foreign) throw invalid(`${path}.${foreign}`, `${path}.${foreign} is for tests with the channel voice only`);
  if (!isVisible(text) && message.dtmf == null)
    throw invalid(`${path}.text`, `${path}.text is required: what the user says. Only a line with dtmf may have none`);
}

/** The fields that each type of assertion needs, and those that it may have. */
const FIELDS: Readonly<Record<Assertion["type"], { needs: (keyof Assertion)[]; may?: (keyof Assertion)[] }>> = {
  equals: { needs: ["value"] },
  contains: { needs: ["value"] },
  not_contains: { needs: ["value"] },
  matches: { needs: ["value"] },
  tool_called: { needs: ["tool"], may: ["arguments"] },
  tool_not_called: { needs: ["tool"] },
  handed_off_to: { needs: ["agent_id"] },
  ended_by: { needs: ["value"] },
  language: { needs: ["value"] },
  latency_ms: { needs: ["max"] },
  source_used: { needs: ["document"] },
  analysis: { needs: ["field", "equals"] },
  judge: { needs: ["criterion"], may: ["model"] },
};
/** These are of the whole conversation. */
const WITHOUT_TURN: readonly Assertion["type"][] = ["ended_by", "analysis"];

function checkAssertion(test: TestDefinition, assertion: Assertion, path: string): void {
  const { type, turn } = assertion;
  const { needs, may = [] } = FIELDS[type];
  const missing = needs.find(
    (field) => assertion[field] === undefined || (field !== "equals" && assertion[field] === null),
  );
  if (missing) throw invalid(`${path}.${missing}`, `${path}.${missing} is required with the type ${type}`);
  const known: readonly string[] = ["type", "turn", ...needs, ...may];
  const foreign = Object.entries(assertion).find(([field, value]) => value != null && !known.includes(field));
  if (foreign)
    throw invalid(`${path}.${foreign[0]}`, `${path}.${foreign[0]} is not a field of the type ${type}: leave it out`);
  if (turn != null && WITHOUT_TURN.includes(type))
    throw invalid(`${path}.turn`, `${path}.turn is not possible: ${type} is of the whole conversation`);
  const turns = test.turns_max ?? test.messages.length;
  if (turn != null && turn > turns)
    throw invalid(`${path}.turn`, `${path}.turn must be at most ${turns}, the last turn`);
  if (type === "matches") checkExpression(assertion.value ?? "", `${path}.value`);
  if (type === "ended_by" && !(ENDED_BY as readonly string[]).includes(assertion.value ?? ""))
    throw invalid(`${path}.value`, `${path}.value must be one of ${ENDED_BY.join(", ")}`);
  if (type === "language" && !/^[a-z]{2}(-[a-z0-9]{1,8})*$/i.test(assertion.value ?? ""))
    throw invalid(
      `${path}.value`,
      `${path}.value must be a BCP 47 tag with a language of two letters, such as en or de-AT`,
    );
}
