import { CARRIERS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { MobileNumber } from "../catalogue.ts";
import { At, Resource } from "../resources.ts";
import { About, E164, Nullable, OneOf, Text } from "../types.ts";

const Carrier = OneOf(CARRIERS, { description: "Carrier that the number was bought from." });

export const AddNumberBody = Type.Object(
  { mobile_number: E164, telephony_provider: Carrier },
  { $id: "AddMobileNumberRequest", description: "A phone number bought from a carrier." },
);

export const OwnNumber = Resource("OwnMobileNumber", {
  ...MobileNumber.properties,
  carrier_id: Nullable(Type.String(), "ID of the carrier that it was imported from; null if it was only added."),
});

const PROOF = {
  state: OneOf(["PROVEN", "UNPROVEN", "REPLACED"], {
    description:
      "Whether you have proven that the number is yours. REPLACED: another owner has, and your claim has no effect.",
  }),
  proven_by: Nullable(
    OneOf(["CARRIER", "CODE", "OPERATOR"]),
    "How: the carrier account has it, a call told you a code, or the operator vouches for you.",
  ),
  note: Nullable(Type.String(), "What happened if another owner has claimed the number too."),
};

export const ProvenNumber = Resource("ProvenMobileNumber", { ...OwnNumber.properties, ...PROOF });

export const ShowNumbersQuery = Type.Object({
  include: Type.Optional(
    OneOf(["proof"], { description: "`proof` adds whether you have proven that each number is yours." }),
  ),
});

export const CodeCall = Resource("CodeCall", {
  expires_at: At("Until when the code can be entered."),
});

export const ProofBody = Type.Object(
  {
    code: Text({
      pattern: "^\\d{6}$",
      form: "be the six digits that the call told",
      description: "The six digits that the call told.",
      example: "042137",
    }),
  },
  { $id: "ProveMobileNumberRequest", description: "What proves that the number is yours." },
);

export const NumberList = Resource("NumberList", {
  mobile_numbers: Type.Array(
    Resource("ListedMobileNumber", {
      ...OwnNumber.properties,
      state: Type.Optional(
        About(PROOF.state, "With `include=proof`: whether you have proven that the number is yours."),
      ),
      proven_by: Type.Optional(About(PROOF.proven_by, "With `include=proof`: how.")),
      note: Type.Optional(About(PROOF.note, "With `include=proof`: what another owner has to do with it.")),
    }),
    { description: "All phone numbers, oldest first." },
  ),
});
