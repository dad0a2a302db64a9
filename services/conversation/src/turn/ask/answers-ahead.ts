import { company as ownCompany } from "@parley/shared/shares/company";
import { expectedBytes } from "@parley/shared/shares/expected-bytes";
import type { EnterLoop } from "@parley/shared/shares/loop-entry";
import { createPace, type Reserved } from "@parley/shared/shares/pace";
import { passingTime } from "@parley/shared/shares/passing-time";

/** A model that sends a few words at a time is never that far ahead of its turn, whether they are for the user or not. */
const USUAL_BYTES = 32 * 1024;
/** For the bytes of longer answers: a socket delivers 128 KiB at once, so beside others eight of them, and then 32 a second. */
const AHEAD = { perSecond: 8 * 1024 * 1024, atOnce: 2 * 1024 * 1024, besideOthers: 2, debtMax: 16 * 1024 * 1024 };
/** The reader of a reply waits too. What an owner may owe takes as long. */
const WAIT_MAX_MS = 2_000;

/**
 * Spreads the questions of an owner whose models answer faster than their turns can read. A hundred such answers that begin
 * together bring 13 MB in 0.2 s, whatever the pace at which they are then read: garbage whose collection stops the process for
 * everyone.
 */
export interface AnswersAhead {
  ask(ownerId: string): AnswerAhead;
}

/** The answers to one turn's questions, one question at a time. */
export interface AnswerAhead {
  /**
   * Begins a question: waits until the owner may ask it, two seconds at most, and then for its turn on the loop. While answers of the
   * owner have arrived faster than its pace, all its questions wait.
   * @param gone ends the wait
   * @param enter the order in which turns work on the loop
   * @returns null when there is nothing to wait for
   */
  due(gone: AbortSignal, enter: EnterLoop): Promise<void> | null;
  /** Reports that so many more bytes have arrived than were read (`ModelRequest.ahead`). */
  arrived(bytes: number): void;
  /** Ends the last question. */
  end(): void;
}

export function answersAhead(time = passingTime, company = ownCompany): AnswersAhead {
  const pace = createPace(AHEAD, time, company);
  const expected = expectedBytes(USUAL_BYTES);
  return {
    ask(ownerId) {
      /** What the question is expected to bring, until it is given back. */
      let reserved: Reserved | null = null;
      /** What it may bring before more is counted. */
      let counted = 0;
      let brought = 0;

      function end(): void {
        if (brought < counted) {
          settle(brought);
          expected.saw(ownerId, brought);
        }
        reserved = null;
        counted = 0;
        brought = 0;
      }

      function settle(used: number): void {
        reserved?.settle(used);
        reserved = null;
      }

      return {
        due(gone, enter) {
          end();
          if (gone.aborted) return null;
          const bytes = expected.of(ownerId);
          counted = bytes > USUAL_BYTES ? bytes : 0;
          const waited = new AbortController();
          const leave = () => waited.abort();
          reserved = pace.reserve(ownerId, counted, waited.signal);
          if (!reserved.due) return null;
          const callOff = time.after(WAIT_MAX_MS, () => {
            // Whoever has waited the longest owes nothing, so that a debt lasts hardly longer than a wait.
            settle(0);
            leave();
          });
          gone.addEventListener("abort", leave);
          return reserved.due.then(() => {
            callOff();
            gone.removeEventListener("abort", leave);
            return enter(ownerId) ?? undefined;
          });
        },
        arrived(bytes) {
          brought += bytes;
          if (brought <= counted) return;
          pace.count(ownerId, brought - counted);
          counted = brought;
          expected.saw(ownerId, brought);
        },
        end,
      };
    },
  };
}
