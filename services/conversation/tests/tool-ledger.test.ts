import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { type ToolCall, ToolCallState } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { nameOf, TOOL_CALL_STATES } from "@parley/shared/domain/api-names";
import { eventually } from "@parley/testkit/eventually";
import type { ModelCall, Script } from "@parley/testkit/scripted-model";
import type { ToolContext, ToolOutcome, ToolRules } from "../src/tools/tool.ts";
import type { CallKey } from "./calls-kit.ts";
import { speakTurn, startWebCall } from "./converse-kit.ts";
import { eventsOf, payloadOf, want } from "./events-kit.ts";
import { createAgent, inline, leavable, listen, say, startTestChat, turn } from "./kit.ts";

/** A call of a tool as its server sees it. */
interface Made {
  name: string;
  input: Record<string, unknown>;
  context: ToolContext;
  end(outcome?: Partial<ToolOutcome>): void;
}

const RULES: ToolRules = {
  speech: { before: "auto", delayed: [] },
  interruption: "continue",
  run: "wait",
  mayRepeat: false,
  timeoutMs: 60_000,
};
const TOOLS: Readonly<Record<string, Partial<ToolRules>>> = {
  book: {},
  look_up: { mayRepeat: true },
  cancelled: { interruption: "cancel" },
  order: { run: "background" },
  late: { timeoutMs: 1 },
  spoken: { speech: { before: { text: "One moment." }, delayed: [{ afterMs: 2_000, text: "Nearly." }] } },
};
const SCHEMA = {
  type: "object",
  properties: { number: { type: "integer" } },
  required: ["number"],
  additionalProperties: false,
};
const RUNNING = '{"status":"running"}';

let made: Made[];
/** Answers calls at once, if it is set. */
let serve: ((call: Made) => void) | null;
const tools = Object.entries(TOOLS).map(([name, rules]) => ({
  kind: "http" as const,
  definition: { name, description: "", inputSchema: SCHEMA },
  rules: { ...RULES, ...rules },
  run: ({ input }: { input: Record<string, unknown> | null }, context: ToolContext) => {
    const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
    const end = (outcome = {}) => resolve({ result: `${name} is done`, isError: false, ...outcome });
    const call = { name, input: input ?? {}, context, end };
    made.push(call);
    serve?.(call);
    return promise;
  },
}));
const service = await startTestChat({}, [() => tools]);
const agent = await createAgent(service);
afterAll(() => service.stop());
beforeEach(() => {
  made = [];
  serve = (call) => call.end();
});

/** The model gives these answers, then plain ones. @returns what it was asked since */
function script(...answers: Script[]): { calls(): readonly ModelCall[] } {
  const from = service.model.calls.length;
  const waiting = [...answers];
  service.model.script = (call) => (waiting.shift() ?? ((rest) => rest.finish("All done.")))(call);
  return { calls: () => service.model.calls.slice(from) };
}

const calls =
  (name: string, input = '{"number":1}', text = ""): Script =>
  (call) =>
    call.callTool(name, input, text);
const outside = (text: string) =>
  new RegExp(`^result: The text between the marks came from outside.*\\n(===\\w+===)\\n${text}\\n\\1$`);

async function stored(conversationId: string): Promise<ToolCall[]> {
  const { ownerId } = agent;
  const { conversation } = await service.chat.getConversation({ ownerId, conversationId, withToolCalls: true });
  return conversation?.transcript?.messages.flatMap(({ toolCalls }) => toolCalls) ?? [];
}
const states = async (conversationId: string) =>
  (await stored(conversationId)).map(({ state }) => nameOf(TOOL_CALL_STATES, state));

/** The process that makes the running calls is as good as dead: its turn has lost its session. */
function dieMidTurn(): void {
  service.clock.advance(60_000);
}

