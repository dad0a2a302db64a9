import { Type } from "@sinclair/typebox";
import { At, PageFigures, Resource } from "../resources.ts";
import { E164, PageQuery } from "../types.ts";

export const ListDoNotCallQuery = Type.Object(PageQuery);

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
