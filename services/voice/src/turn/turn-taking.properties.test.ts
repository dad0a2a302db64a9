import { expect, test } from "bun:test";
import fc from "fast-check";
import { DEAD_AIR_MS, SILENT_CALL_MS, type TurnSettings } from "./settings.ts";
import { type Effect, initialState, type TurnEvent, type TurnState } from "./state.ts";
import { dueAt, takeTurn } from "./turn-taking.ts";

const RUNS = 3_000;
/** Longer than any chain of waits, reminders and apologies with these settings. */
const WAY_OUT_MS = SILENT_CALL_MS + 20 * DEAD_AIR_MS;

const settings = fc.record<TurnSettings>({
  endsTurns: fc.boolean(),
  silenceMs: fc.integer({ min: 200, max: 3_000 }),
  idle: fc.option(fc.record({ afterMs: fc.integer({ min: 1_000, max: 20_000 }), remindersMax: fc.nat(3) })),
});

const agoMs = fc.nat(300);
const text = fc.constantFrom("", "mm-hm", "okay", "wait", "my number is", "When do you open?", "bye");
/** Includes replies that are over, and replies that never existed. */
const reply = fc.nat(8);
const next = fc.constantFrom("listen" as const, "hang_up" as const, "transfer" as const);

const event: fc.Arbitrary<TurnEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("speech_began" as const), agoMs }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("speech_ended" as const), agoMs }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("partial" as const), text }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("final" as const), text }) },
  { weight: 2, arbitrary: fc.constant({ type: "end_of_turn" as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("pressed" as const), key: fc.constantFrom("1", "*", "#") }) },
  { weight: 4, arbitrary: fc.constant({ type: "finalized" as const }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant("sound" as const), reply, ms: fc.nat(3_000) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("answered" as const), reply, next }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("played" as const), reply }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("failed" as const), reply }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delayed" as const), reply }) },
  { weight: 1, arbitrary: fc.constantFrom<TurnEvent>({ type: "transfer_failed" }, { type: "time" }) },
  { weight: 1, arbitrary: fc.constantFrom<TurnEvent>({ type: "machine" }, { type: "machine_ready" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<TurnEvent>({ type: "put_on_hold" }, { type: "taken_off_hold", queuedMs: 900 }),
  },
);
const steps = fc.array(fc.record({ waitMs: fc.nat(1_500), event }), { maxLength: 80 });

interface Step {
  now: number;
  state: TurnState;
  effects: Effect[];
}

/** Plays a call: everything that happens and everything that is due in between. */
function play(given: TurnSettings, events: readonly { waitMs: number; event: TurnEvent }[]): Step[] {
  let now = 0;
  let state = initialState(given, now);
  const played: Step[] = [];
  const happen = (event: TurnEvent) => {
    const turned = takeTurn(state, event, now);
    state = turned.state;
    played.push({ now, ...turned });
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
    happen(event);
  }
  passUntil(now + WAY_OUT_MS);
  return played;
}

function effectsOf(steps: readonly Step[]): Effect[] {
  return steps.flatMap(({ effects }) => effects);
}

test("whatever happens, at most one reply is in progress", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      const open = new Set<number>();
      for (const effect of effectsOf(play(given, events))) {
        if (effect.type === "ask" || effect.type === "say") open.add(effect.reply);
        if (effect.type === "interrupt" || effect.type === "finish") open.delete(effect.reply);
        expect(open.size).toBeLessThanOrEqual(1);
      }
      expect(open.size).toBe(0);
    }),
    { numRuns: RUNS },
  );
});

test("whatever happens, nothing more is done with a reply that was interrupted or heard", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      const over = new Set<number>();
      for (const effect of effectsOf(play(given, events))) {
        if (!("reply" in effect)) continue;
        expect(over.has(effect.reply)).toBe(false);
        if (effect.type === "interrupt" || effect.type === "finish") over.add(effect.reply);
      }
    }),
    { numRuns: RUNS },
  );
});

test("whatever happens, a stopped reply is silent until it resumes", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      let held: number | null = null;
      for (const effect of effectsOf(play(given, events))) {
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
          expect(["ask", "say"].includes(effect.type) && held !== null).toBe(false);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

test("whatever happens, a call ends once when nothing more happens, and nothing follows", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      const played = play(given, events);
      expect(played.at(-1)?.state.over).toBe(true);
      const effects = effectsOf(played);
      expect(effects.filter(({ type }) => type === "hang_up")).toHaveLength(1);
      expect(effects.at(-1)?.type).toBe("hang_up");
    }),
    { numRuns: RUNS },
  );
});

test("whatever happens, neither side is unheard for more than 15 s, except on hold", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      for (const { now, state } of play(given, events)) {
        if (state.over || state.onHoldSince !== null) continue;
        if (state.reply) expect(now - state.reply.soundUntil).toBeLessThanOrEqual(DEAD_AIR_MS);
        else if (state.user.unheardSince !== null)
          expect(now - state.user.unheardSince).toBeLessThanOrEqual(DEAD_AIR_MS);
      }
    }),
    { numRuns: RUNS },
  );
});

test("whatever happens, the same events at the same times have the same effects", () => {
  fc.assert(
    fc.property(settings, steps, (given, events) => {
      expect(play(given, events)).toEqual(play(given, events));
    }),
    { numRuns: 200 },
  );
});
