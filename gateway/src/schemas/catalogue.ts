import { GENDERS, namesOf, TTS_PROVIDERS } from "@parley/shared/api-names";
import { Type } from "@sinclair/typebox";
import { OneOf, PageQuery, Text } from "./types.ts";

export const VOICES_PAGE_SIZE = 20;

export const ListVoicesQuery = Type.Object({
  provider: OneOf(TTS_PROVIDERS),
  page: PageQuery.page,
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: VOICES_PAGE_SIZE })),
  language: Type.Optional(
    Text({
      max: 35,
      pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
      form: "look like a BCP 47 tag, such as en or en-US",
      description: "`en` matches `en-US` too; case does not matter.",
      example: "en",
    }),
  ),
  gender: Type.Optional(OneOf(namesOf(GENDERS))),
  search: Type.Optional(Text({ max: 200, description: "Part of the name; case does not matter." })),
  cloned_only: Type.Optional(Type.Boolean({ default: false, description: "Only the owner's own voices." })),
  model: Type.Optional(
    Text({ max: 200, description: "A model of the provider: voices that it can speak with.", example: "aura-2" }),
  ),
});
