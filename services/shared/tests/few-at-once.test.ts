import { expect, test } from "bun:test";
import { ServiceError } from "../src/errors.ts";
import { fewAtOnce } from "../src/shares/few-at-once.ts";

const STAYS = new AbortController().signal;

/** Reads that end when the test says so. */
function slowReads() {
  const begun: PromiseWithResolvers<void>[] = [];
  const read = () => {
    const each = Promise.withResolvers<void>();
    begun.push(each);
    return each.promise;
  };
  return { begun, read };
}

/** Waits until every read that can begin has begun. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("an owner's reads run a few at a time, and another owner's do not wait for them", async () => {
  const limited = fewAtOnce({ what: "lists", atOnce: 2, waitingMax: 10 });
  const { begun, read } = slowReads();
  const reads = [1, 2, 3].map(() => limited("own_a", STAYS, read));
  await settled();
  expect(begun).toHaveLength(2);
  expect(await limited("own_b", STAYS, async () => "theirs")).toBe("theirs");
  begun[0]?.resolve();
  await reads[0];
  await settled();
  expect(begun).toHaveLength(3);
  for (const each of begun) each.resolve();
  await Promise.all(reads);
});

test("reads of all owners together run a few at a time, and owners take turns", async () => {
  const limited = fewAtOnce({ what: "callbacks", atOnce: 1, totalAtOnce: 2, waitingMax: 10 });
  const begun: string[] = [];
  const work = (ownerId: string) =>
    limited(ownerId, STAYS, async () => {
      begun.push(ownerId);
      await settled();
    });
  await Promise.all(["a", "a", "a", "b", "b", "c", "d"].map(work));
  expect(begun).toEqual(["a", "b", "a", "b", "c", "d", "a"]);
});

test("reads above the queue limit are told to retry after a second, and reads of callers that left are skipped", async () => {
  const limited = fewAtOnce({ what: "lists", atOnce: 1, waitingMax: 1 });
  const { begun, read } = slowReads();
  const first = limited("own_a", STAYS, read);
  const leaving = new AbortController();
  const second = limited("own_a", leaving.signal, read).catch((error: Error) => error.name);
  await settled();
  const refused = await limited("own_a", STAYS, read).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ServiceError);
  expect(refused).toMatchObject({ kind: "rate_limited", retryAfterMs: 1_000 });
  leaving.abort();
  begun[0]?.resolve();
  await first;
  expect(await second).toBe("AbortError");
  expect(begun).toHaveLength(1);
});
