import { GENDERS, namesOf, TTS_PROVIDERS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { OneOf, PageQuery, Text } from "./types.ts";

export const VOICES_PAGE_SIZE = 20;

export const VoiceProvider = OneOf(TTS_PROVIDERS, { description: "Text-to-speech provider." });

export const ListVoicesQuery = Type.Object({
  provider: VoiceProvider,
  page: PageQuery.page,
  page_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: VOICES_PAGE_SIZE, description: "Items on a page." }),
  ),
  language: Type.Optional(
    Text({
      max: 35,
      pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
      form: "look like a BCP 47 tag, such as en or en-US",
      description: "BCP 47 tag, in any case. `en` matches `en-US` too.",
      example: "en",
    }),
  ),
  gender: Type.Optional(OneOf(namesOf(GENDERS), { description: "Only voices of this gender." })),
  search: Type.Optional(Text({ max: 200, description: "Part of the name, in any case." })),
  cloned_only: Type.Optional(Type.Boolean({ default: false, description: "Only the owner's own voices." })),
  model: Type.Optional(Text({ max: 200, description: "Only voices that this model of the provider can speak with." })),
});

export const ListNumbersQuery = Type.Object({
  include: Type.Optional(OneOf(["sip"] as const, { description: "`sip`: show the numbers of SIP trunks too." })),
});
