import { GENDERS, namesOf } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { VoiceProvider } from "../catalogue.ts";
import { Maybe, OneOf, PageQuery, Text } from "../types.ts";

export const ListClonedVoicesQuery = Type.Object({ provider: VoiceProvider, ...PageQuery });

export const AddClonedVoiceBody = Type.Object(
  {
    provider: VoiceProvider,
    voice_id: Text({
      min: 1,
      max: 200,
      description: "The provider's ID of your own voice; one that GET /voices lists for everybody is refused.",
      example: "acme-receptionist",
    }),
    name: Text({ min: 1, max: 100, description: "Name to recognize the voice by.", example: "Our receptionist" }),
    gender: OneOf(namesOf(GENDERS), { description: "Gender of the voice." }),
    language: Text({ min: 2, max: 35, description: "Language of the voice, as a BCP 47 tag.", example: "en-US" }),
    preview_url: Maybe(Text({ max: 2048 }), "Address of a sample, starting with https://."),
  },
  { $id: "AddClonedVoiceRequest", description: "A voice that the owner has at a provider." },
);
