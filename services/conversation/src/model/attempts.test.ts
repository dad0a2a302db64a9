import { describe, expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { withAttempts } from "./attempts.ts";
import { ModelFailure } from "./failure.ts";
import type { Model, ModelEvent, ModelRequest } from "./port.ts";

const REQUEST: ModelRequest = { system: "", messages: [], tools: [] };
const NEVER = new AbortController().signal;
const USAGE = { inputTokens: 1, outputTokens: 1 };

type Attempt = (signal: AbortSignal) => AsyncGenerator<string>;

interface Fake extends Model {
  signals: AbortSignal[];
}

/** A model whose attempts go as given, the last one again and again. */
function fake(provider: string, ...attempts: [Attempt, ...Attempt[]]): Fake {
  const by = { provider, name: "m" };
  const signals: AbortSignal[] = [];
  const next = (signal: AbortSignal) => {
    const attempt = attempts[Math.min(signals.push(signal), attempts.length) - 1] as Attempt;
    return attempt(signal);
  };
  return {
    ...by,
    signals,
    async *stream(_, signal): AsyncGenerator<ModelEvent> {
      for await (const text of next(signal)) yield { type: "text", text, by };
      yield { type: "finish", usage: USAGE, by };
    },
    async complete(_, signal) {
      return { by, text: (await Array.fromAsync(next(signal))).join(""), toolCalls: [], usage: USAGE };
    },
  };
}

function failed(detail: string, isRetryable = true, retryAfterMs?: number): ModelFailure {
  return new ModelFailure("upstream_failed", detail, { isRetryable, retryAfterMs });
}

const says = (...texts: string[]): Attempt =>
  async function* () {
    yield* texts;
  };
const fails = (failure: ServiceError, ...texts: string[]): Attempt =>
  async function* () {
    yield* texts;
    throw failure;
  };
const hangs = (): Attempt =>
  async function* (signal) {
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  };

function together(...models: [Model, ...Model[]]): Model {
  return withAttempts(models, { retryMs: 1, log: silentLogger });
}

async function textOf(model: Model, firstWordMs = 5_000, signal = NEVER): Promise<string> {
  let text = "";
  for await (const event of model.stream({ ...REQUEST, firstWordMs }, signal)) {
    if (event.type === "text") text += event.text;
  }
  return text;
}

async function wholeOf(model: Model, firstWordMs = 5_000, signal = NEVER): Promise<string> {
  return (await model.complete({ ...REQUEST, firstWordMs }, signal)).text;
}

async function failureOf(answer: Promise<unknown>): Promise<ServiceError> {
  const error = await answer.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error(`not a ServiceError: ${error}`);
  return error;
}

describe.each([
  ["streamed", textOf],
  ["whole", wholeOf],
])("an answer (%s)", (_, ask) => {
  test("comes of the third attempt when the first two may pass", async () => {
    const model = fake("A", fails(failed("a")), fails(failed("b")), says("Hi ", "there."));
    expect(await ask(together(model))).toBe("Hi there.");
    expect(model.signals).toHaveLength(3);
  });

  test("is given up after the third, with that one's failure", async () => {
    const model = fake("A", fails(failed("first")), fails(failed("second")), fails(failed("third")));
    expect((await failureOf(ask(together(model)))).detail).toBe("third");
    expect(model.signals).toHaveLength(3);
  });

  test("that cannot fare better is the next model's at once; of all failures all are told", async () => {
    const [a, b] = [fake("A", fails(failed("no a", false))), fake("B", fails(failed("no b", false)))];
    expect(await ask(together(a, fake("C", says("Hi."))))).toBe("Hi.");
    expect((await failureOf(ask(together(a, b)))).detail).toBe("no a; no b");
    expect([a.signals.length, b.signals.length]).toEqual([2, 1]);
  });

  test("of a model that wants more time than there is comes from the next, or is not waited for", async () => {
    const busy = fake("A", fails(failed("busy", true, 100_000)));
    expect(await ask(together(busy, fake("B", says("Hi."))))).toBe("Hi.");
    const { detail, retryAfterMs } = await failureOf(ask(together(busy)));
    expect({ detail, retryAfterMs }).toEqual({ detail: "busy", retryAfterMs: 100_000 });
    expect(busy.signals).toHaveLength(2);
  });

  test("of a model that hangs leaves the next one its share of the time", async () => {
    const models = [fake("A", hangs()), fake("B", hangs()), fake("C", says("Hi."))] as const;
    expect(await ask(together(...models), 2_000)).toBe("Hi.");
    const failure = await failureOf(ask(together(models[0], models[1]), 100));
    expect(failure.kind).toBe("upstream_timeout");
    expect(failure.detail).toContain("The B model provider did not answer in time");
  });

  test("that nobody waits for is not tried again, and fails with the reason it was left for", async () => {
    const leaving = new AbortController();
    const reason = new ServiceError("cancelled", "Gone");
    const model = fake("A", (signal) => {
      setTimeout(() => leaving.abort(reason), 1);
      return hangs()(signal);
    });
    expect(await failureOf(ask(together(model, model), 5_000, leaving.signal))).toBe(reason);
    expect(model.signals).toHaveLength(1);
    const waiting = new AbortController();
    const failing = fake("A", fails(failed("a", true, 4_000)));
    const answer = failureOf(ask(together(failing), 5_000, waiting.signal));
    waiting.abort(reason);
    expect(await answer).toBe(reason);
  });

  test("lets go of every attempt, the failed ones and its own", async () => {
    const model = fake("A", fails(failed("a")), says("Hi."));
    await ask(together(model));
    expect(model.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

test("after the first word nothing is tried again", async () => {
  const model = fake("A", fails(failed("broken"), "Hi "), says("Hi."));
  const heard: string[] = [];
  const reading = (async () => {
    for await (const event of together(model, model).stream(REQUEST, NEVER)) {
      if (event.type === "text") heard.push(event.text);
    }
  })();
  expect((await failureOf(reading)).detail).toBe("broken");
  expect(heard).toEqual(["Hi "]);
  expect(model.signals).toHaveLength(1);
});

test("the time for the first word is over with it: what follows may take longer", async () => {
  const model = fake("A", async function* () {
    yield "Hi ";
    await Bun.sleep(600);
    yield "there.";
  });
  expect(await textOf(together(model), 500)).toBe("Hi there.");
});

test("a reader that leaves lets go of the attempt", async () => {
  const model = fake("A", says("Hi ", "there."));
  for await (const _ of together(model).stream(REQUEST, NEVER)) break;
  expect(model.signals[0]?.aborted).toBe(true);
});
