/** The outcomes of the victim's requests that began in one period. */
export interface Phase {
  begin(kind: string): Ending;
  /** Waits until all have ended, at most for the given time. */
  settle(withinMs: number): Promise<void>;
  /** The requests of a kind that began. */
  requests(kind: string): readonly Timed[];
}

/** Called once, when the request has ended. @param failure what was wrong with the response, if anything */
export type Ending = (failure?: string) => void;

export interface Figures {
  count: number;
  p50Ms: number;
  p99Ms: number;
  failed: number;
  /** Requests that have not ended yet. */
  open: number;
  /** One of the failures. */
  failure: string | null;
  /** When the slowest requests began, in milliseconds since their period began, slowest first. */
  slowestAtMs: number[];
}

export interface Timed {
  kind: string;
  startedAtMs: number;
  /** Milliseconds since the beginning of the period. */
  afterMs: number;
  tookMs: number | null;
  failure: string | null;
}

/** How many of the slowest requests are named. */
const SLOWEST = 4;

export function createPhase(): Phase {
  const beganAtMs = performance.now();
  const all: Timed[] = [];
  let open = 0;
  let onAllEnded: (() => void) | null = null;

  return {
    begin(kind) {
      const startedAtMs = performance.now();
      const timed: Timed = { kind, startedAtMs, afterMs: startedAtMs - beganAtMs, tookMs: null, failure: null };
      all.push(timed);
      open++;
      return (failure) => {
        if (timed.tookMs !== null) return;
        timed.tookMs = performance.now() - timed.startedAtMs;
        timed.failure = failure ?? null;
        open--;
        if (open === 0) onAllEnded?.();
      };
    },
    async settle(withinMs) {
      if (open === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onAllEnded = resolve;
      await Promise.race([promise, Bun.sleep(withinMs)]);
      onAllEnded = null;
    },
    requests: (kind) => all.filter((timed) => timed.kind === kind),
  };
}

/** The requests of one kind in all phases; one that has not ended counts as lasting until now. */
export function figuresOf(phases: readonly Phase[], kind: string): Figures {
  const nowMs = performance.now();
  const all = phases.flatMap((phase) => phase.requests(kind));
  const failures = all.filter(({ failure }) => failure !== null);
  const durationOf = ({ tookMs, startedAtMs }: Timed) => tookMs ?? nowMs - startedAtMs;
  const answered = all.filter(({ failure }) => failure === null).toSorted((a, b) => durationOf(a) - durationOf(b));
  const took = answered.map(durationOf);
  return {
    count: all.length,
    p50Ms: quantile(took, 0.5),
    p99Ms: quantile(took, 0.99),
    failed: failures.length,
    open: all.filter(({ tookMs }) => tookMs === null).length,
    failure: failures[0]?.failure ?? null,
    slowestAtMs: answered
      .slice(-SLOWEST)
      .toReversed()
      .map(({ afterMs }) => afterMs),
  };
}

/** By the nearest rank: of a hundred, the 99th is the p99, so one slow request does not decide it. */
function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
