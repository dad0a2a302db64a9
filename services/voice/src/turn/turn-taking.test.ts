import { expect, test } from "bun:test";
import type { Effect, TurnEvent } from "./events.ts";
import type { TurnSettings } from "./settings.ts";
import { initialState } from "./state.ts";
import { dueAt, takeTurn } from "./turn-taking.ts";

const SETTINGS: TurnSettings = { isSpeechToSpeech: false, endsTurns: false, silenceMs: 500, idle: null };

/** A call in which time passes and things happen; returns the effects of each step. */
function call(settings: Partial<TurnSettings> = {}) {
  let state = initialState({ ...SETTINGS, ...settings }, 0);
  let now = 0;
  function happen(event: TurnEvent): Effect[] {
    const turned = takeTurn(state, event, now);
    state = turned.state;
    return turned.effects;
  }
  return {
    happen,
    /** Lets this much time pass, and stops wherever something is due. */
    wait(ms: number): Effect[] {
      const until = now + ms;
      const effects: Effect[] = [];
      for (let due = dueAt(state); due !== null && due <= until; due = dueAt(state)) {
        now = Math.max(now, due);
        effects.push(...happen({ type: "time" }));
      }
      now = until;
      return effects;
    },
    state: () => state,
  };
}

const began: TurnEvent = { type: "speech_began", agoMs: 0 };
const ended: TurnEvent = { type: "speech_ended", agoMs: 0 };
const partial = (text: string): TurnEvent => ({ type: "partial", text });
const final = (text: string): TurnEvent => ({ type: "final", text });
const finalized: TurnEvent = { type: "finalized" };
const types = (effects: readonly Effect[]) => effects.map(({ type }) => type);

/** A call in which the agent is in the middle of an answer to "When do you open?". */
function answering(settings: Partial<TurnSettings> = {}) {
  const on = call(settings);
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("When do you open?"));
  on.wait(1_000);
  on.happen(ended);
  on.wait(150);
  on.happen(final("When do you open?"));
  on.happen(finalized);
  expect(types(on.wait(400))).toEqual(["ask"]);
  on.happen({ type: "sound", reply: 1, ms: 5_000 });
  on.wait(1_000);
  return on;
}

test("a turn ends after 500 ms of silence, once the recognition has given its last words", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.wait(800);
  on.happen(ended);
  expect(on.wait(200)).toEqual([{ type: "finalize" }]);
  on.happen(final("when do you open"));
  on.happen(finalized);
  expect(on.wait(299)).toEqual([]);
  expect(on.wait(1)).toEqual([{ type: "ask", reply: 1, text: "when do you open" }]);
});

test("words that seem unfinished only because the last ones are late do not delay the end of a turn", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("what are your"));
  on.wait(800);
  on.happen(ended);
  expect(on.wait(200)).toEqual([{ type: "finalize" }]);
  on.happen(final("what are your opening hours"));
  on.happen(finalized);
  expect(types(on.wait(300))).toEqual(["ask"]);
});

test("a turn ends with the words that are known when the recognition does not answer", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("hello there"));
  on.wait(800);
  on.happen(ended);
  expect(on.wait(1_200)).toEqual([{ type: "finalize" }, { type: "ask", reply: 1, text: "hello there" }]);
  expect(on.happen(final("Hello there."))).toEqual([]);
});

test("words that arrive after a turn ended too early interrupt the answer and become the next message", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("I would like to"));
  on.wait(800);
  on.happen(ended);
  expect(types(on.wait(2_000))).toEqual(["finalize", "ask"]);
  expect(types(on.happen(final("I would like to book a table for two")))).toEqual(["interrupt"]);
  on.happen(finalized);
  const asked = on.wait(2_000).find(({ type }) => type === "ask");
  expect(asked).toEqual({ type: "ask", reply: 2, text: "book a table for two" });
});

test("words that the recognition corrects after they were answered are not asked again", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("when do you hope in"));
  on.wait(800);
  on.happen(ended);
  expect(types(on.wait(2_000))).toEqual(["finalize", "ask"]);
  expect(on.happen(final("When do you open?"))).toEqual([]);
});

