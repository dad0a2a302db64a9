import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AskForJsonRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isLonger } from "@parley/shared/text/length";
import { withSecretKeys } from "../agents/secret-keys.ts";
import { extractJson } from "../analysis/extract-json.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { costUsdMicros } from "../model/cost.ts";
import { llmOf } from "../model/select.ts";
import { argumentsFault } from "../tools/arguments.ts";
import { askOnce } from "../turn/ask-once.ts";

const SYSTEM_MAX = 100_000;
const MESSAGE_MAX = 1_000_000;
const SCHEMA_BYTES_MAX = 16 * 1024;

/** Asks a model for an object that fits a schema, once, and stores nothing. */
export function askForJson(ctx: ConversationContext): Handler<"askForJson"> {
  return async (request, { log, signal }) => {
    const { ownerId, message, schema = {} } = checked(request);
    const llm = request.llm
      ? await withSecretKeys(ctx.httpTools.revealSecrets, ownerId, request.llm)
      : await ownModel(ctx, request);
    const model = ctx.selectModel(ownerId, llm, log);
    const system = [
      request.system,
      // Repeated in words because not every provider enforces a schema.
      `Answer with one JSON object that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`,
    ].join("\n\n");
    const { text, by, usage } = await askOnce(ctx, { ownerId, model, signal }, () => ({
      system,
      messages: [{ role: "user", content: message }],
      tools: [],
      answer: { name: "answer", schema },
    }));
    const input = extractJson(text);
    const fault = argumentsFault(
      { name: "answer", json: text, input },
      { name: "answer", description: "", inputSchema: schema },
    );
    if (!input || fault !== null)
      throw new ServiceError("upstream_failed", `The ${by.provider} model's answer does not fit the schema`);
    const micros = costUsdMicros(by.price, usage);
    return { json: JSON.stringify(input), costUsd: micros === null ? undefined : micros / 1_000_000 };
  };
}

/** The model of the agent's version, as exact as it can be. */
async function ownModel(
  { agents }: Pick<ConversationContext, "agents">,
  { ownerId, agentId, agentVersion }: AskForJsonRequest,
): Promise<LlmConfig> {
  return atTemperatureZero(llmOf(await agents.get(ownerId, agentId, { agentVersion, draftId: null })));
}

function atTemperatureZero({ params, fallbacks, ...llm }: LlmConfig): LlmConfig {
  const zero = { baseUrl: undefined, apiKey: undefined, apiType: undefined, ...params, temperature: 0 };
  return { ...llm, params: zero, fallbacks: fallbacks.map(atTemperatureZero) };
}

/** @throws ServiceError invalid */
function checked(request: AskForJsonRequest): AskForJsonRequest {
  const { system, message, schema } = request;
  if (system === "" || isLonger(system, SYSTEM_MAX))
    throw invalid("system", `system must be 1 to ${SYSTEM_MAX} characters`);
  if (message === "" || isLonger(message, MESSAGE_MAX))
    throw invalid("message", `message must be 1 to ${MESSAGE_MAX} characters`);
  if (!schema || Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_BYTES_MAX)
    throw invalid("schema", "schema must be a JSON Schema of at most 16 KiB");
  return request;
}
