import type { IncomingMessage } from "node:http";

/** Sockets that begin to rest within this time continue together. */
const BEAT_MS = 10;
/** A body rests if its pieces come within this part of a rest, because a rest then brings several. */
const OFTEN_PART = 0.7;

type Followed = Pick<IncomingMessage, "complete" | "destroyed"> & {
  socket: Pick<IncomingMessage["socket"], "pause" | "resume">;
};

/** Lets bodies that arrive in many small pieces be read together: a read costs several times as much as the piece in it. */
export interface ReadBeat {
  /**
   * Watches the pieces of a body. After a read, its socket rests if that brings several pieces at once.
   * @param restMs how long the body's reader can wait for the next piece, 0 for not at all
   * @param rested is called after each rest
   */
  follow(incoming: Followed, restMs: () => number, rested?: () => void): FollowedBody;
}

export interface FollowedBody {
  /** To be called with each piece. */
  tell(): void;
  /** Whether its socket rests, which resuming the body would end. */
  isResting(): boolean;
}

interface Time {
  nowMs(): number;
  after(ms: number, then: () => void): void;
}

const TIME: Time = { nowMs: () => performance.now(), after: (ms, then) => setTimeout(then, ms) };

interface Resting {
  incoming: Followed;
  rested(): void;
}

/** Sockets continue together, so that the event loop wakes up once for all of them. */
export function readBeat({ nowMs, after }: Time = TIME): ReadBeat {
  /** The sockets whose rest began in this beat, by the length of the rest. */
  const resting = new Map<number, Resting[]>();

  function rest(body: Resting, ms: number): void {
    const group = resting.get(ms) ?? beginGroup(ms);
    group.push(body);
    body.incoming.socket.pause();
  }

  function beginGroup(ms: number): Resting[] {
    const group: Resting[] = [];
    resting.set(ms, group);
    if (ms > BEAT_MS) after(BEAT_MS, () => resting.delete(ms));
    after(ms, () => {
      if (resting.get(ms) === group) resting.delete(ms);
      for (const { incoming, rested } of group) {
        if (!incoming.destroyed) incoming.socket.resume();
        rested();
      }
    });
    return group;
  }

  return {
    follow(incoming, restMs, rested = () => {}) {
      let isResting = false;
      const body = {
        incoming,
        rested: () => {
          isResting = false;
          rested();
        },
      };
      let pieces = 0;
      let lastReadAt = Number.NEGATIVE_INFINITY;

      function afterRead(): void {
        const now = nowMs();
        const ms = restMs();
        const isFast = pieces > 1 || now - lastReadAt < ms * OFTEN_PART;
        pieces = 0;
        lastReadAt = now;
        // The socket of a complete message may serve another request already.
        if (ms === 0 || !isFast || isResting || incoming.complete || incoming.destroyed) return;
        isResting = true;
        rest(body, ms);
      }

      return {
        tell: () => {
          // Only when all pieces of the read have been passed on: a stream then reads more.
          if (pieces++ === 0) setImmediate(afterRead);
        },
        isResting: () => isResting,
      };
    },
  };
}