test.each([
  ["never answers", []],
  ["answers without its words", [finalized]],
])("words that a recognition which %s repeats much later, with more, are not asked again", (_how, answers) => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("When do you open?"));
  on.wait(800);
  on.happen(ended);
  expect(types(on.wait(2_000))).toEqual(["finalize", "ask"]);
  for (const answer of answers) on.happen(answer);
  on.happen({ type: "sound", reply: 1, ms: 500 });
  on.happen({ type: "answered", reply: 1, next: "listen" });
  on.wait(500);
  on.happen({ type: "played", reply: 1 });
  on.wait(8_000);
  on.happen(began);
  on.happen(partial("when do you open"));
  on.happen(partial("When do you open? And on Sundays?"));
  on.wait(800);
  on.happen(ended);
  const asked = on.wait(3_000).find(({ type }) => type === "ask");
  expect(asked).toEqual({ type: "ask", reply: 2, text: "And on Sundays?" });
});

test("a user who says the same again later is heard, though the recognition was never sure of it before", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  for (const reply of [1, 2]) {
    on.happen(began);
    on.happen(partial("hello"));
    on.wait(800);
    on.happen(ended);
    expect(on.wait(2_000)).toContainEqual({ type: "ask", reply, text: "hello" });
    on.happen({ type: "sound", reply, ms: 500 });
    on.happen({ type: "answered", reply, next: "listen" });
    on.wait(500);
    on.happen({ type: "played", reply });
    on.wait(8_000);
  }
});

test("a provider that ends turns ends them", () => {
  const on = call({ endsTurns: true });
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(final("When do you open?"));
  expect(on.happen({ type: "end_of_turn" })).toEqual([{ type: "ask", reply: 1, text: "When do you open?" }]);
});

test("a provider that forgets the end of a turn does not stall the call", () => {
  const on = call({ endsTurns: true });
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(final("When do you open?"));
  on.happen(ended);
  expect(types(on.wait(2_500))).toEqual(["ask"]);
});

test("a user who continues before the answer is heard keeps the turn", () => {
  const on = answering();
  on.happen({ type: "sound", reply: 1, ms: 0 });
  expect(types(on.happen(partial("And on Sunday")))).toEqual(["interrupt"]);
});

test("200 ms of speech stop the agent, and the first word interrupts it", () => {
  const on = answering();
  on.happen(began);
  expect(on.wait(199)).toEqual([]);
  expect(on.wait(1)).toEqual([{ type: "hold", reply: 1 }]);
  expect(on.happen(partial("wait"))).toEqual([{ type: "interrupt", reply: 1 }]);
  expect(on.happen({ type: "sound", reply: 1, ms: 100 })).toEqual([]);
  expect(on.happen({ type: "played", reply: 1 })).toEqual([]);
});

test("shorter speech does not stop the agent", () => {
  const on = answering();
  on.happen(began);
  on.wait(150);
  on.happen(ended);
  expect(types(on.wait(500))).toEqual(["finalize"]);
});

test("the agent resumes 2 s after a stop without words", () => {
  const on = answering();
  on.happen(began);
  on.wait(400);
  on.happen(ended);
  expect(on.wait(1_799)).toEqual([{ type: "finalize" }]);
  expect(on.wait(1)).toEqual([{ type: "resume", reply: 1 }]);
});

test("the agent resumes immediately when recognition heard no words", () => {
  const on = answering();
  on.happen(began);
  on.wait(400);
  on.happen(ended);
  on.wait(200);
  expect(on.happen(finalized)).toEqual([{ type: "resume", reply: 1 }]);
});

test("an acknowledgement does not interrupt, whether it stopped the agent or not", () => {
  const known = answering();
  known.happen(partial("mm-hm"));
  known.happen(began);
  expect(types(known.wait(600))).toEqual([]);

  const stopped = answering();
  stopped.happen(began);
  expect(types(stopped.wait(300))).toEqual(["hold"]);
  expect(stopped.happen(partial("okay"))).toEqual([]);
  stopped.happen(ended);
  stopped.wait(200);
  stopped.happen(final("Okay."));
  expect(stopped.happen(finalized)).toEqual([{ type: "resume", reply: 1 }]);
  expect(types(stopped.wait(2_000))).toEqual([]);
});

