import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { boundedReads } from "@parley/shared/bounded-reads";
import type { Clock } from "@parley/shared/clock";
import { fewAtOnce } from "@parley/shared/few-at-once";
import { startWorker } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { Running } from "@parley/shared/process";
import { createClient } from "@parley/shared/rpc/client";
import { startService } from "@parley/shared/service";
import { LRUCache } from "lru-cache";
import { loadCatalogue } from "./catalogue/load.ts";
import { type AgentConfig, modelKeysOf } from "./config.ts";
import type { AgentContext } from "./context.ts";
import { MIGRATIONS } from "./migrations.ts";
import { CLAIM_AT_ONCE } from "./prompts/claim.ts";
import { referenceQueue } from "./prompts/prompt-references.ts";
import { addClonedVoice } from "./rpc/add-cloned-voice.ts";
import { batchGetAgentRuntimes } from "./rpc/batch-get-agent-runtimes.ts";
import { batchGetAgents } from "./rpc/batch-get-agents.ts";
import { createAgent } from "./rpc/create-agent.ts";
import { deleteAgent } from "./rpc/delete-agent.ts";
import { listAgents } from "./rpc/list-agents.ts";
import { listDynamicVariables } from "./rpc/list-dynamic-variables.ts";
import { listProviders } from "./rpc/list-providers.ts";
import { listVoices } from "./rpc/list-voices.ts";
import { removeClonedVoice } from "./rpc/remove-cloned-voice.ts";
import { updateAgent } from "./rpc/update-agent.ts";

const AGENTS_REMEMBERED_MAX = 10_000;

export async function startAgent(config: AgentConfig, log: Logger, given?: Clock): Promise<Running> {
  const catalogue = await loadCatalogue(config.PARLEY_CATALOGUE);
  return startService(
    {
      name: "agent",
      definition: AgentServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: ({ db, direct, clock, credentials }) => {
        const prompts = createClient(PromptServiceService, {
          peer: "prompt",
          address: config.PARLEY_PROMPT_ADDRESS,
          credentials,
        });
        const ctx: AgentContext = {
          db,
          prompts,
          modelKeys: modelKeysOf(config),
          catalogue,
          lastUses: new LRUCache({ max: AGENTS_REMEMBERED_MAX }),
          allowedHosts: config.PARLEY_ALLOWED_PRIVATE_HOSTS,
          boundedRead: boundedReads(),
          claimOneAtOnce: fewAtOnce(CLAIM_AT_ONCE),
          clock,
        };
        const worker = startWorker(db, referenceQueue(ctx), log, { clock, direct });
        return {
          handlers: {
            createAgent: createAgent(ctx),
            batchGetAgents: batchGetAgents(ctx),
            batchGetAgentRuntimes: batchGetAgentRuntimes(ctx),
            listAgents: listAgents(ctx),
            updateAgent: updateAgent(ctx),
            deleteAgent: deleteAgent(ctx),
            listDynamicVariables: listDynamicVariables(ctx),
            listProviders: listProviders(ctx),
            listVoices: listVoices(ctx),
            addClonedVoice: addClonedVoice(ctx),
            removeClonedVoice: removeClonedVoice(ctx),
          },
          stop: async () => {
            await worker.stop();
            prompts.close();
          },
        };
      },
    },
    config,
    log,
  );
}
