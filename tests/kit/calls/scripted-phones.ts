import fc from "fast-check";

/** A phone of the carriers' stand-in, and how its call may end. */
export interface ScriptedPhone {
  /** E.164. */
  number: string;
  script: object;
  voicemail: "hang_up" | "leave_message" | null;
  /** The outcomes that its call may have; an answered call fails with the process that holds it. */
  outcomes: readonly string[];
}

const callbacks = fc.record({
  late_ms: fc.constantFrom(0, 0, 400, 1_500),
  twice: fc.boolean(),
  reversed: fc.boolean(),
});

/**
 * A call that a person answers. If nobody receives its audio, the carrier ends the call at once, as if the person had hung up.
 */
const ANSWERED = ["SUCCESS", "HUNG_UP_EARLY", "ERROR"];
const MACHINE = ["NO_ANSWER", ...ANSWERED];

/** What may happen to a call, about as often as in production, and its possible outcomes. */
const endings = fc.oneof(
  { weight: 2, arbitrary: ended("busy", ["BUSY"]) },
  { weight: 2, arbitrary: ended("no_answer", ["NO_ANSWER"]) },
  { weight: 1, arbitrary: ended("failed", ["ERROR"]) },
  { weight: 4, arbitrary: answered({ say: fc.constant(["When do you open?"]) }) },
  { weight: 2, arbitrary: answered({ say: fc.constant([]) }) },
  { weight: 2, arbitrary: answered({ hang_up_after_ms: fc.integer({ min: 50, max: 3_000 }) }) },
  { weight: 1, arbitrary: answered({ drop_socket_after_ms: fc.integer({ min: 50, max: 3_000 }) }) },
  { weight: 1, arbitrary: machine("hang_up") },
  { weight: 1, arbitrary: machine("leave_message") },
);

/**
 * Phones that behave in every way that phones and carriers do, the same for the same seed.
 * @param numberOf returns the number of a phone by its index
 */
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
  return fc.constant({ script: { outcome }, voicemail: null, outcomes });
}

function answered(behavior: Record<string, fc.Arbitrary<unknown>>) {
  const script = fc.record({ outcome: fc.constant("answer"), ...behavior });
  return script.map((each) => ({ script: each, voicemail: null, outcomes: ANSWERED }));
}

function machine(voicemail: "hang_up" | "leave_message") {
  const script = { outcome: "machine", say: [], hang_up_after_ms: 8_000 };
  // The agent treats it as a person until the carrier reports that it is a machine.
  return fc.constant({ script, voicemail, outcomes: MACHINE });
}
