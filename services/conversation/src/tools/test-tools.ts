import { setTimeout as wait } from "node:timers/promises";
import { isObject } from "@parley/shared/json/json-object";
import type { ToolCall } from "../model/port.ts";
import type { StoredTest, ToolMock } from "../store/turns/tests.ts";
import { argumentsFault } from "./arguments.ts";
import { failed, type Tool, type ToolOutcome, type ToolRules } from "./tool.ts";
import type { Toolbox } from "./toolbox.ts";

/** The tools of a conversation that belongs to a test, in place of those of an agent. */
export type TestTools = (toolbox: Toolbox) => Toolbox;

/**
 * The first mock that fits answers a call. Of the others, those are made that only act on the conversation itself, and no line is
 * dialed.
 * @param used the mocks that have answered calls before
 */
export function testTools({ toolMocks, unmockedReal, used }: StoredTest & { used: readonly number[] }): TestTools {
  const spent = new Set(used);
  const mockFor = (tool: Tool, call: ToolCall) =>
    toolMocks.findIndex(
      (mock, at) => mock.tool === tool.definition.name && !(mock.once && spent.has(at)) && fits(mock, call),
    );
  return ({ definitions, find }) => ({
    definitions,
    find: (name, call) => {
      const tool = find(name);
      // Arguments that are wrong are answered as ever, and use no mock up.
      if (!tool || !call || (tool.rules && argumentsFault(call, tool.definition) !== null)) return tool;
      const at = mockFor(tool, call);
      const mock = toolMocks[at];
      if (!mock) return ACTS_WITHIN.has(tool.kind) || unmockedReal ? withoutLine(tool) : unmocked(tool);
      spent.add(at);
      return mocked(tool, mock, at);
    },
  });
}

const ACTS_WITHIN: ReadonlySet<Tool["kind"]> = new Set(["builtin", "handoff"]);

function fits({ when }: ToolMock, { input }: ToolCall): boolean {
  return when === null || isPartOf(when, input);
}

/** Whether each field of an object is in the other one, too, and in objects within. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (!isObject(part) || !isObject(whole)) return Bun.deepEquals(part, whole);
  return Object.entries(part).every(([name, value]) => Object.hasOwn(whole, name) && isPartOf(value, whole[name]));
}

const AT_ONCE: Omit<ToolRules, "timeoutMs"> = {
  speech: { before: "auto", delayed: [] },
  interruption: "continue",
  run: "wait",
  mayRepeat: false,
};
/** For a built-in tool, which answers at once and so has no limit of its own. */
const BEYOND_DELAY_MS = 5_000;

function mocked({ client: _, answered, rules, ...tool }: Tool, mock: ToolMock, at: number): Tool {
  return {
    ...tool,
    mock: at,
    rules: { ...AT_ONCE, timeoutMs: mock.delayMs + BEYOND_DELAY_MS, ...rules, mayRepeat: false },
    run: async (call, context) => {
      if (mock.delayMs > 0) await wait(mock.delayMs, undefined, { signal: context.signal });
      if (mock.isError) return failed(mock.text);
      const answer = { text: mock.text, isRecorded: mock.recorded };
      return answered?.(call, context, answer) ?? { result: mock.text, isError: false };
    },
  };
}

/** Only tools with effects come here, and they have rules. */
function unmocked({ client: _, rules, ...tool }: Tool): Tool {
  return {
    ...tool,
    ...(rules && { rules: { ...rules, mayRepeat: false } }),
    run: () => ({
      ...failed("This is a test, and it has no result for this call. Nothing was called."),
      isOutside: false,
      note: "No mock of the test answers this call",
    }),
  };
}

/** Tells the model that what a telephone line is needed for is done. */
function withoutLine(tool: Tool): Tool {
  if (tool.kind !== "builtin" || tool.rules) return tool;
  return {
    ...tool,
    run: (call, context) => withoutDialing(tool.run(call, { ...context, isTelephone: true }) as ToolOutcome),
  };
}

function withoutDialing(outcome: ToolOutcome): ToolOutcome {
  const { action, ...told } = outcome;
  switch (action?.type) {
    case "send_dtmf":
      return told;
    case "transfer_call":
      return { ...told, result: "The user is connected after this reply.", action: { type: "end_call" } };
    default:
      return outcome;
  }
}
