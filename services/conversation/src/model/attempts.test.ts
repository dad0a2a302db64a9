import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { withAttempts } from "./attempts.ts";
import { ModelFailure } from "./failure.ts";
import type { Model, ModelRequest } from "./port.ts";

const REQUEST: ModelRequest = { system: "", messages: [], tools: [] };
const NEVER = new AbortController().signal;
const REST = { toolCalls: [], usage: { inputTokens: 1, outputTokens: 1 }, partialReason: null };

type Attempt = (signal: AbortSignal) => AsyncGenerator<string>;

interface Fake extends Model {
  signals: AbortSignal[];
}

/** A model whose attempts end as given; the last outcome repeats. */
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
    async stream(_, signal, hear) {
      for await (const text of next(signal)) await hear(text, by);
      return { by, ...REST };
    },
    async complete(_, signal) {
      return { by, text: (await Array.fromAsync(next(signal))).join(""), ...REST };
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
  await model.stream({ ...REQUEST, firstWordMs }, signal, (piece) => {
    text += piece;
    return null;
  });
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
  test("comes from the third attempt when the first two fail temporarily", async () => {
    const model = fake("A", fails(failed("a")), fails(failed("b")), says("Hi ", "there."));
    expect(await ask(together(model))).toBe("Hi there.");
    expect(model.signals).toHaveLength(3);
  });

  test("is given up after the third attempt, with its failure", async () => {
    const model = fake("A", fails(failed("first")), fails(failed("second")), fails(failed("third")));
    expect((await failureOf(ask(together(model)))).detail).toBe("third");
    expect(model.signals).toHaveLength(3);
  });

  test("that would fail again comes from the next model at once; if all fail, the error reports every failure", async () => {
    const [a, b] = [fake("A", fails(failed("no a", false))), fake("B", fails(failed("no b", false)))];
    expect(await ask(together(a, fake("C", says("Hi."))))).toBe("Hi.");
    expect((await failureOf(ask(together(a, b)))).detail).toBe("no a; no b");
    expect([a.signals.length, b.signals.length]).toEqual([2, 1]);
  });

  test("of a model that asks for more time than is left comes from the next model, or is given up", async () => {
    const busy = fake("A", fails(failed("busy", true, 100_000)));
    expect(await ask(together(busy, fake("B", says("Hi."))))).toBe("Hi.");
    const { detail, retryAfterMs } = await failureOf(ask(together(busy)));
    expect({ detail, retryAfterMs }).toEqual({ detail: "busy", retryAfterMs: 100_000 });
    expect(busy.signals).toHaveLength(2);
  });

  test("of a model that hangs leaves the next model its share of the time", async () => {
    const models = [fake("A", hangs()), fake("B", hangs()), fake("C", says("Hi."))] as const;
    expect(await ask(together(...models), 2_000)).toBe("Hi.");
    const failure = await failureOf(ask(together(models[0], models[1]), 100));
    expect(failure.kind).toBe("upstream_timeout");
    expect(failure.detail).toContain("The B model provider did not answer in time");
  });

  test("that is aborted is not retried, and fails with the reason for the abort", async () => {
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

  test("releases every attempt, failed ones too", async () => {
    const model = fake("A", fails(failed("a")), says("Hi."));
    await ask(together(model));
    expect(model.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

test("nothing is retried after the first word", async () => {
  const model = fake("A", fails(failed("broken"), "Hi "), says("Hi."));
  const heard: string[] = [];
  const reading = together(model, model).stream(REQUEST, NEVER, (text) => {
    heard.push(text);
    return null;
  });
  expect((await failureOf(reading)).detail).toBe("broken");
  expect(heard).toEqual(["Hi "]);
  expect(model.signals).toHaveLength(1);
});

test("the time limit for the first word does not apply to what follows", async () => {
  const model = fake("A", async function* () {
    yield "Hi ";
    await Bun.sleep(600);
    yield "there.";
  });
  expect(await textOf(together(model), 500)).toBe("Hi there.");
});

test("a listener that throws ends the attempt, which is not retried", async () => {
  const model = fake("A", says("Hi ", "there."));
  const hear = () => {
    throw new ServiceError("rate_limited", "Enough");
  };
  expect((await failureOf(together(model).stream(REQUEST, NEVER, hear))).detail).toBe("Enough");
  expect(model.signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("the model waits for a listener that is behind", async () => {
  const model = fake("A", says("Hi ", "there."));
  const behind = Promise.withResolvers<void>();
  const heard: string[] = [];
  const end = together(model).stream(REQUEST, NEVER, (text) => {
    heard.push(text);
    return behind.promise;
  });
  while (heard.length === 0) await setImmediate();
  await setImmediate();
  expect(heard).toEqual(["Hi "]);
  behind.resolve();
  await end;
  expect(heard).toEqual(["Hi ", "there."]);
});