test("noise that the recognition hears no words in stops the agent once", () => {
  const on = answering();
  on.happen(began);
  expect(types(on.wait(1_300))).toEqual(["hold", "finalize"]);
  on.happen(finalized);
  expect(types(on.wait(1_000))).toEqual(["resume"]);
  on.happen({ type: "sound", reply: 1, ms: 9_000 });
  expect(types(on.wait(3_000))).not.toContain("hold");
});

test("a user who speaks long over the agent is not spoken over while the recognition works", () => {
  const on = answering();
  on.happen(began);
  expect(types(on.wait(3_000))).toEqual(["hold", "finalize"]);
  expect(types(on.happen(final("I wanted to ask")))).toEqual(["interrupt"]);
});

test("a voice detector that never hears silence does not keep the turn open", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("when do you open"));
  expect(types(on.wait(5_000))).toEqual(["finalize"]);
  on.happen(final("when do you open"));
  expect(types(on.happen(finalized))).toEqual(["ask"]);
});

test("a recognition that says nothing for 15 s of speech ends the call with an apology", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  const effects = on.wait(15_000);
  expect(effects.at(-1)).toEqual({ type: "say", reply: 1, kind: "apology" });
  on.happen({ type: "sound", reply: 1, ms: 3_000 });
  on.wait(3_000);
  expect(on.happen({ type: "played", reply: 1 })).toEqual([
    { type: "finish", reply: 1 },
    { type: "hang_up", outcome: "ERROR", reason: "failed" },
  ]);
});

test("an answer that cannot be heard for 15 s ends the call, even if the apology cannot be heard either", () => {
  const on = answering();
  expect(on.wait(18_999)).toEqual([]);
  expect(types(on.wait(1))).toEqual(["interrupt", "say"]);
  expect(on.wait(15_000)).toEqual([
    { type: "interrupt", reply: 2 },
    { type: "hang_up", outcome: "ERROR", reason: "failed" },
  ]);
});

test("an answer that fails once is asked for again, a second one ends the call", () => {
  const on = answering();
  expect(on.happen({ type: "failed", reply: 1 })).toEqual([
    { type: "interrupt", reply: 1 },
    { type: "say", reply: 2, kind: "retry" },
  ]);
  on.happen({ type: "sound", reply: 2, ms: 10 });
  on.happen({ type: "played", reply: 2 });
  on.happen(final("When do you open?"));
  expect(types(on.wait(2_000))).toEqual(["finalize", "ask"]);
  expect(on.happen({ type: "failed", reply: 3 })).toEqual([
    { type: "interrupt", reply: 3 },
    { type: "say", reply: 4, kind: "apology" },
  ]);
});

test("a silent user is reminded as often as the agent is set to, then the call ends", () => {
  const on = call({ idle: { afterMs: 10_000, remindersMax: 1 } });
  on.happen({ type: "connected", greets: true });
  on.happen({ type: "sound", reply: 1, ms: 1_000 });
  on.wait(1_000);
  expect(types(on.happen({ type: "played", reply: 1 }))).toEqual(["finish"]);
  expect(on.wait(10_000)).toEqual([{ type: "say", reply: 2, kind: "reminder" }]);
  on.happen({ type: "sound", reply: 2, ms: 1_000 });
  on.wait(1_000);
  on.happen({ type: "played", reply: 2 });
  expect(on.wait(10_000)).toEqual([{ type: "hang_up", outcome: "HUNG_UP_EARLY", reason: "user_silent" }]);
});

test("the end of a call that the agent decides follows its last word", () => {
  const on = answering();
  on.happen({ type: "answered", reply: 1, next: "hang_up" });
  expect(on.happen(partial("okay, thank you, bye"))).toEqual([]);
  expect(on.happen({ type: "played", reply: 1 })).toEqual([
    { type: "finish", reply: 1 },
    { type: "note", text: "okay, thank you, bye" },
    { type: "hang_up", outcome: "SUCCESS", reason: "agent_ended" },
  ]);
});

