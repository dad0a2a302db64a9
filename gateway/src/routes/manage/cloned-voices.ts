import { Gender } from "@parley/proto/parley/agent/v1/agent.ts";
import { GENDERS, TTS_PROVIDERS } from "@parley/shared/domain/api-names";
import { notFound } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import { presentVoice, presentVoices } from "../../present/voice.ts";
import { Voice, VoiceList } from "../../schemas/catalogue.ts";
import { AddClonedVoiceBody, ListClonedVoicesQuery } from "../../schemas/manage/cloned-voices.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function clonedVoiceRoutes(gate: GateContext, { agents }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/cloned-voices" })
    .get(
      "/",
      ...route(
        {
          id: "listClonedVoices",
          summary: "List the owner's voices of a provider, by name",
          query: ListClonedVoicesQuery,
          isList: true,
          response: VoiceList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { voices, total } = await agents.listVoices(
            {
              ownerId,
              page,
              providerName: query.provider,
              clonedOnly: true,
              language: "",
              gender: Gender.GENDER_UNSPECIFIED,
              search: "",
              modelName: "",
            },
            { origin },
          );
          return presentVoices(voices, total, page);
        },
      ),
    )
    .post(
      "/",
      ...route(
        {
          id: "addClonedVoice",
          summary: "Add a voice that the owner has at a provider",
          body: AddClonedVoiceBody,
          response: Voice,
          refuses: ["conflict"],
        },
        async ({ ownerId, body, origin }) => {
          const { voice } = await agents.addClonedVoice(
            {
              ownerId,
              voice: {
                providerName: body.provider,
                voiceId: body.voice_id,
                name: body.name,
                gender: GENDERS[body.gender],
                language: body.language,
                previewUrl: body.preview_url ?? undefined,
              },
            },
            { origin },
          );
          return presentVoice(required(voice));
        },
      ),
    )
    .delete(
      "/:provider/:voice_id",
      ...route(
        {
          id: "removeClonedVoice",
          summary: "Remove one of the owner's voices",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { provider: providerName = "", voice_id: voiceId = "" } = params;
          if (!TTS_PROVIDERS.some((known) => known === providerName)) throw notFound("Voice");
          await agents.removeClonedVoice({ ownerId, providerName, voiceId }, { origin });
          return { message: "Voice removed" };
        },
      ),
    );
}
