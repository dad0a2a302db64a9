import { expect, test } from "bun:test";
import type { Effect, TurnEvent } from "./events.ts";
import { DEAD_AIR_MS } from "./settings.ts";
import { initialState } from "./state.ts";
import { dueAt, takeTurn } from "./turn-taking.ts";

const IDLE = { afterMs: 5_000, remindersMax: 1 };
const ANSWERED = { type: "user_said", text: "When do you open?" } as const;
const started = (call: string): TurnEvent => ({
  type: "tool_started",
  call,
  rules: { timeoutMs: 20_000, isCancellable: false, before: null, delayed: [], sound: null },
});
const types = (effects: readonly Effect[]) => effects.map(({ type }) => type);

/** A call with a speech-to-speech model, in which time passes and things happen; returns the effects of each step. */
function call({ greets = false, idle = null as typeof IDLE | null } = {}) {
  let now = 0;
  let state = initialState({ isSpeechToSpeech: true, endsTurns: true, silenceMs: 500, idle }, now);
  function happen(...events: TurnEvent[]): Effect[] {
    return events.flatMap((event) => {
      const turned = takeTurn(state, event, now);
      state = turned.state;
      return turned.effects;
    });
  }
  happen({ type: "connected", greets });
  return {
    happen,
    /** The model says something of this length, and that this is all. */
    speaks: (ms: number) =>
      happen({ type: "speaks" }, { type: "sound", reply: state.reply?.id ?? state.replies + 1, ms }, { type: "done" }),
    played: () => happen({ type: "played", reply: state.replies }),
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
  };
}

test("a user who speaks before the model's goodbye has begun keeps the call", () => {
  const on = call();
  on.happen({ type: "user_said", text: "Bye." }, started("a"), { type: "tool_ended", call: "a", next: "hang_up" });
  expect(types(on.happen({ type: "user_began" }))).toEqual(["interrupt"]);
  on.happen({ type: "user_said", text: "Wait, and on Sundays?" });
  on.speaks(800);
  on.wait(800);
  expect(types(on.played())).toEqual(["finish"]);
});

test("a decision that a tool reports while the goodbye is spoken follows it, without another silence", () => {
  const on = call();
  on.happen(ANSWERED);
  on.speaks(6_000);
  on.happen(started("a"), { type: "tool_ended", call: "a", next: "hang_up" });
  on.wait(6_000);
  expect(on.played().at(-1)).toEqual({ type: "hang_up", outcome: "SUCCESS", reason: "agent_ended" });
});

test("a model that ends the call without a word is waited for for 5 s", () => {
  const on = call();
  on.happen(ANSWERED, started("a"), { type: "tool_ended", call: "a", next: "hang_up" });
  expect(on.wait(4_999)).toEqual([]);
  expect(on.wait(1).at(-1)).toMatchObject({ type: "hang_up", reason: "agent_ended" });
});

test("the first key stops a model that speaks, and what it begins to say before the last key", () => {
  const on = call();
  on.happen(ANSWERED);
  on.speaks(4_000);
  expect(types(on.happen({ type: "pressed", key: "4" }))).toEqual(["interrupt"]);
  expect(types(on.speaks(4_000))).toEqual(["expect"]);
  const effects = on.happen({ type: "pressed", key: "2" }, { type: "pressed", key: "#" });
  expect(effects).toEqual([
    { type: "interrupt", reply: 2 },
    { type: "ask", reply: 3, text: "[Pressed 42]" },
  ]);
});

test("what a model says while the user looks for the next key is interrupted by the pause that ends the keys", () => {
  const on = call();
  on.happen({ type: "pressed", key: "4" });
  on.speaks(4_000);
  expect(types(on.wait(2_000))).toEqual(["interrupt", "ask"]);
});

test("a message that a model never speaks is not reported as left on the machine", () => {
  const on = call();
  on.happen({ type: "machine_ready" });
  expect(on.wait(20_000).at(-1)).toEqual({ type: "hang_up", outcome: "ERROR", reason: "failed" });
});

test("a sentence that the model reports after it transfers the user is kept", () => {
  const on = call();
  on.happen(ANSWERED, started("a"), { type: "tool_ended", call: "a", next: "transfer" });
  on.speaks(800);
  on.wait(800);
  expect(types(on.played())).toEqual(["finish", "transfer"]);
  expect(on.happen({ type: "user_said", text: "A person, please." })).toEqual([
    { type: "note", text: "A person, please." },
  ]);
  expect(types(on.speaks(800))).toEqual([]);
});