test("a question while the agent says goodbye keeps the call", () => {
  const on = answering();
  on.happen({ type: "answered", reply: 1, next: "hang_up" });
  expect(types(on.happen(partial("wait, one more question")))).toEqual(["interrupt"]);
});

test("a user who hangs up before the greeting ended hung up early", () => {
  const early = call();
  early.happen({ type: "connected", greets: true });
  expect(early.happen({ type: "left" })).toEqual([
    { type: "interrupt", reply: 1 },
    { type: "hang_up", outcome: "HUNG_UP_EARLY", reason: "user_left" },
  ]);
  const late = answering();
  expect(late.happen({ type: "left" }).at(-1)).toMatchObject({ outcome: "SUCCESS" });
});

test("the agent asks for patience only once in a call", () => {
  const on = call({ endsTurns: true });
  on.happen({ type: "connected", greets: false });
  on.happen(final("Hello there."));
  on.happen({ type: "end_of_turn" });
  expect(on.happen({ type: "delayed", reply: 1 })).toEqual([{ type: "ask_patience", reply: 1 }]);
  expect(on.happen({ type: "delayed", reply: 1 })).toEqual([]);
});

test("after a failed transfer, the user is back with the agent", () => {
  const on = answering();
  on.happen({ type: "answered", reply: 1, next: "transfer" });
  expect(types(on.happen({ type: "played", reply: 1 }))).toEqual(["finish", "transfer"]);
  expect(on.happen(partial("hello?"))).toEqual([]);
  expect(on.happen({ type: "transfer_failed" })).toEqual([{ type: "say", reply: 2, kind: "not_transferred" }]);
});

const pressed = (key: string): TurnEvent => ({ type: "pressed", key });

test("keys become a message when # ends them, without it", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  expect(on.happen(pressed("4"))).toEqual([]);
  on.wait(1_900);
  expect(on.happen(pressed("2"))).toEqual([]);
  expect(on.happen(pressed("#"))).toEqual([{ type: "ask", reply: 1, text: "[Pressed 42]" }]);
});

test("keys become a message after two seconds without another one", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(pressed("*"));
  expect(on.wait(1_999)).toEqual([]);
  expect(on.wait(1)).toEqual([{ type: "ask", reply: 1, text: "[Pressed *]" }]);
});

test("a # alone, and more keys than any number has, are a message at once", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  expect(on.happen(pressed("#"))).toEqual([{ type: "ask", reply: 1, text: "[Pressed #]" }]);
  const many = Array.from({ length: 32 }, () => on.happen(pressed("1"))).flat();
  expect(many.at(-1)).toEqual({ type: "ask", reply: 2, text: `[Pressed ${"1".repeat(32)}]` });
});

test("a key interrupts the agent at once", () => {
  const on = answering();
  expect(on.happen(pressed("1"))).toEqual([{ type: "interrupt", reply: 1 }]);
  expect(types(on.wait(2_000))).toEqual(["ask"]);
});

test("a final apology is heard to its end, whatever keys are pressed", () => {
  const on = answering();
  on.happen({ type: "recognition_failed" });
  on.happen({ type: "sound", reply: 2, ms: 4_000 });
  expect(on.happen(pressed("1"))).toEqual([]);
  expect(on.happen(pressed("#"))).toEqual([]);
  expect(types(on.happen({ type: "played", reply: 2 }))).toEqual(["finish", "hang_up"]);
});

test("what is said while keys are pressed is one message with them", () => {
  const on = call({ endsTurns: true });
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(final("My number is"));
  on.happen(pressed("4"));
  on.happen(ended);
  expect(on.happen({ type: "end_of_turn" })).toEqual([]);
  on.happen(pressed("2"));
  expect(on.wait(2_000)).toEqual([{ type: "ask", reply: 1, text: "My number is [Pressed 42]" }]);
});

test("what was said before keys were pressed is one message with them, even if the recognition takes longer than the keys", () => {
  const on = call({ finalizeWaitMs: 10_000 });
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.wait(1_000);
  on.happen(ended);
  on.happen(pressed("5"));
  expect(types(on.wait(5_000))).toEqual(["finalize"]);
  on.happen(final("do you have a guarantee"));
  expect(on.happen(finalized)).toEqual([{ type: "ask", reply: 1, text: "do you have a guarantee [Pressed 5]" }]);
});