/** A turn whose tool is called and does not answer. */
async function hangingTurn(name: string, sessionId?: string) {
  serve = null;
  script(calls(name));
  const { origin, leave } = leavable();
  const events = listen(service.chat, turn(agent, "Do it", { sessionId }), { origin });
  const first = await events.next();
  const id = (first.value && "sessionId" in first.value && first.value.sessionId) || "";
  const over = (async () => {
    for await (const _ of events);
  })();
  over.catch(() => {});
  await eventually(() => expect(made.at(-1)?.name).toBe(name));
  return { sessionId: id, call: made.at(-1) as Made, leave, over };
}

describe("a tool call", () => {
  test("is stored before it is made, with its result afterwards, and has an id of its own in the conversation", async () => {
    let seen: ToolCall[] = [];
    serve = async (call) => {
      seen = await stored(call.context.conversationId);
      call.context.attempted(2);
      call.end({ status: 201 });
    };
    script(calls("book"));
    const { sessionId } = await say(service, agent, "Book");
    const toolCallId = made[0]?.context.toolCallId ?? "";
    expect(toolCallId).toMatch(/^tcl_[0-9a-z]{26}$/);
    const call = { toolCallId, name: "book", arguments: '{"number":1}' };
    expect(seen).toMatchObject([{ ...call, state: ToolCallState.TOOL_CALL_STATE_RUNNING, result: "" }]);
    expect(await stored(sessionId)).toMatchObject([
      { ...call, state: ToolCallState.TOOL_CALL_STATE_SUCCEEDED, result: "book is done", httpStatus: 201, attempts: 2 },
    ]);
  });

  test("and its marked result are in every later request of the conversation, in order", async () => {
    const { calls: asked } = script(calls("book", '{"number":7}', "One moment."), (call) => call.finish("Booked."));
    const { sessionId } = await say(service, agent, "Book");
    await say(service, agent, "Thanks", sessionId);
    await say(service, agent, "Bye", sessionId);
    const told = [
      "user: Book",
      "assistant: One moment.",
      'call: book {"number":7}',
      expect.stringMatching(outside("book is done")),
    ];
    const [, second, third, fourth] = asked().map(({ asked: { messages } }) => messages);
    expect(second).toEqual(told);
    expect(third).toEqual([...told, "assistant: Booked.", "user: Thanks"]);
    expect(fourth).toEqual([...told, "assistant: Booked.", "user: Thanks", "assistant: All done.", "user: Bye"]);
  });

  test.each([
    ["no JSON", "{oops", "The arguments are not a JSON object"],
    ["no object", "[1]", "The arguments are not a JSON object"],
    ["a wrong type", '{"number":"one"}', "The arguments are wrong at number"],
    ["a missing value", "{}", 'required property "number"'],
    ["an unknown name", '{"number":1,"size":2}', "size"],
  ])("with %s as arguments is not made, and the model is told why", async (_, input, reason) => {
    const { calls: asked } = script(calls("book", input));
    const { sessionId } = await say(service, agent, "Book");
    expect(asked()[1]?.asked.messages.at(-1)).toContain(reason);
    expect(made).toEqual([]);
    expect(await states(sessionId)).toEqual(["FAILED"]);
  });

  test("that fails, or takes too long, is told to the model as an error", async () => {
    const { calls: asked } = script(calls("book"), calls("late"));
    serve = (call) => call.name === "book" && call.end({ isError: true, result: "HTTP 503" });
    await want(service, agent.ownerId, "tool.failed");
    const { sessionId } = await say(service, agent, "Book");
    expect(asked()[1]?.asked.messages.at(-1)).toMatch(outside("HTTP 503"));
    expect(asked()[2]?.asked.messages.at(-1)).toContain("There was no result within 0.001 s.");
    expect(await states(sessionId)).toEqual(["FAILED", "FAILED"]);
    // So is its owner.
    await eventually(() => expect(eventsOf(service.dispatcher, sessionId)).toHaveLength(2));
    const [first, second] = eventsOf(service.dispatcher, sessionId).map(payloadOf);
    expect(first).toMatchObject({
      event: "tool.failed",
      conversation_id: sessionId,
      tool: { name: "book", status: "FAILED", result: "HTTP 503", attempts: 1, is_error: true },
    });
    expect(second).toMatchObject({ event: "tool.failed", tool: { name: "late" } });
  });

  test.each([0, 3])("that takes too long has the %i attempts that it made", async (attempts) => {
    script(calls("late"));
    serve = ({ context }) => context.attempted(attempts);
    const { sessionId } = await say(service, agent, "Book");
    expect(await stored(sessionId)).toMatchObject([{ attempts, result: expect.stringContaining("no result within") }]);
  });

  test("that assigns more than a conversation's variables may have sets none, and the model and its record are told", async () => {
    const greeted = await createAgent(service, { prompt: inline("The order is {{order | unknown}}.") });
    serve = (call) => call.end({ assignments: { order: "A 1", text: "x".repeat(1024 * 1024) } });
    const { calls: asked } = script(calls("book"));
    const { sessionId } = await say(service, greeted, "Book");
    const told = "book is done\nNo variable was set: those of a conversation have at most 1 MiB together";
    expect(asked()[1]?.asked.messages.at(-1)).toContain(told);
    expect(asked()[1]?.asked.system).toContain("The order is unknown.");
    const { conversation } = await service.chat.getConversation({
      ...{ ownerId: greeted.ownerId, conversationId: sessionId, withToolCalls: true },
    });
    const records = conversation?.transcript?.messages.flatMap(({ toolCalls }) => toolCalls);
    expect(records).toMatchObject([{ result: expect.stringContaining(told), isError: false }]);
  });
});

