import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentLlm } from "../../present/agent.ts";
import { ModelSetup } from "../../schemas/manage/models.ts";
import { endpoint } from "../endpoint.ts";

export function modelRoutes(gate: GateContext, { agents, conversations }: Clients) {
  return new Elysia({ prefix: "/v1/manage/models" }).get(
    "/",
    ...endpoint(
      gate,
      {
        id: "getModelSetup",
        tag: "Management",
        summary: "Get the language models that are ready to use",
        description:
          "The providers that the operator has a key for, and the model for new agents: the operator's choice, or else the first model of the first such provider.",
        scope: "session",
        response: ModelSetup,
      },
      async ({ ownerId, origin }) => {
        const [{ llmProviders, defaultLlm }, { llm }] = await Promise.all([
          conversations.getModelSetup({ ownerId }, { origin }),
          agents.listProviders({ ownerId }, { origin }),
        ]);
        const known = llm.find(({ providerName }) => llmProviders.includes(providerName));
        const [modelName] = known?.modelNames ?? [];
        const first = known && modelName !== undefined ? { ...known, modelName, params: {}, fallbacks: [] } : undefined;
        const chosen = defaultLlm ?? first;
        return { llm_providers: llmProviders, default_llm: chosen ? presentLlm(chosen) : null };
      },
    ),
  );
}
