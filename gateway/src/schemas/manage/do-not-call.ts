import { Type } from "@sinclair/typebox";
import { At, PageFigures, Resource } from "../resources.ts";
import { E164, PageQuery, Text } from "../types.ts";

export const ListDoNotCallQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Text({
      max: 40,
      description:
        "A number or its beginning, with or without the plus. Spaces, brackets, dots and hyphens are ignored.",
      example: "+1415",
    }),
  ),
});

export const DoNotCallBody = Type.Object(
  { mobile_number: E164 },
  { $id: "AddDoNotCallRequest", description: "A number that your agents must not call." },
);

export const DoNotCallEntry = Resource(
  "DoNotCallNumber",
  {
    mobile_number: Type.String({ description: "The number.", examples: ["+14155550188"] }),
    created_at: At("When it was put on the list."),
  },
  "A number that your agents must not call.",
);

export const DoNotCallList = Resource("DoNotCallList", {
  numbers: Type.Array(DoNotCallEntry, { description: "Sorted by their digits." }),
  ...PageFigures,
});