describe("the calls of one answer", () => {
  test("are made at the same time, eight at most, and each has its answer, also with one id or too many", async () => {
    serve = null;
    const { calls: asked } = script((call) =>
      call.callTools(Array.from({ length: 42 }, (_, number) => ({ name: "book", input: JSON.stringify({ number }) }))),
    );
    const answer = say(service, agent, "Book");
    await eventually(() => expect(made).toHaveLength(8));
    const { conversationId } = (made[0] as Made).context;
    const [row] = await service.sql`
      select count(*) filter (where state = 'RUNNING')::integer as running,
        count(*) filter (where state = 'REQUESTED')::integer as waiting
      from tool_calls where conversation_id = ${conversationId}`;
    expect(row).toEqual({ running: 8, waiting: 32 });
    serve = (call) => call.end({ result: `${call.input.number}` });
    for (const call of [...made]) call.end({ result: `${call.input.number}` });
    await answer;
    expect(made).toHaveLength(40);
    const results = asked()[1]?.asked.messages.filter((message) => message.startsWith("result: ")) ?? [];
    expect(results).toHaveLength(42);
    for (const number of [0, 39]) expect(results[number]).toMatch(outside(`${number}`));
    for (const late of results.slice(40)) expect(late).toContain("More than 40 tools were called at once");
    const ids = asked()[1]?.body.messages.flatMap((message: { tool_call_id?: string }) => message.tool_call_id ?? []);
    expect(new Set(ids).size).toBe(42);
  });

  test("give values to variables from the model's next request on", async () => {
    const greeted = await createAgent(service, { prompt: inline("The order is {{order}}.") });
    serve = (call) => call.end({ assignments: { order: "A 1" } });
    const { calls: asked } = script(calls("book"), calls("book"));
    const { sessionId } = await say(service, greeted, "Book");
    expect(asked().map((call) => call.asked.system)).toEqual([
      "The order is .",
      "The order is A 1.",
      "The order is A 1.",
    ]);
    expect(made.map(({ context }) => context.variables.order)).toEqual([undefined, "A 1"]);
    await say(service, greeted, "And?", sessionId);
    expect(asked().at(-1)?.asked.system).toBe("The order is A 1.");
    const { conversation } = await service.chat.getConversation({
      ownerId: greeted.ownerId,
      conversationId: sessionId,
    });
    expect(conversation?.dynamicVariables).toEqual({ order: "A 1" });
  });
});

