import { CARRIER_CALL_MS } from "@parley/shared/carriers/rest";
import { presentOwnNumber, presentProvenNumber } from "@parley/shared/domain/present/account";
import { isoTime } from "@parley/shared/domain/present/time";
import { notFound } from "@parley/shared/errors";
import { E164 } from "@parley/shared/phone/e164";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { Done } from "../../schemas/manage/fields.ts";
import {
  AddNumberBody,
  CodeCall,
  NumberList,
  OwnNumber,
  ProofBody,
  ProvenNumber,
  ShowNumbersQuery,
} from "../../schemas/manage/mobile-numbers.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function mobileNumberRoutes(gate: GateContext, { accounts }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/mobile-numbers" })
    .get(
      "/",
      ...route(
        {
          id: "listOwnMobileNumbers",
          summary: "List phone numbers in the order in which they were added",
          query: ShowNumbersQuery,
          response: NumberList,
        },
        async ({ ownerId, query, origin }) => {
          const { mobileNumbers } = await accounts.listMobileNumbers({ ownerId }, { origin });
          const present = query.include === "proof" ? presentProvenNumber : presentOwnNumber;
          return { mobile_numbers: mobileNumbers.map(present) };
        },
      ),
    )
    .post(
      "/",
      ...route(
        {
          id: "addMobileNumber",
          summary: "Add a phone number bought from a carrier",
          body: AddNumberBody,
          response: OwnNumber,
          refuses: ["conflict"],
        },
        async ({ ownerId, body, origin }) => {
          const given = { mobileNumber: body.mobile_number, telephonyProvider: body.telephony_provider };
          const { mobileNumber } = await accounts.addMobileNumber({ ownerId, mobileNumber: given }, { origin });
          return presentOwnNumber(required(mobileNumber));
        },
      ),
    )
    .post(
      "/:mobile_number/code-calls",
      ...route(
        {
          id: "callWithCode",
          summary: "Have a phone number called, to tell a code that proves whose it is",
          description:
            "Needs an installation whose operator makes such calls (docs/carriers.md#whose-number-it-is). At most 5 a day at one number.",
          response: CodeCall,
          refuses: ["condition", "not_found", "carrier"],
        },
        async ({ ownerId, params, origin }) => {
          const request = { ownerId, mobileNumber: numberOf(params) };
          const { expiresAt } = await accounts.callWithCode(request, { origin, timeoutMs: CARRIER_CALL_MS });
          return { expires_at: isoTime(required(expiresAt)) };
        },
      ),
    )
    .post(
      "/:mobile_number/proof",
      ...route(
        {
          id: "proveMobileNumber",
          summary: "Prove by a code that a phone number is yours",
          description: "Replaces another owner's claim that is not proven. You may import the number afterwards.",
          body: ProofBody,
          response: ProvenNumber,
          refuses: ["conflict", "not_found"],
        },
        async ({ ownerId, params, body, origin }) => {
          const request = { ownerId, mobileNumber: numberOf(params), code: body.code };
          const { mobileNumber } = await accounts.confirmCode(request, { origin });
          return presentProvenNumber(required(mobileNumber));
        },
      ),
    )
    .delete(
      "/:mobile_number",
      ...route(
        {
          id: "removeMobileNumber",
          summary: "Remove a phone number",
          description:
            "An imported number gets its previous settings at the carrier back, later if the carrier is down.",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          await accounts.removeMobileNumber({ ownerId, mobileNumber: numberOf(params) }, { origin });
          return { message: "Mobile number removed" };
        },
      ),
    );
}

/** A malformed id in a path is 404; the account service cannot know that the number came from a path. */
function numberOf({ mobile_number = "" }: Readonly<Record<string, string | undefined>>): string {
  if (!E164.test(mobile_number)) throw notFound("Mobile number");
  return mobile_number;
}
