import { expect, test } from "bun:test";
import { readerPatience } from "./reader-patience.ts";

/** A patience whose clock the test sets. */
function manual() {
  let nowMs = 0;
  let timer: { atMs: number; then: () => void } | null = null;
  const wait = readerPatience({
    now: () => nowMs,
    after: (ms, then) => {
      timer = { atMs: nowMs + ms, then };
      return () => {
        timer = null;
      };
    },
  });
  const pass = (ms: number) => {
    nowMs += ms;
    if (timer && timer.atMs <= nowMs) timer.then();
  };
  return { wait, pass };
}

test("a client that reads nothing is waited for half a minute", async () => {
  const { wait, pass } = manual();
  const waiting = wait(new Promise(() => {}));
  pass(30_000);
  await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
});

test("a client that always reads a little is waited for half a minute in all", async () => {
  const { wait, pass } = manual();
  for (let second = 0; second < 29; second++) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = wait(promise);
    pass(1_000);
    resolve();
    await waiting;
  }
  const last = wait(new Promise(() => {}));
  pass(1_000);
  await expect(last).rejects.toMatchObject({ kind: "cancelled" });
});

test("time that the model takes does not count as the client's", async () => {
  const { wait, pass } = manual();
  for (let piece = 0; piece < 10; piece++) {
    pass(20_000);
    await wait(Promise.resolve());
  }
});
