import { Gender, type ProviderModels } from "@parley/proto/parley/agent/v1/agent.ts";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { pageOf } from "../present/page.ts";
import { presentVoice } from "../present/voice.ts";
import { ListVoicesQuery, VOICES_PAGE_SIZE } from "../schemas/catalogue.ts";
import { MobileNumbers, Providers, VoiceList } from "../schemas/resources.ts";
import { endpoint } from "./endpoint.ts";

const GENDERS = { MALE: Gender.GENDER_MALE, FEMALE: Gender.GENDER_FEMALE, NEUTRAL: Gender.GENDER_NEUTRAL } as const;

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
      "/voices",
      ...endpoint(
        gate,
        {
          id: "listVoices",
          tag: "Catalogue",
          summary: "List the voices of a provider",
          description: "The owner's cloned voices first, then the provider's own; each by name.",
          scope: "catalogue:read",
          query: ListVoicesQuery,
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
              gender: query.gender ? GENDERS[query.gender] : Gender.GENDER_UNSPECIFIED,
              search: query.search ?? "",
              clonedOnly: query.cloned_only ?? false,
              modelName: query.model ?? "",
            },
            { origin },
          );
          return {
            voices: voices.map(presentVoice),
            total_count: total,
            page: page.number,
            page_size: page.size,
            has_more: page.number * page.size < total,
          };
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
