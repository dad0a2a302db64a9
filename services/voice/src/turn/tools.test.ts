import { expect, test } from "bun:test";
import type { Effect, ToolRules, TurnEvent } from "./events.ts";
import { initialState } from "./state.ts";
import { waitingSound } from "./tools.ts";
import { dueAt, takeTurn } from "./turn-taking.ts";

const IDLE = { afterMs: 5_000, remindersMax: 1 };
const RULES: ToolRules = { timeoutMs: 60_000, isCancellable: false, before: null, delayed: [], sound: null };
const KINDS = [
  ["a model for each task", false],
  ["a speech-to-speech model", true],
] as const;

/** A call in which the agent is asked "Where is my order?" and calls a tool. */
function lookingUp(isSpeechToSpeech: boolean, rules: Partial<ToolRules> = {}) {
  let now = 0;
  let state = initialState({ isSpeechToSpeech, endsTurns: true, silenceMs: 500, idle: IDLE }, now);
  const happen = (...events: TurnEvent[]): Effect[] =>
    events.flatMap((event) => {
      const turned = takeTurn(state, event, now);
      state = turned.state;
      return turned.effects;
    });
  const wait = (ms: number): Effect[] => {
    const until = now + ms;
    const effects: Effect[] = [];
    for (let due = dueAt(state); due !== null && due <= until; due = dueAt(state)) {
      now = Math.max(now, due);
      effects.push(...happen({ type: "time" }));
    }
    now = until;
    return effects;
  };
  const begins = () =>
    isSpeechToSpeech
      ? happen({ type: "user_began" })
      : happen({ type: "speech_began", agoMs: 0 }, { type: "partial", text: "And" });
  const says = (text: string) =>
    isSpeechToSpeech
      ? happen({ type: "user_said", text })
      : happen({ type: "speech_ended", agoMs: 0 }, { type: "final", text }, { type: "end_of_turn" });
  /** The agent speaks its reply, and is heard. */
  const speaks = () => {
    const reply = state.replies;
    if (isSpeechToSpeech) happen({ type: "speaks" }, { type: "sound", reply, ms: 900 }, { type: "done" });
    else happen({ type: "sound", reply, ms: 900 }, { type: "answered", reply, next: "listen" });
    return [...wait(900), ...happen({ type: "played", reply })];
  };
  happen({ type: "connected", greets: false });
  says("Where is my order?");
  const began = happen({ type: "tool_started", call: "a", rules: { ...RULES, ...rules } });
  return { began, happen, wait, begins, says, speaks, sound: () => waitingSound(state) };
}

const ended: TurnEvent = { type: "tool_ended", call: "a", next: null };
const types = (effects: readonly Effect[]) => effects.map(({ type }) => type);
const answers = (effects: readonly Effect[]) =>
  types(effects).filter((type) => ["ask", "expect", "answer_results"].includes(type));

test.each(KINDS)(
  "with %s, nobody is reminded or excused in the 30 s that a tool takes, and after it both begin anew",
  (_kind, sts) => {
    const on = lookingUp(sts);
    expect(on.wait(30_000)).toEqual([]);
    expect(on.happen(ended)).toEqual([]);
    expect(on.wait(9_000)).toEqual([]);
    expect(types(on.speaks())).toEqual(["finish"]);
    expect(on.wait(4_900)).toEqual([]);
    expect(on.wait(100)).toMatchObject([{ type: "say", kind: "reminder" }]);
  },
);

test.each(KINDS)(
  "with %s, a result that arrives while the user speaks is answered with what they say, in one reply",
  (_kind, sts) => {
    const on = lookingUp(sts);
    expect(types(on.begins())).toEqual(["interrupt"]);
    on.wait(1_000);
    expect(on.happen(ended)).toEqual([]);
    expect(answers(on.says("And when does it arrive?"))).toHaveLength(1);
    expect(types(on.speaks())).toEqual(["finish"]);
    expect(on.wait(4_000)).toEqual([]);
  },
);

test("a result that arrives while a speech-to-speech model hears a noise is answered once it hears that there were no words", () => {
  const on = lookingUp(true);
  on.begins();
  on.happen(ended);
  expect(types(on.wait(6_000))).toEqual(["answer_results"]);
});

test("a result that arrives after the user has interrupted its reply and was answered is told at the next pause, once", () => {
  const on = lookingUp(false);
  on.begins();
  expect(answers(on.says("And when do you close?"))).toEqual(["ask"]);
  on.happen(ended);
  on.speaks();
  expect(on.wait(499)).toEqual([]);
  expect(types(on.wait(1))).toEqual(["answer_results"]);
  on.speaks();
  expect(on.wait(4_000)).toEqual([]);
});

test.each(KINDS)(
  "with %s, a background result waits for the reply and a pause of 500 ms, and is told once",
  (_kind, sts) => {
    const on = lookingUp(sts);
    on.happen(ended, { type: "background_result" });
    expect(types(on.speaks())).toEqual(["finish"]);
    expect(on.wait(499)).toEqual([]);
    expect(types(on.wait(1))).toEqual(["answer_results"]);
    on.speaks();
    expect(on.wait(4_000)).toEqual([]);
  },
);

test.each(KINDS)("with %s, an interruption cancels only a tool that allows it", (_kind, sts) => {
  expect(types(lookingUp(sts).begins())).not.toContain("cancel_tool");
  expect(lookingUp(sts, { isCancellable: true }).begins()).toContainEqual({ type: "cancel_tool", call: "a" });
});

test("fillers are said while the agent is silent and the tool runs, and none after it", () => {
  const delayed = [
    { afterMs: 2_000, text: "Still looking." },
    { afterMs: 4_000, text: "Almost there." },
  ];
  const on = lookingUp(false, { before: "One moment.", delayed });
  expect(on.began).toEqual([{ type: "fill", reply: 1, text: "One moment." }]);
  on.happen({ type: "sound", reply: 1, ms: 3_000 });
  expect(on.wait(2_999)).toEqual([]);
  expect(on.wait(1)).toEqual([{ type: "fill", reply: 1, text: "Still looking." }]);
  on.happen(ended);
  expect(on.wait(5_000)).toEqual([]);
});

test.each(KINDS)(
  "with %s, a tool's sound is heard until the next word, and not while the user speaks",
  (_kind, sts) => {
    const on = lookingUp(sts, { sound: "typing" });
    expect(on.sound()).toBe("typing");
    on.happen(ended);
    expect(on.sound()).toBe("typing");
    if (sts) on.happen({ type: "speaks" });
    on.happen({ type: "sound", reply: 1, ms: 200 });
    expect(on.sound()).toBeNull();
    const interrupted = lookingUp(sts, { sound: "typing" });
    interrupted.begins();
    expect(interrupted.sound()).toBeNull();
  },
);

test("a tool without a sound, or in the background, is waited for in silence", () => {
  expect(lookingUp(false).sound()).toBeNull();
  const on = lookingUp(false, { sound: "hold" });
  on.happen(ended);
  on.speaks();
  expect(on.sound()).toBeNull();
});

test("a tool whose end nobody reports counts as ended 15 s after its own limit, and silence then ends the call", () => {
  const on = lookingUp(false);
  expect(on.wait(75_000)).toEqual([]);
  expect(on.wait(30_000)).toMatchObject([{ type: "interrupt" }, { type: "say", kind: "apology" }, {}, {}]);
});
