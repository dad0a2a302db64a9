import type { ProviderModels } from "@parley/proto/parley/agent/v1/agent.ts";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { MobileNumbers, Providers } from "../schemas/resources.ts";
import { endpoint } from "./endpoint.ts";

export function catalogueRoutes(gate: GateContext, { agents, accounts }: Clients) {
  return new Elysia({ prefix: "/v1/public" })
    .get(
      "/providers",
      ...endpoint(
        gate,
        {
          id: "listProviders",
          tag: "Catalogue",
          summary: "List providers and their models",
          scope: "catalogue:read",
          response: Providers,
        },
        async ({ ownerId, origin }) => {
          const { llm, tts, stt, updatedAt } = await agents.listProviders({ ownerId }, { origin });
          return { llm: byName(llm), tts: byName(tts), stt: byName(stt), timestamp: updatedAt };
        },
      ),
    )
    .get(
      "/mobile-numbers",
      ...endpoint(
        gate,
        {
          id: "listMobileNumbers",
          tag: "Catalogue",
          summary: "List the owner's phone numbers",
          scope: "catalogue:read",
          response: MobileNumbers,
        },
        async ({ ownerId, origin }) => {
          const { mobileNumbers } = await accounts.listMobileNumbers({ ownerId }, { origin });
          return {
            user_id: ownerId,
            purchased_mobile_numbers: mobileNumbers.map(({ mobileNumber, telephonyProvider }) => ({
              mobile_number: mobileNumber,
              telephony_provider: telephonyProvider,
            })),
          };
        },
      ),
    );
}

function byName(providers: readonly ProviderModels[]): Record<string, string[]> {
  return Object.fromEntries(providers.map(({ providerName, modelNames }) => [providerName, modelNames]));
}
