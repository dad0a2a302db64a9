import { type FewAtOnce, fewAtOnce } from "@parley/shared/shares/few-at-once";
import { createPace, type PaceSettings } from "@parley/shared/shares/pace";
import type { ThreadedChannel } from "../channels/channel.ts";
import type { IncomingMessage } from "../store/incoming.ts";

/** How fast a channel's messages and reports are taken, owner by owner. */
export interface Intake {
  /** Waits until an owner may have this many. @throws ServiceError rate_limited */
  pace(ownerId: string, count: number, gone: AbortSignal): Promise<void>;
  /**
   * Leaves out messages of people who write faster than a person does, so that nobody fills the pace of the owner alone. They are
   * acknowledged, because the channel would repeat them, and with them those of others.
   */
  withinPace(ownerId: string, messages: readonly IncomingMessage[], gone: AbortSignal): IncomingMessage[];
  /** Callbacks of an owner whose messages are being stored. */
  fewAtOnce: FewAtOnce;
}

/** The most callbacks of one owner being stored, which could otherwise take every connection to the database. */
const TAKE_AT_ONCE = { what: "callbacks", atOnce: 2, waitingMax: 1_000 };

/**
 * Messages and reports of one owner, per second and at once. Each takes a third of a millisecond of CPU in all processes. A number
 * sends some 80 messages a second at most, and callbacks that are refused come again.
 */
const NEWS: Omit<PaceSettings, "refusal"> = { perSecond: 500, atOnce: 2_000, waitMaxMs: 2_000 };

/** Messages of one person: more than anybody types, and a small part of the owner's. */
const OF_A_CONTACT: PaceSettings = { perSecond: 10, atOnce: 100, waitMaxMs: 0 };

export function intakeOf({ label, countDropped }: Pick<ThreadedChannel, "label" | "countDropped">): Intake {
  const refusal = `This account has too many ${label} messages and statuses at once. Try again.`;
  const news = createPace({ ...NEWS, refusal });
  const ofContact = createPace(OF_A_CONTACT);
  return {
    pace: async (ownerId, count, gone) => {
      const slowDown = news.take(ownerId, count, gone);
      if (slowDown) await slowDown;
    },
    withinPace: (ownerId, messages, gone) => {
      const within = messages.filter(({ contact }) => {
        try {
          ofContact.take(`${ownerId} ${contact}`, 1, gone);
          return true;
        } catch {
          return false;
        }
      });
      countDropped(messages.length - within.length);
      return within;
    },
    fewAtOnce: fewAtOnce(TAKE_AT_ONCE),
  };
}
