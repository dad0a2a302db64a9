import type { ProviderSetup } from "@parley/proto/parley/common/v1/common.ts";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentLlm } from "../../present/agent.ts";
import { ModelSetup, SpeechSetup } from "../../schemas/manage/models.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function modelRoutes(gate: GateContext, { agents, conversations, voices }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage" })
    .get(
      "/models",
      ...route(
        {
          id: "getModelSetup",
          summary: "Get the language models that are ready to use",
          description:
            "The providers, which of them the operator has a key for, and the model for new agents: the operator's choice, or else the first model of the first such provider.",
          response: ModelSetup,
        },
        async ({ ownerId, origin }) => {
          const [{ llm: setups, defaultLlm }, { llm }] = await Promise.all([
            conversations.getModelSetup({ ownerId }, { origin }),
            agents.listProviders({ ownerId }, { origin }),
          ]);
          const ready = setups.filter(({ isReady }) => isReady).map(({ providerName }) => providerName);
          const known = llm.find(({ providerName }) => ready.includes(providerName));
          const [modelName] = known?.modelNames ?? [];
          const first =
            known && modelName !== undefined ? { ...known, modelName, params: {}, fallbacks: [] } : undefined;
          const chosen = defaultLlm ?? first;
          return { llm: setups.map(presentSetup), default_llm: chosen ? presentLlm(chosen) : null };
        },
      ),
    )
    .get(
      "/speech",
      ...route(
        {
          id: "getSpeechSetup",
          summary: "Get the speech providers that are ready to use",
          description:
            "The speech-to-text, text-to-speech and speech-to-speech providers, and which of them the operator has a key for.",
          response: SpeechSetup,
        },
        async ({ ownerId, origin }) => {
          const { stt, tts, sts } = await voices.getSpeechSetup({ ownerId }, { origin });
          return { stt: stt.map(presentSetup), tts: tts.map(presentSetup), sts: sts.map(presentSetup) };
        },
      ),
    );
}

function presentSetup({ providerName, keyVariable, isReady }: ProviderSetup) {
  return { provider_name: providerName, key_variable: keyVariable, is_ready: isReady };
}