describe("a client that leaves while a tool runs", () => {
  test("ends the turn, not the call, whose result is stored and told to the model", async () => {
    const { sessionId, call, leave, over } = await hangingTurn("book");
    leave();
    await over.catch(() => {});
    await eventually(async () => expect(await stored(sessionId)).toMatchObject([{ name: "book" }]));
    call.end();
    await eventually(async () => expect(await states(sessionId)).toEqual(["SUCCEEDED"]));
    const { calls: asked } = script();
    await eventually(() => say(service, agent, "And?", sessionId));
    expect(asked()[0]?.asked.messages).toEqual([
      "user: Do it",
      'call: book {"number":1}',
      expect.stringMatching(outside("book is done")),
      "user: And?",
    ]);
  });

  test("and asks again before its result is told that it runs, and the result with the message after", async () => {
    const { sessionId, call, leave, over } = await hangingTurn("book");
    leave();
    await over.catch(() => {});
    const { calls: asked } = script();
    await eventually(() => say(service, agent, "And?", sessionId));
    call.end();
    await eventually(async () => expect(await states(sessionId)).toEqual(["SUCCEEDED"]));
    await say(service, agent, "Now?", sessionId);
    await say(service, agent, "Thanks", sessionId);
    const call1 = ["user: Do it", 'call: book {"number":1}', `result: ${RUNNING}`, "user: And?"];
    const told = expect.stringMatching(
      /^user: The tool book, which you called before, has this result now:\n.*\n(===\w+===)\nbook is done\n\1\n\nNow\?$/,
    );
    expect(asked().map((each) => each.asked.messages)).toEqual([
      call1,
      [...call1, "assistant: All done.", told],
      [...call1, "assistant: All done.", told, "assistant: All done.", "user: Thanks"],
    ]);
  });

  test("cancels a call whose tool says so", async () => {
    const { sessionId, call, leave, over } = await hangingTurn("cancelled");
    leave();
    await over.catch(() => {});
    await eventually(async () => expect(await states(sessionId)).toEqual(["CANCELLED"]));
    expect(call.context.signal.aborted).toBeTrue();
  });
});

test("a call in the background does not hold up the reply, and its result is told with the next message, once", async () => {
  serve = null;
  const { calls: asked } = script(calls("order"));
  const { sessionId, response } = await say(service, agent, "Order");
  expect(response).toBe("All done.");
  expect(asked()[1]?.asked.messages.at(-1)).toBe(`result: ${RUNNING}`);
  expect(await states(sessionId)).toEqual(["RUNNING"]);
  made[0]?.end({ assignments: { order: "B 2" } });
  await eventually(async () => expect(await states(sessionId)).toEqual(["SUCCEEDED"]));
  await say(service, agent, "And?", sessionId);
  await say(service, agent, "Thanks", sessionId);
  const tellings = asked().map(
    (call) => call.asked.messages.filter((message) => message.includes("order is done")).length,
  );
  expect(tellings).toEqual([0, 0, 1, 1]);
  expect(asked()[2]?.asked.messages.at(-1)).toMatch(/^user: The tool order, .*order is done.*And\?$/s);
});

test("a call whose conversation has ended goes on, and its result is stored", async () => {
  const ending = await createAgent(service, { tools: { end_call: true } }, agent.ownerId);
  serve = null;
  script(calls("order"), (model) => model.callTool("end_call", "{}", "Bye."));
  const { sessionId } = await say(service, ending, "Order, and that is all");
  expect(await states(sessionId)).toEqual(["RUNNING", "SUCCEEDED"]);
  made[0]?.end();
  await eventually(async () => expect(await states(sessionId)).toEqual(["SUCCEEDED", "SUCCEEDED"]));
  expect(await stored(sessionId)).toMatchObject([{ result: "order is done" }, { name: "end_call" }]);
});

