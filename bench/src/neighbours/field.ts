import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { RequestType } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { newId } from "@parley/shared/ids";
import { createClient } from "@parley/shared/rpc/client";
import { createAgent } from "../agents.ts";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import type { TierName } from "./attack.ts";
import { type IdleCpu, openIdleCpu } from "./idle-cpu.ts";
import { startReceiver } from "./receiver.ts";
import { startVictim, type Victim } from "./victim.ts";

export interface Field {
  stack: BenchStack;
  victim: Victim;
  /** For everything that would run on other people's machines. */
  idleCpu: IdleCpu;
  /** Creates a hostile owner for each attack, so that leftovers of an earlier one take no share of it. */
  createHostile(tier: TierName): Promise<{ ownerId: string; apiKey: string }>;
  /** Disables the owner's webhook endpoints, so that undelivered events delay nothing later. */
  silence(ownerId: string): Promise<void>;
}

const TIERS = { free: Tier.TIER_FREE, pro: Tier.TIER_PRO, enterprise: Tier.TIER_ENTERPRISE } as const;
const RATE_LIMIT_PER_MINUTE = 1_000_000;
const RPC_MS = 60_000;

/** Parley and the victim. */
export async function startField(run: Run): Promise<Field> {
  const idleCpu = openIdleCpu(run);
  const stack = await startBenchStack(run, { PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" });
  const rpc = (peer: "account" | "webhook-dispatcher") => ({ peer, address: stack.address(peer), timeoutMs: RPC_MS });
  const accounts = createClient(AccountServiceService, rpc("account"));
  const dispatcher = createClient(WebhookDispatcherServiceService, rpc("webhook-dispatcher"));
  run.onEnd(async () => {
    accounts.close();
    dispatcher.close();
  });

  const createOwner: Field["createHostile"] = async (tier) => {
    const agreed = tier === "enterprise" ? { rateLimitPerMinute: RATE_LIMIT_PER_MINUTE } : {};
    const email = `${newId("own")}@example.com`;
    const { owner } = await accounts.createOwner({
      name: "Bench",
      email,
      tier: TIERS[tier],
      rateLimitPerMinute: undefined,
      ...agreed,
    });
    const ownerId = owner?.ownerId ?? "";
    const { apiKey } = await accounts.createKey({ ownerId, name: "bench", scopes: [], expiresAt: undefined });
    return { ownerId, apiKey };
  };

  return {
    stack,
    idleCpu,
    createHostile: createOwner,
    victim: await createVictim(),
    silence: async (ownerId) => {
      const { destinations } = await dispatcher.listDestinations({ ownerId });
      for (const { destinationId } of destinations) await dispatcher.deleteDestination({ ownerId, destinationId });
    },
  };

  async function createVictim(): Promise<Victim> {
    const { ownerId, apiKey } = await createOwner("enterprise");
    const receiver = startReceiver();
    run.onEnd(() => receiver.stop());
    const requestType = RequestType.REQUEST_TYPE_POST;
    const url = `http://127.0.0.1:${receiver.port}/`;
    await dispatcher.createDestination({ ownerId, name: "Victim", url, requestType, enabled: true });
    const modelPort = new URL(`http://${stack.address("model")}`).port;
    const params = { base_url: `http://127.0.0.1:${modelPort}/v1`, api_key: "any" };
    const fields = {
      agent_name: "Front desk",
      llm: { provider_name: "CUSTOM_LLM", model_name: "eliza", params },
      tools: { end_call: true },
    };
    const create = async (more: object) => (await createAgent({ ...stack, apiKey }, { ...fields, ...more })).id;
    const victim = await startVictim({
      stack,
      apiKey,
      receiver,
      agentId: await create({}),
      analysedId: await create({
        call_analysis_enabled: true,
        call_analysis_prompt: { custom_prompt: "What became of it?" },
        call_analysis_schema: { summary: { type: "str" }, solved: { type: "bool" } },
      }),
    });
    run.onEnd(async () => victim.stop());
    return victim;
  }
}
