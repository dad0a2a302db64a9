import fc from "fast-check";

/** A phone of the carriers' stand-in, and how its call may end. */
export interface ScriptedPhone {
  /** E.164. */
  number: string;
  script: object;
  voicemail: "hang_up" | "leave_message" | null;
  /** The outcomes of its call if no process that holds it is killed; a call that is held may also end with ERROR. */
  outcomes: readonly string[];
  isHeld: boolean;
}

const callbacks = fc.record({
  late_ms: fc.constantFrom(0, 0, 400, 1_500),
  twice: fc.boolean(),
  reversed: fc.boolean(),
});

/** What becomes of a call, as often as in life, and its outcomes. */
const endings = fc.oneof(
  { weight: 2, arbitrary: ended("busy", ["BUSY"]) },
  { weight: 2, arbitrary: ended("no_answer", ["NO_ANSWER"]) },
  { weight: 1, arbitrary: ended("failed", ["ERROR"]) },
  { weight: 4, arbitrary: answered({ say: fc.constant(["When do you open?"]) }, ["SUCCESS"]) },
  { weight: 2, arbitrary: answered({ say: fc.constant([]) }, ["SUCCESS", "HUNG_UP_EARLY"]) },
  {
    weight: 2,
    arbitrary: answered({ hang_up_after_ms: fc.integer({ min: 50, max: 3_000 }) }, ["SUCCESS", "HUNG_UP_EARLY"]),
  },
  {
    weight: 1,
    arbitrary: answered({ drop_socket_after_ms: fc.integer({ min: 50, max: 3_000 }) }, [
      "SUCCESS",
      "HUNG_UP_EARLY",
      "ERROR",
    ]),
  },
  // Until the carrier tells that it is a machine, it is a person for the agent.
  { weight: 1, arbitrary: machine("hang_up", ["NO_ANSWER", "SUCCESS", "HUNG_UP_EARLY"]) },
  { weight: 1, arbitrary: machine("leave_message", ["SUCCESS", "HUNG_UP_EARLY", "NO_ANSWER"]) },
);

/** Phones that do all that phones and carriers do, the same for the same seed. @param numberOf the phone of that index */
export function scriptedPhones(count: number, seed: number, numberOf: (index: number) => string): ScriptedPhone[] {
  const phone = fc.record({
    ending: endings,
    callbacks,
    accept_ms: fc.integer({ min: 0, max: 1_500 }),
    ring_ms: fc.integer({ min: 50, max: 1_500 }),
  });
  return fc.sample(phone, { numRuns: count, seed }).map(({ ending, ...timing }, index) => {
    const { script, ...rest } = ending;
    return { ...rest, number: numberOf(index), script: { ...timing, ...script } };
  });
}

function ended(outcome: string, outcomes: readonly string[]) {
  return fc.constant({ script: { outcome }, voicemail: null, outcomes, isHeld: false });
}

function answered(behaviour: Record<string, fc.Arbitrary<unknown>>, outcomes: readonly string[]) {
  const script = fc.record({ outcome: fc.constant("answer"), ...behaviour });
  return fc.record({
    script,
    voicemail: fc.constant(null),
    outcomes: fc.constant(outcomes),
    isHeld: fc.constant(true),
  });
}

function machine(voicemail: "hang_up" | "leave_message", outcomes: readonly string[]) {
  const script = { outcome: "machine", say: [], hang_up_after_ms: 8_000 };
  return fc.constant({ script, voicemail, outcomes, isHeld: true });
}
