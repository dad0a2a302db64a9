import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { willSettle } from "@parley/shared/changes/follow";
import { openDatabase } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { type AgentConfig, modelKeysOf } from "../config.ts";
import { resealStartWebhook } from "../start-webhook/sealed-start-webhook.ts";
import {
  type AgentFields,
  type FieldWithKey,
  listAgentsThatMayHaveKeys,
  lockFieldsWithKeys,
  updateFieldsWithKeys,
} from "../store/agents.ts";
import { resealLlm } from "./llm-secrets.ts";
import { resealSpeech } from "./speech-secrets.ts";

/**
 * Seals every stored key of models and speech with the first key in PARLEY_ENCRYPTION_KEY, so that the others can be
 * removed. Safe beside a running service.
 * @throws at the end, when some keys could not be opened
 */
export async function resealAgents(config: AgentConfig, log: Logger): Promise<void> {
  const db = openDatabase({ url: config.DATABASE_URL, max: 1, prepare: false, name: "parley-agent-reseal" });
  const keys = modelKeysOf(config);
  let resealed = 0;
  let unreadable = 0;
  const reseal = ({ stt, llm, tts, startWebhook }: Pick<AgentFields, FieldWithKey>, key: AgentKey) => {
    try {
      return {
        stt: stt && resealSpeech(stt, keys, key),
        llm: llm && resealLlm(llm, keys, key),
        tts: tts && resealSpeech(tts, keys, key),
        startWebhook: startWebhook && resealStartWebhook(startWebhook, keys, key),
      };
    } catch (err) {
      unreadable++;
      log.error({ err, owner_id: key.ownerId, agent_id: key.agentId }, "a key cannot be read");
      return null;
    }
  };
  try {
    for (const key of await listAgentsThatMayHaveKeys(db)) {
      await db.begin(async (tx) => {
        await lockStoredBytes(tx, key.ownerId);
        const stored = await lockFieldsWithKeys(tx, key);
        const fresh = stored && reseal(stored, key);
        if (!fresh || Bun.deepEquals(fresh, stored)) return;
        // No reader has to wait, because the key itself does not change.
        await willSettle(tx);
        await updateFieldsWithKeys(tx, key, fresh);
        resealed++;
      });
    }
  } finally {
    await db.end({ timeout: 5 });
  }
  if (unreadable > 0)
    throw new Error(`the keys of ${unreadable} agents cannot be read; the others are sealed. See the log.`);
  log.info({ resealed }, "every key is sealed with the first encryption key");
}
