import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { RoomSettings } from "@parley/shared/domain/full";
import { expiredKeys } from "@parley/shared/idempotency/keys";
import { IDEMPOTENCY_KEYS } from "@parley/shared/idempotency/store";
import { forgetOwner } from "@parley/shared/jobs/forget-owner";
import { oldRows } from "@parley/shared/jobs/old-rows";
import { jsonHash } from "@parley/shared/json/json-hash";
import type { Logger } from "@parley/shared/log";
import { handOverQueue } from "@parley/shared/owner-events/hand-over";
import type { Running } from "@parley/shared/process/running";
import { startService } from "@parley/shared/process/service";
import { registered } from "@parley/shared/rpc/registration";
import { createSealer } from "@parley/shared/sealing";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import { loadCatalogue } from "./catalogue/load.ts";
import { type AgentConfig, modelKeysOf } from "./config.ts";
import type { AgentContext } from "./context.ts";
import { MIGRATIONS } from "./migrations.ts";
import { forgetOwners } from "./owners/forget-owner.ts";
import { CLAIM_AT_ONCE } from "./prompts/claim.ts";
import { referenceQueue } from "./prompts/prompt-references.ts";
import { acceptToolChanges } from "./rpc/accept-tool-changes.ts";
import { addClonedVoice } from "./rpc/add-cloned-voice.ts";
import { batchGetAgentRuntimes } from "./rpc/batch-get-agent-runtimes.ts";
import { batchGetAgents } from "./rpc/batch-get-agents.ts";
import { batchGetPointers } from "./rpc/batch-get-pointers.ts";
import { createAgent } from "./rpc/create-agent.ts";
import { createDraft } from "./rpc/create-draft.ts";
import { createTool } from "./rpc/create-tool.ts";
import { deleteAgent } from "./rpc/delete-agent.ts";
import { deleteTool } from "./rpc/delete-tool.ts";
import { findCallee } from "./rpc/find-callee.ts";
import { followPrompt } from "./rpc/follow-prompt.ts";
import { getAgentVersion } from "./rpc/get-agent-version.ts";
import { getChannelSettings } from "./rpc/get-channel-settings.ts";
import { getDraftRuntime } from "./rpc/get-draft-runtime.ts";
import { getSpeech } from "./rpc/get-speech.ts";
import { getTool } from "./rpc/get-tool.ts";
import { getToolRuntime } from "./rpc/get-tool-runtime.ts";
import { getTraffic } from "./rpc/get-traffic.ts";
import { getWidget } from "./rpc/get-widget.ts";
import { importTools } from "./rpc/import-tools.ts";
import { listAgentVersions } from "./rpc/list-agent-versions.ts";
import { listAgents } from "./rpc/list-agents.ts";
import { listCallerNumbers } from "./rpc/list-caller-numbers.ts";
import { listDynamicVariables } from "./rpc/list-dynamic-variables.ts";
import { listKnowledgeBaseUsers } from "./rpc/list-knowledge-base-users.ts";
import { listProviders } from "./rpc/list-providers.ts";
import { listPublishes } from "./rpc/list-publishes.ts";
import { listSecretUsers } from "./rpc/list-secret-users.ts";
import { listTools } from "./rpc/list-tools.ts";
import { listVoices } from "./rpc/list-voices.ts";
import { publishAgentVersion } from "./rpc/publish-agent-version.ts";
import { removeClonedVoice } from "./rpc/remove-cloned-voice.ts";
import { renewKeys } from "./rpc/renew-keys.ts";
import { reportMcpTools } from "./rpc/report-mcp-tools.ts";
import { rotateToolSecret } from "./rpc/rotate-tool-secret.ts";
import { setTraffic } from "./rpc/set-traffic.ts";
import { updateAgent } from "./rpc/update-agent.ts";
import { updateTool } from "./rpc/update-tool.ts";
import { EXPIRED_DRAFTS } from "./store/drafts.ts";
import { agentTests } from "./tests/feature.ts";
import { followQueue } from "./versions/follow.ts";

