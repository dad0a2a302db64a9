import { company as ownCompany } from "@parley/shared/shares/company";
import { expectedBytes } from "@parley/shared/shares/expected-bytes";
import { createPace } from "@parley/shared/shares/pace";
import { passingTime } from "@parley/shared/shares/passing-time";

/** A model that sends a few words at a time is never that far ahead of its turn. */
const USUAL_BYTES = 32 * 1024;
/** For the bytes of longer answers: a socket delivers 128 KiB at once, so beside others eight of them, and then 32 a second. */
const AHEAD = { perSecond: 8 * 1024 * 1024, atOnce: 2 * 1024 * 1024, besideOthers: 2 };
/** The reader of a reply waits too. */
const WAIT_MAX_MS = 2_000;

/**
 * Spreads the questions of an owner whose models answer faster than their turns can read. A hundred such answers that begin
 * together bring 13 MB in 0.2 s, whatever the pace at which they are then read: memory that is soon collected, in everybody's time.
 */
export interface AnswersAhead {
  ask(ownerId: string): AnswerAhead;
}

/** One turn's answers. */
export interface AnswerAhead {
  /**
   * Waits until the owner may ask, two seconds at most.
   * @param gone ends the wait
   * @returns null when there is nothing to wait for
   */
  due(gone: AbortSignal): Promise<void> | null;
  /** Reports how many bytes have arrived that the turn has not read. */
  arrived(bytes: number): void;
  end(): void;
}

export function answersAhead(time = passingTime, company = ownCompany): AnswersAhead {
  const pace = createPace(AHEAD, time, company);
  const expected = expectedBytes(USUAL_BYTES);
  return {
    ask(ownerId) {
      let counted = USUAL_BYTES;
      let most = 0;
      return {
        due(gone) {
          const bytes = expected.of(ownerId);
          if (bytes <= counted) return null;
          counted = bytes;
          const waited = new AbortController();
          const wait = pace.take(ownerId, bytes, waited.signal);
          if (!wait) return null;
          const callOff = time.after(WAIT_MAX_MS, () => waited.abort());
          const leave = () => waited.abort();
          gone.addEventListener("abort", leave);
          return wait.finally(() => {
            callOff();
            gone.removeEventListener("abort", leave);
          });
        },
        arrived(bytes) {
          if (bytes <= most) return;
          most = bytes;
          if (bytes <= counted) return;
          pace.count(ownerId, bytes - counted);
          expected.saw(ownerId, bytes);
          counted = bytes;
        },
        end: () => {
          if (most < counted) expected.saw(ownerId, most);
        },
      };
    },
  };
}
