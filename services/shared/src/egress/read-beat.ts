import type { IncomingMessage } from "node:http";

/** How long a socket rests: several small pieces of its body are then one read. */
const BEAT_MS = 10;
/** A body whose pieces come at least this often would bring several in a beat. */
const OFTEN_MS = 7;

type Followed = Pick<IncomingMessage, "complete" | "destroyed"> & {
  socket: Pick<IncomingMessage["socket"], "pause" | "resume">;
};

/** Lets bodies that arrive in many small pieces be read together: a read costs several times as much as the piece in it. */
export interface ReadBeat {
  /**
   * Watches the pieces of a body. After a read, its socket rests until the next beat if that brings several pieces at once.
   * @param mayRest whether the body's reader can wait that long for the next piece
   * @returns a function to call with each piece
   */
  follow(incoming: Followed, mayRest: () => boolean): () => void;
}

interface Time {
  nowMs(): number;
  after(ms: number, then: () => void): void;
}

const TIME: Time = { nowMs: () => performance.now(), after: (ms, then) => setTimeout(then, ms) };

/** All resting sockets continue together, so that the event loop wakes up once for all of them. */
export function readBeat({ nowMs, after }: Time = TIME): ReadBeat {
  let resting: Followed[] = [];

  function rest(incoming: Followed): void {
    if (resting.push(incoming) === 1) after(BEAT_MS, goOn);
    incoming.socket.pause();
  }

  function goOn(): void {
    const rested = resting;
    resting = [];
    for (const { socket, destroyed } of rested) if (!destroyed) socket.resume();
  }

  return {
    follow(incoming, mayRest) {
      let pieces = 0;
      let lastReadAt = Number.NEGATIVE_INFINITY;

      function afterRead(): void {
        const now = nowMs();
        const isFast = pieces > 1 || now - lastReadAt < OFTEN_MS;
        pieces = 0;
        lastReadAt = now;
        // The socket of a complete message may serve another request already.
        if (isFast && !incoming.complete && !incoming.destroyed && mayRest()) rest(incoming);
      }

      return () => {
        // Only when all pieces of the read have been passed on: a stream then reads more.
        if (pieces++ === 0) setImmediate(afterRead);
      };
    },
  };
}