test("the event of a conversation has its tool calls and the values that they assigned", async () => {
  const ending = await createAgent(service, { tools: { end_call: true } });
  serve = (call) => call.end({ assignments: { order: "C 3" } });
  script(calls("book"), (model) => model.callTool("end_call", "{}", "Bye."));
  const { sessionId } = await say(service, ending, "Book");
  await eventually(() =>
    expect(service.dispatcher.events.map(({ conversationId }) => conversationId)).toContain(sessionId),
  );
  const event = service.dispatcher.events.find(({ conversationId }) => conversationId === sessionId);
  expect(JSON.parse(event?.payload ?? "")).toMatchObject({
    dynamic_variables: { order: "C 3" },
    conversation_transcript: [
      { content: "Book" },
      {
        content: "Bye.",
        tool_calls: [{ name: "book", status: "SUCCEEDED", result: "book is done", attempts: 1 }, { name: "end_call" }],
      },
    ],
  });
});

describe("in a call", () => {
  const lines = async (call: CallKey) => {
    const { conversation } = await service.chat.getConversation({ ...call, withToolCalls: true });
    return conversation?.transcript?.messages.map(({ content, filler, toolCalls }) => {
      const calls = toolCalls.map(({ name, offset }) => `${name} ${offset}`);
      return [filler ? `(${content})` : content, ...calls].join(" | ");
    });
  };

  test("the runtime learns which tools run and how to wait for them, and its fillers are marked in the transcript", async () => {
    const call = await startWebCall(service.chat, agent);
    script(calls("spoken", '{"number":1}', "Sure."), (model) => model.finish("It comes on Monday."));
    serve = null;
    const spoken = speakTurn(service.chat, call, 1);
    expect(await spoken.next()).toEqual({ $case: "text", value: "Sure. " });
    const rules = { timeoutMs: 60_000, isCancellable: false, isBackground: false, before: "One moment." };
    const started = await spoken.next();
    expect(started).toMatchObject({ $case: "toolStarted", value: { name: "spoken", rules } });
    expect(started?.$case === "toolStarted" && started.value.rules?.delayed).toEqual([
      { afterMs: 2_000, text: "Nearly." },
    ]);
    made[0]?.end();
    expect(await spoken.next()).toMatchObject({ $case: "toolEnded" });
    expect(await spoken.reply()).toEqual({ text: "It comes on Monday.", event: { $case: "complete", value: {} } });
    spoken.heard("Sure. One moment. Nearly. It comes on Monday.", { fillers: ["One moment.", "Nearly."] });
    expect(await spoken.stored()).toBe(2);
    expect(await lines(call)).toEqual([
      "When do you open?",
      "Sure. | spoken 5",
      "(One moment.)",
      "(Nearly.)",
      "It comes on Monday.",
    ]);
    const { calls: asked } = script();
    const next = speakTurn(service.chat, call, 3, "Thanks");
    await next.reply();
    next.heard("All done.");
    await next.stored();
    expect(asked()[0]?.asked.messages.filter((message) => message.startsWith("assistant: "))).toEqual([
      "assistant: Sure.",
      "assistant: It comes on Monday.",
    ]);
  });

  test("a result whose reply was interrupted is answered in a turn without words of the user, once", async () => {
    const call = await startWebCall(service.chat, agent);
    script(calls("book"));
    serve = null;
    const interrupted = speakTurn(service.chat, call, 1, "Book it");
    const started = await interrupted.next();
    const toolCallIds = started?.$case === "toolStarted" ? [started.value.toolCallId] : [];
    interrupted.heard("");
    expect(await interrupted.stored()).toBe(1);
    const { calls: asked } = script(
      (model) => model.finish("At nine."),
      (model) => model.finish("It is booked."),
    );
    const next = speakTurn(service.chat, call, 2, "When do you open?");
    await next.reply();
    next.heard("At nine.");
    expect(await next.stored()).toBe(3);
    const waiting = service.chat.waitForToolCalls({ ...call, toolCallIds });
    made[0]?.end();
    expect(await waiting).toEqual({ ended: toolCallIds });
    for (const sequence of [4, 5]) {
      const told = speakTurn(service.chat, call, sequence, "", undefined, { answersResults: true });
      const { text } = await told.reply();
      told.heard(text);
      expect(await told.stored()).toBe(4);
    }
    expect(asked()).toHaveLength(2);
    expect(asked()[1]?.asked.messages.at(-1)).toMatch(/^user: The tool book, .*book is done/s);
    expect(await lines(call)).toEqual(["Book it | book 7", "When do you open?", "At nine.", "It is booked."]);
  });

  test.each([
    ["in the middle of a filler", "One mo", false],
    ["right after the result, before the first word", "One moment.", true],
    ["before anything was heard", "", false],
  ])("a caller who interrupts %s leaves the call and its result to the next request", async (_when, heard, isOver) => {
    const call = await startWebCall(service.chat, agent);
    const rest = Promise.withResolvers<void>();
    script(calls("spoken"), async (model) => {
      await rest.promise;
      model.finish("It comes on Monday.");
    });
    serve = null;
    const spoken = speakTurn(service.chat, call, 1);
    expect(await spoken.next()).toMatchObject({ $case: "toolStarted" });
    if (isOver) {
      made[0]?.end();
      expect(await spoken.next()).toMatchObject({ $case: "toolEnded" });
    }
    spoken.heard(heard, { fillers: ["One moment."] });
    const last = await spoken.stored();
    made[0]?.end();
    rest.resolve();
    await eventually(async () => expect(await states(call.conversationId)).toEqual(["SUCCEEDED"]));
    const { calls: asked } = script();
    const next = speakTurn(service.chat, call, last + 1, "And?");
    await next.reply();
    next.heard("All done.");
    await next.stored();
    expect(asked().map((each) => each.asked.messages)).toEqual([
      [
        "user: When do you open?",
        'call: spoken {"number":1}',
        expect.stringMatching(outside("spoken is done")),
        "user: And?",
      ],
    ]);
  });

  test("a runtime that asks the model itself gets the result when the tool has it", async () => {
    const call = await startWebCall(service.chat, agent);
    serve = (each) => each.end({ result: "booked" });
    const answer = await service.chat.runCallTool({ ...call, name: "order", arguments: { number: 1 } });
    expect(answer).toMatchObject({ result: "booked", isError: false });
    expect(
      await service.sql`select state, result from tool_calls where conversation_id = ${call.conversationId}`,
    ).toMatchObject([{ state: "SUCCEEDED", result: "booked" }]);
  });
});

