import { APOLOGY_MS, DEAD_AIR_MS } from "../../turn/settings.ts";
import type { CallClock } from "../call-clock.ts";
import { LISTEN, type Next } from "./tools.ts";

/** What the call waits for from the model, and what it does after the model's last words. */
export interface Pending {
  /** The model owes an answer from now on. */
  owe(): void;
  /** The model owes its last words, an apology. */
  oweApology(): void;
  /** The model owes no answer. */
  settle(): void;
  isOwed(): boolean;
  toolBegins(): void;
  /** @param decided what the model decided by calling the tool; null if the call continues as before */
  toolEnds(decided: Next | null): void;
  /** Whether neither an answer nor a tool is pending. */
  isClear(): boolean;
  /** Does this after the last words, instead of what was decided before. */
  decide(next: Next): void;
  /** Whether the call continues after the last words. */
  listens(): boolean;
  /** Takes what to do after the last words, which the model then no longer owes. */
  take(): Next;
  /** How long the model may be silent. It has time to apologize within DEAD_AIR_MS, because only it could. */
  patienceMs(): number;
  /** When an answer, or the last words, will have been waited for long enough; null if none is owed. */
  overdueAt(): number | null;
}

/** How long the last words may take to begin once the model has decided to end the call. */
const FAREWELL_MS = 5_000;

export function pendingOf(clock: CallClock): Pending {
  let next: Next = LISTEN;
  let toolsUnderWay = 0;
  let owedSince: number | null = null;
  let isApology = false;
  const listens = () => next.after === "listen";

  const patienceMs = () => {
    if (isApology) return APOLOGY_MS;
    return toolsUnderWay > 0 ? DEAD_AIR_MS : DEAD_AIR_MS - APOLOGY_MS;
  };

  return {
    owe: () => {
      owedSince = clock.now();
    },
    oweApology: () => {
      owedSince = clock.now();
      isApology = true;
    },
    patienceMs,
    settle: () => {
      owedSince = null;
    },
    isOwed: () => owedSince !== null,
    toolBegins: () => {
      toolsUnderWay++;
    },
    toolEnds: (decided) => {
      toolsUnderWay--;
      if (decided) next = decided;
    },
    isClear: () => toolsUnderWay === 0 && owedSince === null,
    decide: (decided) => {
      next = decided;
    },
    listens,
    take: () => {
      const taken = next;
      next = LISTEN;
      owedSince = null;
      return taken;
    },
    overdueAt: () => (owedSince === null ? null : owedSince + (listens() ? patienceMs() : FAREWELL_MS)),
  };
}
