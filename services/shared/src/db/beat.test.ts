import { expect, test } from "bun:test";
import { startBeat } from "./beat.ts";

const NEVER_MS = 3_600_000;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Beats that come only when the test wants one, and take until it answers. */
function beats() {
  const answers: PromiseWithResolvers<void>[] = [];
  let lost = 0;
  const beat = startBeat(
    () => {
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    },
    NEVER_MS,
    () => lost++,
  );
  return { ...beat, answers, lost: () => lost };
}

test("a beat between two times begins at once, but not while one is running", async () => {
  const { now, end, answers, lost } = beats();
  now();
  now();
  expect(answers).toHaveLength(1);
  answers[0]?.resolve();
  await settled();
  now();
  expect([answers.length, lost()]).toEqual([2, 0]);
  answers[1]?.reject(new Error("the connection was lost"));
  await settled();
  expect(lost()).toBe(1);
  end();
});

test("after its end there is no beat", () => {
  const { now, end, answers } = beats();
  end();
  now();
  expect(answers).toHaveLength(0);
});