describe("a call whose process died", () => {
  test("is made once more, with the same id, if its tool may be repeated", async () => {
    const { sessionId, call } = await hangingTurn("look_up");
    dieMidTurn();
    serve = (again) => again.end({ result: "found" });
    const { calls: asked } = script();
    await say(service, agent, "And?", sessionId);
    expect(made.map(({ context }) => context.toolCallId)).toEqual(new Array(2).fill(call.context.toolCallId));
    expect(await stored(sessionId)).toMatchObject([{ result: "found", attempts: 2 }]);
    expect(asked()[0]?.asked.messages[2]).toMatch(outside("found"));
  });

  test("is unknown if its tool may not be repeated: the model is told so, and nothing is called", async () => {
    const { sessionId } = await hangingTurn("book");
    dieMidTurn();
    const { calls: asked } = script();
    await say(service, agent, "And?", sessionId);
    expect(made).toHaveLength(1);
    expect(await states(sessionId)).toEqual(["UNKNOWN"]);
    expect(asked()[0]?.asked.messages[2]).toStartWith("result: It is unknown whether this call had an effect");
  });

  test("and answers after all has its result told with the next message", async () => {
    const { sessionId, call } = await hangingTurn("book");
    dieMidTurn();
    const { calls: asked } = script();
    await say(service, agent, "And?", sessionId);
    call.end();
    await eventually(async () => expect(await states(sessionId)).toEqual(["SUCCEEDED"]));
    await say(service, agent, "Now?", sessionId);
    expect(asked().at(-1)?.asked.messages.at(-1)).toMatch(/^user: The tool book, .*book is done.*Now\?$/s);
  });
});