export async function startAgent(config: AgentConfig, log: Logger, given?: Clock): Promise<Running> {
  const catalogue = await loadCatalogue(config.PARLEY_CATALOGUE);
  return startService(
    {
      name: "agent",
      definition: AgentServiceService,
      migrations: MIGRATIONS,
      clock: given,
      build: ({ db, clock, connect, stopping }) => {
        const prompts = connect(PromptServiceService, "prompt", config.PARLEY_PROMPT_ADDRESS);
        const accounts = connect(AccountServiceService, "account", config.PARLEY_ACCOUNT_ADDRESS);
        const conversations = connect(ConversationServiceService, "conversation", config.PARLEY_CONVERSATION_ADDRESS);
        const knowledge = connect(KnowledgeServiceService, "knowledge", config.PARLEY_KNOWLEDGE_ADDRESS);
        const voices = connect(VoiceServiceService, "voice", config.PARLEY_VOICE_ADDRESS);
        const ctx: AgentContext = {
          db,
          prompts,
          accounts,
          conversations,
          voices,
          knowledge,
          sealer: createSealer(config.PARLEY_ENCRYPTION_KEY),
          modelKeys: modelKeysOf(config),
          catalogue,
          pricesHash: jsonHash(catalogue.prices),
          allowedHosts: config.PARLEY_ALLOWED_PRIVATE_HOSTS,
          claimOneAtOnce: fewAtOnce(CLAIM_AT_ONCE),
          clock,
          room: roomOf(config.PARLEY_AGENTS_OWNER_BYTES),
        };
        return [
          {
            handlers: {
              createAgent: createAgent(ctx),
              batchGetAgents: batchGetAgents(ctx),
              batchGetPointers: batchGetPointers(ctx),
              batchGetAgentRuntimes: batchGetAgentRuntimes(ctx),
              createDraft: createDraft(ctx),
              // Not among the owner's other calls: those ask the prompt service, whose calls wait for this one.
              followPrompt: registered(followPrompt(ctx), { isList: true }),
              getDraftRuntime: getDraftRuntime(ctx),
              getSpeech: getSpeech(ctx),
              listCallerNumbers: listCallerNumbers(ctx),
              findCallee: findCallee(ctx),
              getWidget: getWidget(ctx),
              getChannelSettings: getChannelSettings(ctx),
              listAgents: registered(listAgents(ctx), { isList: true }),
              updateAgent: updateAgent(ctx),
              publishAgentVersion: publishAgentVersion(ctx),
              getTraffic: getTraffic(ctx),
              setTraffic: setTraffic(ctx),
              deleteAgent: deleteAgent(ctx),
              listAgentVersions: registered(listAgentVersions(ctx), { isList: true }),
              getAgentVersion: registered(getAgentVersion(ctx), { isList: true }),
              listPublishes: registered(listPublishes(ctx), { isList: true }),
              listDynamicVariables: listDynamicVariables(ctx),
              createTool: createTool(ctx),
              getTool: getTool(ctx),
              getToolRuntime: getToolRuntime(ctx),
              listTools: registered(listTools(ctx), { isList: true }),
              updateTool: updateTool(ctx),
              deleteTool: deleteTool(ctx),
              rotateToolSecret: rotateToolSecret(ctx),
              importTools: importTools(ctx),
              acceptToolChanges: acceptToolChanges(ctx),
              reportMcpTools: reportMcpTools(ctx),
              listSecretUsers: listSecretUsers(ctx),
              renewKeys: renewKeys(ctx),
              listKnowledgeBaseUsers: listKnowledgeBaseUsers(ctx),
              listProviders: listProviders(ctx),
              listVoices: listVoices(ctx),
              addClonedVoice: addClonedVoice(ctx),
              removeClonedVoice: removeClonedVoice(ctx),
              forgetOwner: forgetOwner(ctx),
            },
            queues: {
              ...referenceQueue(ctx),
              ...followQueue(ctx),
              ...forgetOwners(ctx),
              ...handOverQueue(conversations),
            },
            sweeps: [
              oldRows(db, "delete-expired-drafts", 60 * 60_000, [EXPIRED_DRAFTS]),
              expiredKeys(db, [IDEMPOTENCY_KEYS]),
            ],
          },
          agentTests(ctx, stopping),
        ];
      },
    },
    config,
    log,
  );
}

function roomOf(bytesMax: number): RoomSettings {
  return {
    bytesMax,
    what: "Agents with their versions, tools, and tests with their results",
    remedy: "delete those that you no longer need",
  };
}
