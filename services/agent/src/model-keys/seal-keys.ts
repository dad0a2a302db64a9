import type { AgentKey, CreateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { AgentFields, FieldWithKey } from "../store/agents.ts";
import { sealLlm } from "./llm-secrets.ts";
import type { ModelKeys } from "./model-keys.ts";
import { sealSpeech } from "./speech-secrets.ts";

type SealedFields = { [F in FieldWithKey]: NonNullable<AgentFields[F]> | undefined };

/**
 * Prepares a request's configurations with keys for storing.
 * @param before the agent's previous configuration; null for a new agent
 * @throws ServiceError invalid for a mask that matches no key
 */
export function sealKeys(
  { stt, llm, tts }: Pick<CreateAgentRequest, FieldWithKey>,
  before: Pick<AgentFields, FieldWithKey> | null,
  keys: ModelKeys,
  agent: AgentKey,
): SealedFields {
  return {
    stt: stt && sealSpeech("stt", stt, before?.stt ?? null, keys, agent),
    llm: llm && sealLlm(llm, before?.llm ?? null, keys, agent),
    tts: tts && sealSpeech("tts", tts, before?.tts ?? null, keys, agent),
  };
}
