import { afterAll, expect, test } from "bun:test";
import { Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { RunCallToolRequest, type Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { eventually } from "@parley/testkit/eventually";
import type { Script } from "@parley/testkit/scripted-model";
import { clientTool } from "../src/tools/client-tools.ts";
import type { ToolOutcome } from "../src/tools/tool.ts";
import { speakTurn, startWebCall } from "./converse-kit.ts";
import { createAgent, failure, hear, leavable, listen, startTestChat, transcript, turn } from "./kit.ts";

const seats = Tool.fromPartial({ name: "show_seats", timeoutMs: 20_000 });
const slow = Promise.withResolvers<ToolOutcome>();
const book = {
  ...{ kind: "http" as const, definition: { name: "book", description: "", inputSchema: { type: "object" } } },
  rules: { ...clientTool(seats, { parameters: [], wait: true }).rules, timeoutMs: 60_000 } as never,
  run: () => slow.promise,
};
const service = await startTestChat({}, [() => [clientTool(seats, { parameters: [], wait: undefined }), book]]);
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
