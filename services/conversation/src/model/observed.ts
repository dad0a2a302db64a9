import { counter, durations, secondsSince } from "@parley/shared/telemetry/instruments";
import { inSpan, SpanKind, type SpanOptions, streamInSpan } from "@parley/shared/telemetry/spans";
import { failureOf, ModelFailure } from "./failure.ts";
import type { Model, TokenUsage } from "./port.ts";

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

  return {
    provider,
    name,
    stream: (request, signal) =>
      streamInSpan(`chat ${name}`, span, async function* () {
        using timing = startTiming(attributes);
        try {
          for await (const event of model.stream(request, signal)) {
            if (event.type === "finish") {
              timing.outcome = "ok";
              count(event.usage);
            }
            yield event;
          }
        } catch (error) {
          timing.outcome = outcomeOf(error, signal);
          throw error;
        }
      }),
    complete: (request, signal) =>
      inSpan(`chat ${name}`, span, async () => {
        using timing = startTiming(attributes);
        try {
          const reply = await model.complete(request, signal);
          timing.outcome = "ok";
          count(reply.usage);
          return reply;
        } catch (error) {
          timing.outcome = outcomeOf(error, signal);
          throw error;
        }
      }),
  };
}

type Outcome = "ok" | "error" | "left";

/** Times until disposed. */
function startTiming(attributes: Readonly<Record<string, string>>): Disposable & { outcome: Outcome } {
  const startedAt = performance.now();
  return {
    outcome: "left",
    [Symbol.dispose]() {
      took().record(secondsSince(startedAt), { ...attributes, outcome: this.outcome });
    },
  };
}
