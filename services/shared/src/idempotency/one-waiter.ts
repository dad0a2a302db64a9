import { cancelled } from "../errors.ts";

/** Waits, once for all requests of a key, until the earlier request has ended. */
interface OneWaiter {
  /**
   * @param isOver looks whether there is nothing left to wait for; only the first of a key's requests brings its own
   * @throws ServiceError cancelled when `gone` fires; whatever `isOver` throws
   */
  wait(ownerId: string, key: string, isOver: () => Promise<boolean>, gone: AbortSignal): Promise<void>;
}

interface Watched {
  over: Promise<void>;
  waiting: number;
}

/** @param pause between two looks */
export function oneWaiter(pause: () => Promise<unknown>): OneWaiter {
  const watched = new Map<string, Watched>();

  async function watch(id: string, one: Watched, isOver: () => Promise<boolean>): Promise<void> {
    try {
      do await pause();
      while (one.waiting > 0 && !(await isOver()));
    } finally {
      watched.delete(id);
    }
  }

  return {
    async wait(ownerId, key, isOver, gone) {
      if (gone.aborted) throw cancelled();
      const id = JSON.stringify([ownerId, key]);
      let one = watched.get(id);
      if (!one) {
        one = { over: Promise.resolve(), waiting: 0 };
        watched.set(id, one);
        one.over = watch(id, one, isOver);
      }
      one.waiting++;
      const { promise: left, reject } = Promise.withResolvers<never>();
      const leave = () => reject(cancelled());
      gone.addEventListener("abort", leave);
      try {
        await Promise.race([one.over, left]);
      } finally {
        gone.removeEventListener("abort", leave);
        one.waiting--;
      }
    },
  };
}