test("whoever presses keys is not reminded, and keys that nobody answers are kept when the user leaves", () => {
  const on = call({ idle: { afterMs: 1_000, remindersMax: 1 } });
  on.happen({ type: "connected", greets: false });
  on.wait(900);
  on.happen(pressed("7"));
  expect(on.wait(1_500)).toEqual([]);
  expect(on.happen({ type: "left" })).toEqual([
    { type: "note", text: "[Pressed 7]" },
    { type: "hang_up", outcome: "SUCCESS", reason: "user_left" },
  ]);
});

test("a user who continues while the recognition answers a request of the pause has not finished", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("I would like to"));
  on.wait(800);
  on.happen(ended);
  expect(types(on.wait(220))).toEqual(["finalize"]);
  on.happen(began);
  on.happen(final("I would like to"));
  expect(on.happen(finalized)).toEqual([]);
  on.wait(700);
  on.happen(ended);
  on.wait(220);
  on.happen(final("book a table"));
  on.happen(finalized);
  expect(on.wait(500)).toEqual([{ type: "ask", reply: 1, text: "I would like to book a table" }]);
});

test("an answer that came late does not count as the answer to the next request", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("I would like to"));
  on.wait(800);
  on.happen(ended);
  expect(types(on.wait(220))).toEqual(["finalize"]);
  on.happen(began);
  on.wait(700);
  on.happen(ended);
  expect(types(on.wait(220))).toEqual(["finalize"]);
  on.happen(final("I would like to"));
  on.happen(finalized);
  expect(on.wait(400)).toEqual([]);
  on.happen(final("book a table"));
  expect(on.happen(finalized)).toEqual([{ type: "ask", reply: 1, text: "I would like to book a table" }]);
});

test("a late answer that comes while the call is on hold is counted too", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.wait(800);
  on.happen(ended);
  expect(types(on.wait(220))).toEqual(["finalize"]);
  on.happen({ type: "put_on_hold" });
  on.happen(finalized);
  on.happen({ type: "taken_off_hold", queuedMs: 0 });
  on.happen(began);
  on.happen(partial("Hello there"));
  on.wait(800);
  on.happen(ended);
  expect(types(on.wait(220))).toEqual(["finalize"]);
  on.happen(final("Hello there."));
  on.happen(finalized);
  expect(types(on.wait(300))).toEqual(["ask"]);
});

test("no turn ends in a silence that the voice detector has not judged yet", () => {
  let state = initialState(SETTINGS, 0);
  const happen = (event: TurnEvent, now: number, behindMs = 0) => {
    const turned = takeTurn(state, event, now, behindMs);
    state = turned.state;
    return types(turned.effects);
  };
  happen({ type: "connected", greets: false }, 0);
  happen(began, 0);
  happen(ended, 800);
  expect(happen({ type: "time" }, 1_000)).toEqual(["finalize"]);
  happen(final("Book a table"), 1_050);
  happen(finalized, 1_050);
  expect(happen({ type: "time" }, 1_300, 200)).toEqual([]);
  // The silence had ended, which only becomes known now.
  expect(happen({ type: "speech_began", agoMs: 300 }, 1_450, 200)).toEqual([]);
  expect(happen({ type: "time" }, 2_000, 0)).toEqual([]);
});

test("a model that answers too late is excused by a voice that works, for 5 s", () => {
  const on = call();
  on.happen({ type: "connected", greets: false });
  on.happen(began);
  on.happen(partial("When do you open?"));
  on.wait(1_000);
  on.happen(ended);
  on.wait(150);
  on.happen(final("When do you open?"));
  on.happen(finalized);
  expect(types(on.wait(400))).toEqual(["ask"]);
  expect(types(on.wait(15_000))).toEqual(["interrupt", "say"]);
  expect(types(on.wait(4_000))).toEqual([]);
  expect(types(on.wait(1_000))).toEqual(["interrupt", "hang_up"]);
});
