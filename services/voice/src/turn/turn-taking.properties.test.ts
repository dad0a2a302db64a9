import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Decision, Effect, ToolRules, TurnEvent } from "./events.ts";
import { DEAD_AIR_MS, IGNORED_MAX, RESULT_PAUSE_MS, SILENT_CALL_MS, type TurnSettings } from "./settings.ts";
import { initialState, messageOf, type TurnState } from "./state.ts";
import { waits } from "./tools.ts";
import { dueAt, takeTurn } from "./turn-taking.ts";

const RUNS = 400;
/** Longer than any chain of waits, tools, reminders and apologies with these settings. */
const WAY_OUT_MS = SILENT_CALL_MS + 20 * DEAD_AIR_MS;

const idle = fc.option(fc.record({ afterMs: fc.integer({ min: 1_000, max: 20_000 }), remindersMax: fc.nat(3) }));
const agoMs = fc.nat(300);
const text = fc.constantFrom("", "mm-hm", "okay", "wait", "my number is", "When do you open?", "bye");
/** How many replies ago: includes replies that are over, and one that does not exist. */
const reply = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1, 2) });
const next = fc.constantFrom<Decision>("listen", "hang_up", "transfer");

type Weighted = { weight: number; arbitrary: fc.Arbitrary<TurnEvent> };

const toolCall = fc.constantFrom("a", "b", "c");
const rules = fc.record<ToolRules>({
  timeoutMs: fc.integer({ min: 1_000, max: 40_000 }),
  isCancellable: fc.boolean(),
  before: fc.constantFrom(null, "One moment."),
  delayed: fc.constantFrom([], [{ afterMs: 2_000, text: "Still looking." }]),
  sound: fc.constantFrom(null, "typing"),
});

const common: Weighted[] = [
  { weight: 3, arbitrary: fc.record({ type: fc.constant("tool_started" as const), call: toolCall, rules }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("tool_ended" as const),
      call: toolCall,
      next: fc.option(next, { nil: null }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ type: "background_result" as const }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("speech_began" as const), agoMs }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("speech_ended" as const), agoMs }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("pressed" as const), key: fc.constantFrom("1", "*", "#") }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant("sound" as const), reply, ms: fc.nat(3_000) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("played" as const), reply }) },
  { weight: 1, arbitrary: fc.constantFrom<TurnEvent>({ type: "transfer_failed" }, { type: "time" }) },
  { weight: 1, arbitrary: fc.constantFrom<TurnEvent>({ type: "machine" }, { type: "machine_ready" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<TurnEvent>({ type: "put_on_hold" }, { type: "taken_off_hold", queuedMs: 900 }),
  },
];
const ofPipeline: Weighted[] = [
  { weight: 4, arbitrary: fc.record({ type: fc.constant("partial" as const), text }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("final" as const), text }) },
  { weight: 2, arbitrary: fc.constant({ type: "end_of_turn" as const }) },
  { weight: 4, arbitrary: fc.constant({ type: "finalized" as const }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("answered" as const), reply, next }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("failed" as const), reply }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delayed" as const), reply }) },
];
const ofModel: Weighted[] = [
  { weight: 4, arbitrary: fc.constant({ type: "user_began" as const }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("user_said" as const), text }) },
  { weight: 6, arbitrary: fc.constant({ type: "speaks" as const }) },
  { weight: 4, arbitrary: fc.constant({ type: "done" as const }) },
];

/** How an agent is set, and what happens in its call. */
interface Scene {
  settings: TurnSettings;
  events: { waitMs: number; event: TurnEvent }[];
}

const sceneOf = (isSpeechToSpeech: boolean, happening: Weighted[]): fc.Arbitrary<Scene> =>
  fc.record({
    settings: fc.record<TurnSettings>({
      isSpeechToSpeech: fc.constant(isSpeechToSpeech),
      endsTurns: fc.boolean(),
      silenceMs: fc.integer({ min: 200, max: 3_000 }),
      idle,
    }),
    events: fc.array(fc.record({ waitMs: fc.nat(1_500), event: fc.oneof(...common, ...happening) }), { maxLength: 80 }),
  });

const KINDS = [
  ["a model for each task", sceneOf(false, ofPipeline)],
  ["a speech-to-speech model", sceneOf(true, ofModel)],
] as const;

