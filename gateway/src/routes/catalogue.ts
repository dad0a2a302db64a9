import type { ProviderModels } from "@parley/proto/parley/agent/v1/agent.ts";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import { type GateContext, gated } from "../gate.ts";

export function catalogueRoutes(gate: GateContext, { agents, accounts }: Clients) {
  return new Elysia({ prefix: "/v1/public" })
    .get(
      "/providers",
      gated(gate, { scope: "catalogue:read" }, async ({ ownerId, origin }) => {
        const { llm, tts, stt, updatedAt } = await agents.listProviders({ ownerId }, { origin });
        return { llm: byName(llm), tts: byName(tts), stt: byName(stt), timestamp: updatedAt };
      }),
    )
    .get(
      "/mobile-numbers",
      gated(gate, { scope: "catalogue:read" }, async ({ ownerId, origin }) => {
        const { mobileNumbers } = await accounts.listMobileNumbers({ ownerId }, { origin });
        return {
          user_id: ownerId,
          purchased_mobile_numbers: mobileNumbers.map(({ mobileNumber, telephonyProvider }) => ({
            mobile_number: mobileNumber,
            telephony_provider: telephonyProvider,
          })),
        };
      }),
    );
}

function byName(providers: readonly ProviderModels[]): Record<string, string[]> {
  return Object.fromEntries(providers.map(({ providerName, modelNames }) => [providerName, modelNames]));
}
