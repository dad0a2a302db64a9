import type { AgentKey, CreateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { sealStartWebhook } from "../start-webhook/sealed-start-webhook.ts";
import type { AgentFields, FieldWithKey } from "../store/agents.ts";
import { sealLlm } from "./llm-secrets.ts";
import type { ModelKeys } from "./model-keys.ts";
import { sealSpeech } from "./speech-secrets.ts";

type SealedFields = { [F in FieldWithKey]: NonNullable<AgentFields[F]> | undefined };

/**
 * Prepares a request's configurations with keys for storing.
 * @param before the agent whose keys masks stand for: the same one before its change, or one that it copies; null for none
 * @throws ServiceError invalid for a mask that matches no key
 */
export function sealKeys(
  { stt, llm, tts, startWebhook }: Pick<CreateAgentRequest, FieldWithKey>,
  before: (Pick<AgentFields, FieldWithKey> & AgentKey) | null,
  keys: ModelKeys,
  agent: AgentKey,
): SealedFields {
  return {
    stt: stt && sealSpeech("stt", stt, before && { of: before, config: before.stt }, keys, agent),
    llm: llm && sealLlm(llm, before && { of: before, config: before.llm }, keys, agent),
    tts: tts && sealSpeech("tts", tts, before && { of: before, config: before.tts }, keys, agent),
    startWebhook:
      startWebhook &&
      sealStartWebhook(startWebhook, before && { of: before, config: before.startWebhook }, keys, agent),
  };
}
