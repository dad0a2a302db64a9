import { expect, test } from "bun:test";
import type { Effect, TurnEvent } from "./events.ts";
import { DEAD_AIR_MS } from "./settings.ts";
import { initialState } from "./state.ts";
import { dueAt, takeTurn } from "./turn-taking.ts";

const IDLE = { afterMs: 5_000, remindersMax: 1 };
const ANSWERED = { type: "user_said", text: "When do you open?" } as const;
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
  on.happen({ type: "user_said", text: "Bye." }, { type: "tool_started" }, { type: "tool_ended", next: "hang_up" });
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
  on.happen({ type: "tool_started" }, { type: "tool_ended", next: "hang_up" });
  on.wait(6_000);
  expect(on.played().at(-1)).toEqual({ type: "hang_up", outcome: "SUCCESS", reason: "agent_ended" });
});

test("a model that ends the call without a word is waited for for 5 s", () => {
  const on = call();
  on.happen(ANSWERED, { type: "tool_started" }, { type: "tool_ended", next: "hang_up" });
  expect(on.wait(4_999)).toEqual([]);
  expect(on.wait(1).at(-1)).toMatchObject({ type: "hang_up", reason: "agent_ended" });
});

test("nobody is reminded while a tool runs, whether the model or the user spoke last", () => {
  const on = call({ idle: IDLE });
  on.happen({ type: "tool_started" });
  expect(on.wait(9_000)).toEqual([]);
  on.happen({ type: "user_began" });
  expect(types(on.wait(9_000))).toEqual(["expect"]);
  expect(types(on.wait(DEAD_AIR_MS))).toContain("say");
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

test("a message that a model never speaks is not reported as left on the machine", () => {
  const on = call();
  on.happen({ type: "machine_ready" });
  expect(on.wait(20_000).at(-1)).toEqual({ type: "hang_up", outcome: "ERROR", reason: "failed" });
});

test("a sentence that the model reports after it transfers the user is kept", () => {
  const on = call();
  on.happen(ANSWERED, { type: "tool_started" }, { type: "tool_ended", next: "transfer" });
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
  on.happen({ type: "tool_started" }, { type: "tool_ended", next: null });
  expect(types(on.speaks(1_000))).toEqual([]);
  on.wait(2_000);
  expect(types(on.played())).toEqual(["finish"]);
  expect(types(on.wait(DEAD_AIR_MS))).toEqual([]);
});
