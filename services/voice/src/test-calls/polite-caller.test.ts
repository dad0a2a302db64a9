import { expect, test } from "bun:test";
import { fakeTime } from "../../tests/kit/fake-time.ts";
import type { CallNews } from "../call/port.ts";
import type { Line } from "./line.ts";
import { politeCaller } from "./polite-caller.ts";

const line = (keys: string, interruptAtMs: number | null = null): Line => ({
  ...{ audio: new Int16Array(), interruptAtMs, keys },
});
const SAYING_MS = 1_000;

/** A caller whose lines take a second, told by their keys, and what came of it, in order. */
function calling() {
  const time = fakeTime();
  const told: string[] = [];
  const caller = politeCaller({
    clock: time,
    say: ({ keys }) => {
      told.push(`says ${keys}`);
      return new Promise((resolve) => void time.after(SAYING_MS, resolve));
    },
    hangUp: (reason) => void told.push(`hangs up: ${reason}`),
    tell: ({ recognized, heard, latencyMs }) => void told.push(`turn "${recognized}" "${heard}" ${latencyMs}`),
  });
  const state = (now: Extract<CallNews, { type: "state" }>["state"]) => caller.news({ type: "state", state: now });
  const news = (type: "user" | "agent", text: string, isFinal = true) => caller.news({ type, text, isFinal });
  return {
    ...{ time, told, caller, state, news },
    add: (keys: string, interruptAtMs?: number) => void caller.add(line(keys, interruptAtMs)),
    greeted: async () => {
      state("thinking");
      caller.connected();
      state("speaking");
      caller.heardVoice();
      await time.pass(2_000);
    },
    /** The agent finishes, or is cut off. */
    ends: async (text: string) => {
      news("agent", text);
      state("listening");
      await time.pass(0);
    },
    /** The agent answers after half a second, for as long as it is not ended. */
    answers: async (recognized: string) => {
      await time.pass(500);
      news("user", recognized);
      state("thinking");
      state("speaking");
      caller.heardVoice();
      await time.pass(0);
    },
  };
}

test("a test's user says a line only when the agent has finished, waits for the answer to the last, and hangs up", async () => {
  const { caller, add, greeted, ends, answers, time, told } = calling();
  add("1");
  add("2");
  caller.noMore();
  await greeted();
  expect(told).toEqual([]);
  await ends("Hello.");
  await time.pass(SAYING_MS);
  await answers("one");
  await ends("First.");
  await time.pass(SAYING_MS);
  await answers("two");
  await ends("Second.");
  expect(told).toEqual([
    'turn "" "Hello." 0',
    "says 1",
    'turn "one" "First." 500',
    "says 2",
    'turn "two" "Second." 500',
    "hangs up: All lines were said and answered",
  ]);
});

test("the first turn of a call with an agent that does not greet is empty, and comes at once", async () => {
  const { caller, time, told } = calling();
  caller.connected();
  await time.pass(0);
  expect(told).toEqual(['turn "" "" undefined']);
});

test("a line that interrupts begins so long after the reply began to be heard, and that reply ends with what was heard of it", async () => {
  const { add, greeted, ends, answers, news, time, told } = calling();
  add("1");
  await greeted();
  await ends("Hello.");
  await time.pass(SAYING_MS);
  add("2", 700);
  await answers("one");
  await time.pass(699);
  expect(told).not.toContain("says 2");
  await time.pass(1);
  await ends("As I was");
  news("user", "not that", false);
  await time.pass(SAYING_MS);
  await answers("not that");
  await ends("Sorry.");
  expect(told.slice(2)).toEqual(["says 2", 'turn "one" "As I was" 500', 'turn "not that" "Sorry." 500']);
});

test("a line that is to interrupt a reply which is over before then follows it as any other", async () => {
  const { add, greeted, ends, time, told } = calling();
  add("1", 5_000);
  await greeted();
  await ends("Hello.");
  expect(told).toEqual(['turn "" "Hello." 0', "says 1"]);
  await time.pass(10_000);
  expect(told.filter((each) => each === "says 1")).toHaveLength(1);
});

test("a line that the agent takes for two is answered by both replies", async () => {
  const { add, greeted, ends, answers, news, state, time, told } = calling();
  await greeted();
  await ends("Hello.");
  add("1");
  await time.pass(0);
  // The agent answers the first half, and the user goes on.
  await answers("I would like");
  await ends("What");
  await time.pass(SAYING_MS);
  news("user", "to know when you open", false);
  await time.pass(500);
  expect(told).toHaveLength(2);
  state("thinking");
  await answers("to know when you open");
  await ends("At nine.");
  expect(told.at(-1)).toStartWith('turn "I would like to know when you open" "What At nine."');
});

test("words that are recognized while a reply is cut off keep the turn open until they are answered", async () => {
  const { add, greeted, ends, answers, news, state, time, told } = calling();
  await greeted();
  await ends("Hello.");
  add("1");
  await time.pass(SAYING_MS);
  await answers("my");
  // All of one event, in this order.
  news("agent", "Tell me");
  state("listening");
  news("user", "about delivery", false);
  await time.pass(1_000);
  expect(told).toHaveLength(2);
  await answers("about delivery");
  await ends("On Tuesday.");
  expect(told.at(-1)).toStartWith('turn "my about delivery" "Tell me On Tuesday."');
});

test("a line that the agent does not answer for twenty seconds is told as one without an answer", async () => {
  const { add, greeted, ends, time, told } = calling();
  await greeted();
  await ends("Hello.");
  add("1");
  await time.pass(SAYING_MS + 19_999);
  expect(told).toHaveLength(2);
  await time.pass(1);
  expect(told.at(-1)).toBe('turn "" "" undefined');
});

test("what an agent says of its own accord while no line is open belongs to the next turn", async () => {
  const { add, greeted, ends, answers, state, time, told } = calling();
  await greeted();
  await ends("Hello.");
  state("speaking");
  await ends("Are you there?");
  add("1");
  await time.pass(SAYING_MS);
  await answers("yes");
  await ends("Good.");
  expect(told.at(-1)).toBe('turn "yes" "Are you there? Good." 500');
});

test("an agent that hangs up with its last words is who ends the call, and these words are told", async () => {
  const { caller, add, greeted, ends, answers, news, state, time, told } = calling();
  await greeted();
  await ends("Hello.");
  add("1");
  caller.noMore();
  await time.pass(SAYING_MS);
  await answers("bye");
  // All of one event, in this order.
  news("agent", "Goodbye.");
  caller.left();
  state("listening");
  await time.pass(0);
  caller.over();
  await time.pass(30_000);
  expect(told.slice(2)).toEqual(['turn "bye" "Goodbye." 500']);
});
