import { afterEach, expect, test } from "bun:test";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { clientCalls } from "../../src/call/tools/client-calls.ts";
import { pageClient } from "../../src/web-calls/page-client.ts";
import { fakeConversations } from "../kit/fake-conversations.ts";
import { fakeTime } from "../kit/fake-time.ts";
import { callsForTest } from "./connected.ts";

const { connected, end } = callsForTest();
afterEach(end);

const KEY = { ownerId: "own_1", conversationId: "c" };
const seats = (toolCallId: string, wait = true, json = '{"seat":"14C"}') => ({
  ...{ toolCallId, name: "show_seats", arguments: json, wait, timeoutMs: 20_000 },
});

/** A page in a call, and what makes the calls of client tools there. */
async function pageInCall(protocol = "client_tools") {
  const { page, peer } = await connected(undefined, undefined, { protocol });
  const conversations = fakeConversations();
  const parts = { client: pageClient(peer), conversations, key: KEY, clock: fakeTime(), log: silentLogger };
  const calls = clientCalls(parts);
  await eventually(() => expect(peer.protocol()).toBe(protocol));
  const messages = () => page.captions.map((text) => JSON.parse(text));
  const says = (message: unknown) =>
    page.channel.sendMessage(typeof message === "string" ? message : JSON.stringify(message));
  const gives = (toolCallId: string, result: object) =>
    says({ type: "tool_result", tool_call_id: toolCallId, ...result });
  return { page, calls, given: conversations.given, messages, says, gives };
}

test("a page that makes calls gets one with its arguments, and its first result is the call's", async () => {
  const { calls, given, messages, gives } = await pageInCall();
  expect(calls.areMade()).toBeTrue();
  const made = calls.make(seats("tcl_1"));
  await eventually(() =>
    expect(messages()).toEqual([
      {
        type: "client_call",
        tool_call_id: "tcl_1",
        name: "show_seats",
        arguments: { seat: "14C" },
        wait: true,
        timeout_ms: 20_000,
      },
    ]),
  );
  gives("tcl_1", { result: { free: true } });
  expect(await made).toEqual({ result: '{"free":true}', isError: false, isTaken: true });
  gives("tcl_1", { result: "again" });
  gives("tcl_unknown", { error: "no" });
  await eventually(() =>
    expect(
      messages()
        .slice(1)
        .map((each) => [each.type, each.tool_call_id]),
    ).toEqual([
      ["error", "tcl_1"],
      ["error", "tcl_unknown"],
    ]),
  );
  expect(given).toEqual(['tcl_1: {"free":true}']);
});

test("what a page sends that is no result is refused with a reason, and the call still takes a result", async () => {
  const { calls, given, messages, says, gives } = await pageInCall();
  const made = calls.make(seats("tcl_1"));
  for (const wrong of ["no JSON", "[1]", { type: "hello" }, { type: "tool_result" }]) says(wrong);
  gives("tcl_1", {});
  gives("tcl_1", { result: 1, error: "both" });
  gives("tcl_1", { error: 1 });
  gives("tcl_1", { error: "The map is broken" });
  expect(await made).toMatchObject({ result: "The map is broken", isError: true });
  expect(given).toHaveLength(1);
  await eventually(() => expect(messages().filter(({ type }) => type === "error")).toHaveLength(7));
});

test("a call that the page cannot get, or that is open when its data channel closes, fails with a reason", async () => {
  const { page, calls, given } = await pageInCall();
  const long = calls.make(seats("tcl_long", true, JSON.stringify({ text: "x".repeat(300_000) })));
  expect(await long).toMatchObject({ isError: true, result: expect.stringContaining("could not be handed over") });
  const open = calls.make(seats("tcl_open"));
  page.channel.close();
  expect(await open).toMatchObject({ isError: true, result: expect.stringContaining("left before it gave a result") });
  expect(calls.areMade()).toBeFalse();
  expect(given).toHaveLength(2);
});

test("a page whose data channel only shows captions makes no calls", async () => {
  const { calls } = await pageInCall("");
  expect(calls.areMade()).toBeFalse();
});
