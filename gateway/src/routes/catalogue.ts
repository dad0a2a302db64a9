import type { ProviderModels } from "@parley/proto/parley/agent/v1/agent.ts";
import { GENDERS, numberOf } from "@parley/shared/domain/api-names";
import { presentNumber } from "@parley/shared/domain/present/account";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { pageOf } from "../present/page.ts";
import { presentPrices } from "../present/prices.ts";
import { presentVoices } from "../present/voice.ts";
import {
  ListNumbersQuery,
  ListProvidersQuery,
  ListVoicesQuery,
  MobileNumbers,
  Providers,
  VOICES_PAGE_SIZE,
  VoiceList,
} from "../schemas/catalogue.ts";
import { endpoints } from "./endpoint.ts";

export function catalogueRoutes(gate: GateContext, { agents, accounts }: Clients) {
  const route = endpoints(gate, { tag: "Catalogue" });
  return new Elysia({ prefix: "/v1/public" })
    .get(
      "/providers",
      ...route(
        {
          id: "listProviders",
          summary: "List providers and their models",
          scope: "catalogue:read",
          query: ListProvidersQuery,
          response: Providers,
        },
        async ({ ownerId, query, origin }) => {
          const withPrices = query.include === "prices";
          const { llm, tts, stt, updatedAt } = await agents.listProviders({ ownerId, withPrices }, { origin });
          const providers = { llm: byName(llm), tts: byName(tts), stt: byName(stt), timestamp: updatedAt };
          return withPrices ? { ...providers, prices: presentPrices(llm) } : providers;
        },
      ),
    )
    .get(
      "/voices",
      ...route(
        {
          id: "listVoices",
          summary: "List the voices of a provider",
          description: "The owner's cloned voices first, then the provider's own; each by name.",
          scope: "catalogue:read",
          query: ListVoicesQuery,
          isList: true,
          response: VoiceList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf({ page_size: VOICES_PAGE_SIZE, ...query });
          const { voices, total } = await agents.listVoices(
            {
              ownerId,
              page,
              providerName: query.provider,
              language: query.language ?? "",
              gender: numberOf(GENDERS, query.gender),
              search: query.search ?? "",
              clonedOnly: query.cloned_only ?? false,
              modelName: query.model ?? "",
            },
            { origin },
          );
          return presentVoices(voices, total, page);
        },
      ),
    )
    .get(
      "/mobile-numbers",
      ...route(
        {
          id: "listMobileNumbers",
          summary: "List the owner's phone numbers",
          scope: "catalogue:read",
          query: ListNumbersQuery,
          response: MobileNumbers,
        },
        async ({ ownerId, query, origin }) => {
          const { mobileNumbers } = await accounts.listMobileNumbers({ ownerId }, { origin });
          const own = mobileNumbers.filter(({ replacedAt }) => !replacedAt);
          const shown = own.filter((one) => one.telephonyProvider !== "SIP" || query.include === "sip");
          return {
            user_id: ownerId,
            purchased_mobile_numbers: shown.map(presentNumber),
          };
        },
      ),
    );
}

function byName(providers: readonly ProviderModels[]): Record<string, string[]> {
  return Object.fromEntries(providers.map(({ providerName, modelNames }) => [providerName, modelNames]));
}
