import { afterAll, expect, test } from "bun:test";
import { Handoff, Tool, ToolInterruption } from "@parley/proto/parley/agent/v1/tool.ts";
import { RunCallToolRequest, type Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newId } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import type { Script } from "@parley/testkit/scripted-model";
import { clientTool } from "../src/tools/client-tools.ts";
import type { ToolOutcome } from "../src/tools/tool.ts";
import { type SpokenTurnUnderWay, speakTurn, startWebCall } from "./converse-kit.ts";
import { createAgent, failure, hear, inline, leavable, listen, startTestChat, transcript, turn } from "./kit.ts";

const seats = Tool.fromPartial({ name: "show_seats", timeoutMs: 20_000 });
const cancellable = Tool.fromPartial({
  ...{ name: "ask_seat", timeoutMs: 20_000 },
  interruption: ToolInterruption.TOOL_INTERRUPTION_CANCEL,
});
const notice = Tool.fromPartial({ name: "show_notice", timeoutMs: 20_000 });
const slow = Promise.withResolvers<ToolOutcome>();
const book = {
  ...{ kind: "http" as const, definition: { name: "book", description: "", inputSchema: { type: "object" } } },
  rules: { ...clientTool(seats, { parameters: [], wait: true }).rules, timeoutMs: 60_000 } as never,
  run: () => slow.promise,
};
const service = await startTestChat({}, [
  () => [
    clientTool(seats, { parameters: [], wait: undefined }),
    clientTool(cancellable, { parameters: [], wait: undefined }),
    clientTool(notice, { parameters: [], wait: false }),
    book,
  ],
]);
const agent = await createAgent(service);
afterAll(() => service.stop());

function script(...answers: Script[]): void {
  const waiting = [...answers];
  service.model.script = (call) => (waiting.shift() ?? ((rest) => rest.finish("All done.")))(call);
}
const calls =
  (...names: string[]): Script =>
  (call) =>
    call.callTools(names.map((name) => ({ name, input: "{}" })));
const lastTold = () => service.model.calls.at(-1)?.asked.messages ?? [];
const ids = async (sessionId: string) => {
  const rows = await service.sql`
    select tool_call_id from tool_calls where conversation_id = ${sessionId} and kind = 'client' order by tool_call_id`;
  return rows.map((row) => row.tool_call_id as string);
};
const results = (sessionId: string, toolCallId = "", given: Partial<Turn> = {}) =>
  turn(agent, "", {
    sessionId,
    toolResults: [{ toolCallId, result: "14C", isError: false }],
    clientTools: true,
    ...given,
  });

test("a result that comes after its tool's time is an error for the model, whether it is given or not", async () => {
  script(calls("show_seats"));
  const { sessionId } = await hear(service.chat, turn(agent, "Seats?", { clientTools: true }));
  service.clock.advance(20_001);
  const [id] = await ids(sessionId);
  expect((await hear(service.chat, results(sessionId, id))).chunks.join("")).toBe("All done.");
  expect(lastTold().at(-1)).toBe("result: The client gave no result in time. The call may have had an effect.");

  script(calls("show_seats"));
  await hear(service.chat, turn(agent, "Again?", { sessionId, clientTools: true }));
  service.clock.advance(20_001);
  await hear(service.chat, turn(agent, "Hello?", { sessionId }));
  expect(lastTold().slice(-2)).toEqual([
    "result: The client gave no result in time. The call may have had an effect.",
    "user: Hello?",
  ]);
});

test("a result is refused while its turn's other calls run, and goes on with the turn when they are over or lost", async () => {
  script(calls("show_seats", "book"));
  const { origin, leave } = leavable();
  const events = listen(service.chat, turn(agent, "Seats?", { clientTools: true }), { origin });
  const { value } = await events.next();
  const sessionId = value?.sessionId ?? "";
  const over = Array.fromAsync(events).catch(() => {});
  await eventually(async () => expect(await ids(sessionId)).toHaveLength(1));
  const [id] = await ids(sessionId);
  expect(await failure(hear(service.chat, results(sessionId, id)))).toMatchObject({ kind: "conflict" });
  leave();
  await over;
  const given = await eventually(() => hear(service.chat, results(sessionId, id)));
  expect(given.chunks.join("")).toBe("All done.");
  slow.resolve({ result: "booked", isError: false });
  expect(lastTold()).toEqual([
    "user: Seats?",
    "call: show_seats {}",
    "call: book {}",
    expect.stringContaining("14C"),
    'result: {"status":"running"}',
  ]);
});