interface Step {
  now: number;
  before: TurnState;
  event: TurnEvent;
  state: TurnState;
  effects: Effect[];
}

/** Plays a call: everything that happens and everything that is due in between. */
function play({ settings, events }: Scene): Step[] {
  let now = 0;
  let state = initialState(settings, now);
  const played: Step[] = [];
  const happen = (event: TurnEvent) => {
    const before = state;
    const turned = takeTurn(state, event, now);
    state = turned.state;
    played.push({ now, before, event, ...turned });
  };
  const passUntil = (until: number) => {
    for (let due = dueAt(state); due !== null && due <= until; due = dueAt(state)) {
      now = Math.max(now, due);
      happen({ type: "time" });
      // No timer is due again at the same moment.
      expect(dueAt(state) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
    }
    now = until;
  };
  happen({ type: "connected", greets: true });
  for (const { waitMs, event } of events) {
    passUntil(now + waitMs);
    happen("reply" in event ? { ...event, reply: state.replies - event.reply } : event);
  }
  passUntil(now + WAY_OUT_MS);
  return played;
}

/** The effects that begin a reply. */
const BEGINS = new Set<Effect["type"]>(["ask", "expect", "say", "answer_results"]);

function effectsOf(steps: readonly Step[]): Effect[] {
  return steps.flatMap(({ effects }) => effects);
}

test.each(KINDS)("with %s, whatever happens, at most one reply is in progress", (_kind, scene) => {
  fc.assert(
    fc.property(scene, (given) => {
      const open = new Set<number>();
      for (const effect of effectsOf(play(given))) {
        if (BEGINS.has(effect.type) && "reply" in effect) open.add(effect.reply);
        if (effect.type === "interrupt" || effect.type === "finish") open.delete(effect.reply);
        expect(open.size).toBeLessThanOrEqual(1);
      }
      expect(open.size).toBe(0);
    }),
    { numRuns: RUNS },
  );
});

test.each(KINDS)(
  "with %s, whatever happens, nothing more is done with a reply that was interrupted or heard",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        const over = new Set<number>();
        for (const effect of effectsOf(play(given))) {
          if (!("reply" in effect)) continue;
          expect(over.has(effect.reply)).toBe(false);
          if (effect.type === "interrupt" || effect.type === "finish") over.add(effect.reply);
        }
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(KINDS)("with %s, whatever happens, a stopped reply is silent until it resumes", (_kind, scene) => {
  fc.assert(
    fc.property(scene, (given) => {
      let held: number | null = null;
      for (const effect of effectsOf(play(given))) {
        if (effect.type === "hold") {
          expect(held).toBeNull();
          held = effect.reply;
        } else if (effect.type === "resume") {
          expect(held).toBe(effect.reply);
          held = null;
        } else if (effect.type === "interrupt" || effect.type === "finish") {
          if (effect.type === "finish") expect(held).toBeNull();
          held = null;
        } else {
          expect(BEGINS.has(effect.type) && held !== null).toBe(false);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

test.each(KINDS)(
  "with %s, whatever happens, a call ends once when nothing more happens, and nothing follows",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        const played = play(given);
        expect(played.at(-1)?.state.over).toBe(true);
        const effects = effectsOf(played);
        expect(effects.filter(({ type }) => type === "hang_up")).toHaveLength(1);
        expect(effects.at(-1)?.type).toBe("hang_up");
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(KINDS)(
  "with %s, whatever happens, neither side is unheard for more than 15 s, except on hold and while a tool runs",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        for (const { now, state } of play(given)) {
          if (state.over || state.onHoldSince !== null) continue;
          const { reply, user, model } = state;
          if (waits(state)) continue;
          if (reply) expect(now - reply.soundUntil).toBeLessThanOrEqual(DEAD_AIR_MS);
          else if (user.unheardSince !== null) expect(now - user.unheardSince).toBeLessThanOrEqual(DEAD_AIR_MS);
          else if (model && model.ignored.count >= IGNORED_MAX)
            expect(now - model.ignored.since).toBeLessThanOrEqual(DEAD_AIR_MS);
        }
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(KINDS)(
  "with %s, whatever happens, the same events at the same times have the same effects",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        expect(play(given)).toEqual(play(given));
      }),
      { numRuns: 200 },
    );
  },
);

test("whatever happens, a speech-to-speech model's reply ends when the model hears the user", () => {
  fc.assert(
    fc.property(sceneOf(true, ofModel), (given) => {
      for (const { event, state } of play(given))
        if (event.type === "user_began" && state.machine === null)
          expect([undefined, "apology"]).toContain(state.reply?.kind);
    }),
    { numRuns: RUNS },
  );
});

test("whatever happens, a muted speech-to-speech model begins no answer, and the call does not end for that", () => {
  const muted = fc.record({ type: fc.constant("muted" as const), isMuted: fc.boolean() });
  fc.assert(
    fc.property(sceneOf(true, [...ofModel, { weight: 3, arbitrary: muted }]), (given) => {
      for (const { before, event, state, effects } of play(given)) {
        if (!before.isMuted || !state.isMuted || event.type === "not_taken") continue;
        if (state.reply?.id !== before.reply?.id) expect(state.reply?.kind).not.toBe("answer");
        if (before.reply === null) expect(effects).not.toContainEqual(expect.objectContaining({ kind: "apology" }));
      }
    }),
    { numRuns: RUNS },
  );
});

test("whatever happens, a speech-to-speech model is asked to speak only by lines and keys, and what the user says is kept", () => {
  fc.assert(
    fc.property(sceneOf(true, ofModel), (given) => {
      for (const { event, state, effects } of play(given)) {
        for (const { type } of effects) expect(["hold", "resume", "finalize", "ask_patience"]).not.toContain(type);
        for (const effect of effects) if (effect.type === "ask") expect(effect.text).toStartWith("[Pressed ");
        if (event.type !== "user_said" || state.over || state.machine || state.reply?.kind === "apology") continue;
        expect(effects).toContainEqual({ type: "note", text: event.text });
      }
    }),
    { numRuns: RUNS },
  );
});

test.each(KINDS)("with %s, whatever happens, nobody is reminded while a tool runs", (_kind, scene) => {
  fc.assert(
    fc.property(scene, (given) => {
      for (const { before, effects } of play(given))
        for (const effect of effects)
          if (effect.type === "say" && effect.kind === "reminder") expect(before.tools).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test.each(KINDS)(
  "with %s, whatever happens, a result that no reply waits for is told at the first pause of 500 ms",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        for (const { now, state } of play(given)) {
          const { user, model } = state;
          const isAway = state.over || state.onHoldSince !== null || state.transferringSince !== null || state.machine;
          if (!state.hasResults || state.reply || isAway || messageOf(user) !== "") continue;
          const isSpeaking = model ? model.hearsSince !== null : user.speechSince !== null && !user.isDismissed;
          if (!isSpeaking) expect(now - state.quietSince).toBeLessThan(RESULT_PAUSE_MS);
        }
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(KINDS)(
  "with %s, whatever happens, nobody is spoken over with a result, and no result is told twice",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        for (const { event, before, state, effects } of play(given)) {
          if (!effects.some(({ type }) => type === "answer_results")) continue;
          expect(messageOf(before.user)).toBe("");
          expect(before.hasResults || event.type === "background_result").toBe(true);
          expect(state.hasResults).toBe(false);
        }
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(KINDS)(
  "with %s, whatever happens, only a tool that allows it is cancelled, and only while it runs",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        for (const { before, effects } of play(given))
          for (const effect of effects)
            if (effect.type === "cancel_tool")
              expect(before.tools.find(({ call }) => call === effect.call)?.isCancellable).toBe(true);
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(KINDS)(
  "with %s, whatever happens, fillers are spoken only in a reply that is in progress",
  (_kind, scene) => {
    fc.assert(
      fc.property(scene, (given) => {
        const open = new Set<number>();
        for (const effect of effectsOf(play(given))) {
          if (effect.type === "fill") expect(open.has(effect.reply)).toBe(true);
          if (BEGINS.has(effect.type) && "reply" in effect) open.add(effect.reply);
          if (effect.type === "interrupt" || effect.type === "finish") open.delete(effect.reply);
        }
      }),
      { numRuns: RUNS },
    );
  },
);
