import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@parley/shared/log";
import { failureOf, lateAnswer, ModelFailure, OVER } from "./failure.ts";
import type { Model, ModelRequest } from "./port.ts";
import { retryDelayMs } from "./retry-delay.ts";

export interface AttemptPolicy {
  /** The wait before a model's second attempt; later waits are longer. */
  retryMs: number;
  log: Logger;
}

/**
 * Makes one model of several: each is retried while that can help, then the next one is asked, until the first word of an answer
 * (docs/api-reference.md#model-attempts). The time left for that word is divided evenly among the models left, so that one that
 * hangs does not use up the others' time.
 */
export function withAttempts(models: readonly [Model, ...Model[]], policy: AttemptPolicy): Model {
  const [first] = models;
  const { provider, name } = first;
  return {
    provider,
    name,
    async stream(request, signal, hear) {
      const ask = async (model: Model, ends: AbortSignal) => {
        const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
        const end = model.stream(request, ends, (text, by) => {
          begin();
          return hear(text, by);
        });
        await Promise.race([begun, end]);
        return { end };
      };
      const { answer, attempt } = await firstAnswer(models, policy, request, signal, ask);
      return answer.end.finally(attempt.end);
    },
    async complete(request, signal) {
      const ask = (model: Model, ends: AbortSignal) => model.complete(request, ends);
      const { answer, attempt } = await firstAnswer(models, policy, request, signal, ask);
      attempt.end();
      return answer;
    },
  };
}

/** Returns the first answer that starts, and its attempt, which the caller must end after the answer. */
async function firstAnswer<T>(
  models: readonly Model[],
  { retryMs, log }: AttemptPolicy,
  { firstWordMs = Number.POSITIVE_INFINITY }: Pick<ModelRequest, "firstWordMs">,
  signal: AbortSignal,
  ask: (model: Model, ends: AbortSignal) => Promise<T>,
): Promise<{ answer: T; attempt: Attempt }> {
  const endsAt = performance.now() + firstWordMs;
  const failures: ModelFailure[] = [];
  for (const [at, model] of models.entries()) {
    const left = models.length - at;
    const modelEndsAt = performance.now() + (endsAt - performance.now()) / left;
    for (let number = 1; ; number++) {
      const leftMs = () => modelEndsAt - performance.now();
      const attempt = startAttempt(model.provider, signal, leftMs());
      const outcome = await attempt.run(() => ask(model, attempt.signal));
      if ("answer" in outcome) return { ...outcome, attempt };
      const { failure } = outcome;
      const state = { failed: number, leftMs: leftMs(), hasNext: left > 1 };
      const delayMs = retryDelayMs(failure, state, retryMs, Math.random());
      const { provider, name } = model;
      log.warn(
        { provider, model: name, attempt: number, retry_in_ms: delayMs, detail: failure.detail },
        "model failed",
      );
      if (delayMs === null) {
        failures.push(failure);
        break;
      }
      // If the signal fires during the wait, the next attempt throws its reason.
      await sleep(delayMs, undefined, { signal }).catch(() => {});
    }
  }
  throw allFailed(failures);
}

interface Attempt {
  signal: AbortSignal;
  /** @throws the outer signal's reason */
  run<T>(ask: () => Promise<T>): Promise<{ answer: T } | { failure: ModelFailure }>;
  /** Releases what the attempt still holds, such as a socket. */
  end(): void;
}

/** @param withinMs time limit for the start of the answer */
function startAttempt(provider: string, outer: AbortSignal, withinMs: number): Attempt {
  const controller = new AbortController();
  const leave = () => controller.abort(outer.reason);
  if (outer.aborted) leave();
  outer.addEventListener("abort", leave, { once: true });
  const late = () => controller.abort(lateAnswer(provider));
  const timer = Number.isFinite(withinMs) ? setTimeout(late, withinMs) : undefined;
  const end = () => {
    clearTimeout(timer);
    outer.removeEventListener("abort", leave);
    controller.abort(OVER);
  };
  return {
    signal: controller.signal,
    end,
    async run(ask) {
      try {
        const answer = await ask();
        clearTimeout(timer);
        return { answer };
      } catch (error) {
        const failure = failureOf(error, provider, controller.signal);
        end();
        if (outer.aborted || !(failure instanceof ModelFailure)) throw failure;
        return { failure };
      }
    },
  };
}

/** Reports every model's failure, because each has its own remedy. */
function allFailed(failures: readonly ModelFailure[]): ModelFailure {
  const last = failures.at(-1) as ModelFailure;
  if (failures.length === 1) return last;
  const kind = last.kind === "upstream_timeout" ? "upstream_timeout" : "upstream_failed";
  return new ModelFailure(kind, failures.map(({ detail }) => detail).join("; "), { ...last, cause: last });
}
