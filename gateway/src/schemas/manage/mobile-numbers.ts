import { CARRIERS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { MobileNumber } from "../catalogue.ts";
import { Resource } from "../resources.ts";
import { E164, Nullable, OneOf } from "../types.ts";

const Carrier = OneOf(CARRIERS, { description: "Carrier that the number was bought from." });

export const AddNumberBody = Type.Object(
  { mobile_number: E164, telephony_provider: Carrier },
  { $id: "AddMobileNumberRequest", description: "A phone number bought from a carrier." },
);

export const OwnNumber = Resource("OwnMobileNumber", {
  ...MobileNumber.properties,
  carrier_id: Nullable(Type.String(), "ID of the carrier that it was imported from; null if it was only added."),
});

export const NumberList = Resource("NumberList", {
  mobile_numbers: Type.Array(OwnNumber, { description: "All phone numbers, oldest first." }),
});