test("a turn whose process died before it ended goes on with the result, once, and its place in the transcript is kept", async () => {
  script(calls("show_seats"));
  const { sessionId } = await hear(service.chat, turn(agent, "Seats?", { clientTools: true }));
  // As if the process had died before it stored the empty reply.
  await service.sql`delete from messages where conversation_id = ${sessionId} and seq = 2`;
  await service.sql`update conversations set message_count = 1 where conversation_id = ${sessionId}`;
  const [id] = await ids(sessionId);
  expect((await hear(service.chat, results(sessionId, id))).chunks.join("")).toBe("All done.");
  expect((await hear(service.chat, results(sessionId, id))).chunks).toEqual([]);
  expect(await transcript(service, agent, sessionId)).toEqual(["user: Seats?", "assistant: ", "assistant: All done."]);
  await hear(service.chat, turn(agent, "Thanks", { sessionId }));
  expect(lastTold()).toEqual([
    "user: Seats?",
    "call: show_seats {}",
    expect.stringContaining("14C"),
    "assistant: All done.",
    "user: Thanks",
  ]);
});

test("in a call, also of a runtime that asks the model itself, the model is told that no client makes the call", async () => {
  const unavailable = "not available on this channel";
  script(calls("show_seats"));
  const call = await startWebCall(service.chat, agent);
  const spoken = speakTurn(service.chat, call, 1, "Seats?");
  expect(await spoken.reply()).toMatchObject({ text: "All done.", event: { $case: "complete" } });
  spoken.heard("All done.");
  await spoken.stored();
  expect(lastTold().at(-1)).toBe(`result: ${unavailable}`);
  const run = await service.chat.runCallTool(RunCallToolRequest.fromPartial({ ...call, name: "show_seats" }));
  expect(run).toMatchObject({ result: unavailable, isError: true });
});

/** A call whose page makes calls, in its first turn. */
async function turnWithPage(...names: string[]) {
  script(calls(...names));
  const call = await startWebCall(service.chat, agent);
  const clientTools = true;
  const says = (sequence: number, text: string, given: object = {}) =>
    speakTurn(service.chat, call, sequence, text, undefined, { clientTools, ...given });
  const spoken = says(1, "Seats?");
  const event = await spoken.next();
  if (event?.$case !== "clientCall") throw new Error("the page got no call");
  const { toolCallId } = event.value;
  const gives = (result: string, isError = false) =>
    service.chat.giveClientResult({ ...call, result: { toolCallId, result, isError } });
  const state = async () => {
    const [row] = await service.sql`select state, result from tool_calls where tool_call_id = ${toolCallId}`;
    return row;
  };
  return { call, says, spoken, toolCallId, handed: event.value, gives, state };
}

async function heardWhole(spoken: SpokenTurnUnderWay): Promise<string> {
  for (;;) {
    const { text, event } = await spoken.reply();
    if (event?.$case !== "complete") continue;
    spoken.heard(text);
    await spoken.stored();
    return text;
  }
}

test("in a call with a page, the turn waits for the page's result, which counts once", async () => {
  const { spoken, handed, toolCallId, gives, state } = await turnWithPage("show_seats");
  expect(handed).toEqual({ toolCallId, name: "show_seats", arguments: "{}", wait: true, timeoutMs: 20_000 });
  expect(await spoken.next()).toMatchObject({ $case: "toolStarted", value: { toolCallId, name: "show_seats" } });
  expect(await gives("14C")).toEqual({ result: "14C", isError: false, isTaken: true });
  expect(await spoken.next()).toEqual({ $case: "toolEnded", value: { toolCallId } });
  expect(await heardWhole(spoken)).toBe("All done.");
  expect(lastTold().at(-1)).toContain("14C");
  expect(await gives("15A")).toEqual({ result: "14C", isError: false, isTaken: false });
  expect(await state()).toMatchObject({ state: "SUCCEEDED", result: "14C" });
});

test("an id that names no waiting call of this very conversation is refused, and the call goes on waiting", async () => {
  const { spoken, toolCallId, gives, state } = await turnWithPage("show_seats");
  const other = await startWebCall(service.chat, agent);
  for (const id of [toolCallId, "tcl_unknown", "\0"]) {
    const given = { ...other, result: { toolCallId: id, result: "14C", isError: false } };
    expect(await failure(service.chat.giveClientResult(given))).toMatchObject({ kind: "invalid" });
  }
  expect(await state()).toMatchObject({ state: "RUNNING" });
  await gives("The map is broken", true);
  await heardWhole(spoken);
  expect(lastTold().at(-1)).toContain("The map is broken");
});

test("a page that gives no result in the tool's time is an error for the model, and a late result changes nothing", async () => {
  const { spoken, gives } = await turnWithPage("show_seats");
  service.clock.advance(20_001);
  await heardWhole(spoken);
  const told = "The client gave no result in time. The call may have had an effect.";
  expect(lastTold().at(-1)).toBe(`result: ${told}`);
  expect(await gives("14C")).toEqual({ result: told, isError: true, isTaken: false });
});

test("a page's result that comes after the user interrupted is told with the next turn", async () => {
  const { says, spoken, toolCallId, gives, call } = await turnWithPage("show_seats");
  spoken.heard("");
  await spoken.stored();
  await gives("14C");
  const { ended } = await service.chat.waitForToolCalls({ ...call, toolCallIds: [toolCallId] });
  expect(ended).toEqual([toolCallId]);
  await heardWhole(says(2, "Hello?"));
  expect(lastTold().slice(-2)).toEqual([expect.stringContaining("14C"), "user: Hello?"]);
});

