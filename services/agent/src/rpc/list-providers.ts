import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ProviderKind } from "../catalogue/catalogue.ts";
import type { AgentContext } from "../context.ts";

export function listProviders(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["listProviders"]> {
  const models = (kind: ProviderKind) =>
    Object.entries(ctx.catalogue[kind]).map(([providerName, modelNames]) => ({
      providerName,
      modelNames: [...modelNames],
    }));
  return async () => ({
    llm: models("llm"),
    tts: models("tts"),
    stt: models("stt"),
    updatedAt: ctx.clock.now(),
  });
}