test("a caller who leaves before the greeting can be heard, having made a noise, hung up early", () => {
  const on = call({ greets: true });
  on.happen({ type: "user_began" });
  expect(on.happen({ type: "left" }).at(-1)).toMatchObject({ outcome: "HUNG_UP_EARLY" });
});

test("a model's answer that continues after a tool is one reply until it has been heard", () => {
  const on = call();
  on.happen(ANSWERED);
  on.speaks(1_000);
  on.happen(started("a"), { type: "tool_ended", call: "a", next: null });
  expect(types(on.speaks(1_000))).toEqual([]);
  on.wait(2_000);
  expect(types(on.played())).toEqual(["finish"]);
  expect(types(on.wait(DEAD_AIR_MS))).toEqual([]);
});

test("a model that continues after it seemed to have finished is heard to its end", () => {
  const on = call();
  on.happen(ANSWERED);
  on.speaks(1_000);
  on.happen({ type: "speaks" }, { type: "sound", reply: 1, ms: 1_000 });
  expect(on.played()).toEqual([]);
  on.happen({ type: "done" });
  expect(types(on.played())).toEqual(["finish"]);
});

test("a question that the model reports while it answers at length does not shorten the time to hear the answer", () => {
  const on = call();
  on.happen({ type: "user_began" });
  on.speaks(20_000);
  expect(types(on.happen(ANSWERED))).toEqual(["note"]);
  expect(on.wait(20_000)).toEqual([]);
});

test("a last apology is neither interrupted nor followed by what a tool decides", () => {
  const on = call();
  on.happen(ANSWERED, started("a"));
  on.happen({ type: "user_began" }, ANSWERED);
  expect(types(on.wait(10_000))).toEqual(["interrupt", "say"]);
  on.speaks(2_000);
  expect(on.happen({ type: "user_began" }, ANSWERED, { type: "tool_ended", call: "a", next: "transfer" })).toEqual([]);
  on.wait(2_000);
  expect(on.played().at(-1)).toEqual({ type: "hang_up", outcome: "ERROR", reason: "failed" });
});

test("a message has been left on a machine once it was heard, whatever tool still runs, and the machine's words are not kept", () => {
  const on = call();
  on.happen(started("a"), { type: "machine_ready" });
  on.speaks(2_000);
  expect(on.happen({ type: "user_said", text: "After the tone." })).toEqual([]);
  on.wait(2_000);
  expect(on.played().at(-1)).toMatchObject({ type: "hang_up", reason: "left_message" });
});

test("an answer has 10 s before the model apologizes", () => {
  const owed = call();
  owed.happen(ANSWERED);
  expect(owed.wait(9_999)).toEqual([]);
  expect(types(owed.wait(1))).toEqual(["interrupt", "say"]);
});

const SENTENCE: TurnEvent[] = [
  { type: "speech_began", agoMs: 1_500 },
  { type: "speech_ended", agoMs: 0 },
];

test("a model is given up after two sentences without a reaction, unless it reacts or speaks itself", () => {
  const deaf = call();
  deaf.happen(...SENTENCE, ...SENTENCE);
  expect(types(deaf.wait(DEAD_AIR_MS))).toEqual(["say"]);
  const reacts = call();
  reacts.happen(...SENTENCE, { type: "user_began" }, ANSWERED);
  reacts.speaks(500);
  reacts.played();
  reacts.happen(...SENTENCE);
  expect(reacts.wait(DEAD_AIR_MS)).toEqual([]);
  const speaks = call();
  speaks.happen(ANSWERED);
  speaks.speaks(5_000);
  speaks.happen(...SENTENCE, ...SENTENCE);
  speaks.wait(5_000);
  speaks.played();
  expect(speaks.wait(DEAD_AIR_MS)).toEqual([]);
});

test("nobody is reminded while the model and the detector hear the user, nor waited for longer after a hold", () => {
  const on = call({ idle: IDLE });
  on.happen({ type: "speech_began", agoMs: 0 }, { type: "user_began" });
  expect(on.wait(29_000)).toEqual([]);
  on.happen({ type: "put_on_hold" });
  on.wait(500);
  on.happen({ type: "taken_off_hold", queuedMs: 0 });
  expect(types(on.wait(5_000))).toEqual(["say"]);
});