test("a page's call that may be cancelled is, when the user interrupts", async () => {
  const { spoken, gives, state } = await turnWithPage("ask_seat");
  spoken.heard("");
  await spoken.stored();
  await eventually(async () => expect(await state()).toMatchObject({ state: "CANCELLED" }));
  expect(await gives("14C")).toMatchObject({ isTaken: false });
});

test("a page's call whose process died is waited for again, and is not handed over twice", async () => {
  const { says, spoken, toolCallId, gives } = await turnWithPage("show_seats");
  spoken.heard("");
  await spoken.stored();
  // As if the process had died that waited for it.
  await service.sql`update tool_calls set running_until = null where tool_call_id = ${toolCallId}`;
  const next = says(2, "Hello?");
  expect(await next.next()).toMatchObject({ $case: "toolStarted", value: { toolCallId } });
  await gives("14C");
  expect(await next.next()).toMatchObject({ $case: "toolEnded" });
  expect(await heardWhole(next)).toBe("All done.");
  expect(lastTold().join()).toContain("14C");
});

test("a call that the page makes without a result has succeeded once it is handed over", async () => {
  const { spoken, handed, gives, state } = await turnWithPage("show_notice");
  expect(handed.wait).toBe(false);
  expect(await heardWhole(spoken)).toBe("All done.");
  expect(lastTold().at(-1)).toBe('result: {"status":"handed over"}');
  expect(await state()).toMatchObject({ state: "SUCCEEDED" });
  expect(await gives("seen")).toMatchObject({ isTaken: false, isError: false });
});

test("a runtime that asks the model itself gets the page's call, and what the model is told with its result", async () => {
  const call = await startWebCall(service.chat, agent);
  const toolCallId = newId("tcl");
  const asked = RunCallToolRequest.fromPartial({ ...call, name: "show_seats", clientTools: true, toolCallId });
  const { result, clientCall } = await service.chat.runCallTool(asked);
  expect([result, clientCall]).toEqual([
    "",
    { toolCallId, name: "show_seats", arguments: "{}", wait: true, timeoutMs: 20_000 },
  ]);
  expect(await failure(service.chat.runCallTool(asked))).toMatchObject({ kind: "conflict" });
  const given = { toolCallId, result: "x".repeat(40_000), isError: false };
  const told = await service.chat.giveClientResult({ ...call, result: given });
  expect([told.isTaken, told.result.length]).toEqual([true, 32 * 1024]);
});

test("a turn that tells of tools tells each call and its result, also of tools that are over at once", async () => {
  const call = await startWebCall(service.chat, agent);
  script(calls("show_seats"));
  const spoken = speakTurn(service.chat, call, 1, "Seats?", undefined, { tellsTools: true });
  const news = [await spoken.next(), await spoken.next()].map(
    (event) => event?.$case === "toolNews" && event.value.event,
  );
  expect(news).toEqual([
    { $case: "called", value: { name: "show_seats", arguments: "{}" } },
    { $case: "answered", value: { result: "not available on this channel", isError: true } },
  ]);
  await heardWhole(spoken);
});

test("a handoff beside a client's call says its words before the turn waits, and the new agent answers the result", async () => {
  const { ownerId } = agent;
  const prompt = inline("You are billing.");
  const billing = await createAgent(service, { prompt, firstMessagePrompt: "Billing here." }, ownerId);
  const to = { agentId: billing.agentId, when: "money", message: "I pass you on.", greet: true };
  const desk = await createAgent(service, { handoffs: [Handoff.fromPartial(to)] }, ownerId);
  script(calls("show_seats", `hand_over_to_${billing.agentId}`));
  const { sessionId, chunks } = await hear(service.chat, turn(desk, "Seats?", { clientTools: true }));
  expect(chunks.join("")).toBe("I pass you on. Billing here. ");
  const [id] = await ids(sessionId);
  const { agentId } = desk;
  expect((await hear(service.chat, results(sessionId, id, { agentId }))).chunks.join("")).toBe("All done.");
  expect(service.model.calls.at(-1)?.asked.system).toBe("You are billing.");
  expect(lastTold().join()).toContain("14C");
});

test.each([
  [{ sessionId: undefined }, "tool_results need a session_id"],
  [{ message: "Hi" }, "A turn has either message or tool_results"],
  [
    { toolResults: Array.from({ length: 41 }, () => ({ toolCallId: "tcl_1", result: "", isError: false })) },
    "tool_results must have at most 40 items",
  ],
])("results with %j are invalid", async (given, detail) => {
  const asked = results(Bun.randomUUIDv7(), "tcl_1", given);
  expect(await failure(hear(service.chat, asked))).toMatchObject({ kind: "invalid", detail });
});
