import { counter, durations, secondsSince } from "@parley/shared/telemetry/instruments";
import { inSpan, SpanKind, type SpanOptions } from "@parley/shared/telemetry/spans";
import { failureOf, ModelFailure } from "./failure.ts";
import type { Model, ModelEnd, TokenUsage } from "./port.ts";

// Named as OpenTelemetry names them (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/).
const took = durations(
  "gen_ai.client.operation.duration",
  "Duration of model answers by provider, model and outcome (left: the client disconnected)",
);
const tokens = counter("gen_ai.client.token.usage", "Tokens as providers counted them", "{token}");

/** Wraps a model: times each request, counts its tokens and traces it, without recording any text. */
export function observedModel(model: Model): Model {
  const { provider, name } = model;
  // Names of users' own models are private and unbounded in number.
  const named = provider === "CUSTOM_LLM" ? {} : { "gen_ai.request.model": name };
  const attributes = { "gen_ai.provider.name": provider, ...named };
  const span: SpanOptions = { kind: SpanKind.CLIENT, attributes: { ...attributes, "gen_ai.operation.name": "chat" } };

  function count({ inputTokens, outputTokens }: TokenUsage): void {
    tokens().add(inputTokens ?? 0, { ...attributes, "gen_ai.token.type": "input" });
    tokens().add(outputTokens ?? 0, { ...attributes, "gen_ai.token.type": "output" });
  }

  // Alerts fire on provider errors, and a client that disconnects is not one.
  const outcomeOf = (error: unknown, signal: AbortSignal): Outcome =>
    failureOf(error, provider, signal) instanceof ModelFailure ? "error" : "left";

  const observe = <E extends ModelEnd>(signal: AbortSignal, ask: () => Promise<E>): Promise<E> =>
    inSpan(`chat ${name}`, span, async () => {
      const startedAt = performance.now();
      let outcome: Outcome = "left";
      try {
        const end = await ask();
        outcome = "ok";
        count(end.usage);
        return end;
      } catch (error) {
        outcome = outcomeOf(error, signal);
        throw error;
      } finally {
        took().record(secondsSince(startedAt), { ...attributes, outcome });
      }
    });

  return {
    provider,
    name,
    stream: (request, signal, hear) => observe(signal, () => model.stream(request, signal, hear)),
    complete: (request, signal) => observe(signal, () => model.complete(request, signal)),
  };
}

type Outcome = "ok" | "error" | "left";
