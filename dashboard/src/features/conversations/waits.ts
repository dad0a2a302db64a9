/** What was measured of a reply, as the API shows it. */
export interface Measured {
  latency?: SpokenLatency | undefined;
  reply?: { first_word_ms: number | null } | undefined;
}

/** Milliseconds from the end of the user's speech to each stage of a spoken reply. */
export interface SpokenLatency {
  end_of_turn?: number | undefined;
  transcript?: number | undefined;
  first_word?: number | undefined;
  first_audio?: number | undefined;
  audible?: number | undefined;
  unfinished?: boolean | undefined;
}

/** The parts of the wait for a spoken reply, in order. */
const PARTS = [
  { stage: "end_of_turn", label: "End of turn" },
  { stage: "transcript", label: "Transcription" },
  { stage: "first_word", label: "Model" },
  { stage: "first_audio", label: "Voice" },
  { stage: "audible", label: "Sending" },
] as const;

export type Stage = (typeof PARTS)[number]["stage"];

export interface Part {
  stage: Stage;
  label: string;
  ms: number;
}

/** Why the end of a turn took long. */
export const UNFINISHED_NOTE =
  "The user's sentence seemed unfinished, so the agent waited three times as long for them to go on.";

/** How long each part of the wait lasted; those that took no time of their own are left out. Together they are `audibleAfter`. */
export function partsOf(latency: SpokenLatency): Part[] {
  let before = 0;
  return PARTS.flatMap(({ stage, label }) => {
    const ms = Math.max(0, (latency[stage] ?? 0) - before);
    before += ms;
    return ms > 0 ? [{ stage, label, ms }] : [];
  });
}

/** Milliseconds until the user noticed the reply, the one figure of a turn; null if not measured. */
export function audibleAfter({ latency, reply }: Measured): number | null {
  return latency?.audible ?? latency?.first_audio ?? latency?.first_word ?? reply?.first_word_ms ?? null;
}

/** The median, of two values in the middle their mean; null of none. */
export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) return null;
  const lower = sorted.length % 2 === 0 ? (sorted[middle - 1] ?? upper) : upper;
  return Math.round((lower + upper) / 2);
}
