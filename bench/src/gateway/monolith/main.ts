/** Contender (c): the same work with the same libraries in one process with one schema, tuned like Parley. */
import { redisLimiter } from "@parley/gateway/src/rate-limit/redis.ts";
import { Elysia } from "elysia";
import { LRUCache } from "lru-cache";
import { readAgents } from "../fixture.ts";
import { type AgentRow, findAgent, findKey, type Key, openStore } from "./store.ts";

const KEY_FORM = /^vk_[0-9A-Za-z]{43}$/;
const KEY_CACHE_MS = 30_000;

const env = process.env as Record<string, string>;
const limiter = await redisLimiter({ url: env.REDIS_URL ?? "" });
const agents = await readAgents();
const db = await openStore(env.DATABASE_URL ?? "", digestOf(env.BENCH_API_KEY ?? ""), agents.values());
const keys = new LRUCache<string, Key>({ max: 100_000, ttl: KEY_CACHE_MS });

const app = new Elysia().get("/v1/public/agents/:agent_id", async ({ request, params, set, status }) => {
  set.headers["x-request-id"] = request.headers.get("x-request-id") ?? Bun.randomUUIDv7();
  const key = await authenticate(request.headers.get("x-api-key") ?? "");
  if (!key) return status(401, { detail: "Invalid API key" });
  const decision = await limiter.take(key.keyId, key.rateLimitPerMinute);
  set.headers["x-ratelimit-limit"] = String(decision.limit);
  set.headers["x-ratelimit-remaining"] = String(decision.remaining);
  set.headers["x-ratelimit-reset"] = String(decision.resetAtSeconds);
  if (!decision.allowed) return status(429, { detail: "Rate limit exceeded" });
  const agent = await findAgent(db, key.ownerId, params.agent_id);
  return agent ? present(agent) : status(404, { detail: "Agent not found" });
});
app.listen({ hostname: "127.0.0.1", port: Number(env.PORT) });

async function authenticate(apiKey: string): Promise<Key | null> {
  if (!KEY_FORM.test(apiKey)) return null;
  const digest = digestOf(apiKey);
  const id = digest.toString("latin1");
  const key = keys.get(id) ?? (await findKey(db, digest));
  if (key?.status !== "active" || (key.expiresAt && key.expiresAt <= new Date())) return null;
  keys.set(id, key, { noUpdateTTL: true });
  return key;
}

function digestOf(apiKey: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(apiKey).digest();
}

function present(agent: AgentRow) {
  return {
    id: agent.agentId,
    agent_name: agent.agentName,
    agent_description: agent.agentDescription,
    agent_type: agent.agentType,
    agent_category: agent.agentCategory,
    agent_tips: agent.agentTips,
    agent_mobile_number: agent.agentMobileNumber,
    stt: agent.stt,
    llm: agent.llm,
    tts: agent.tts,
    call_analysis_enabled: agent.callAnalysisEnabled,
    prompt: {
      prompt_name: agent.promptName,
      prompt_version: agent.promptVersion,
      prompt_content: agent.promptContent,
    },
    first_message_prompt: agent.firstMessagePrompt,
    dynamic_variables: agent.dynamicVariables,
    tools: agent.tools,
    widget_config: agent.widgetConfig,
    MediaFiles: agent.mediaFiles,
    ...agent.further,
    created_at: agent.createdAt.toISOString(),
    updated_at: agent.updatedAt.toISOString(),
  };
}
