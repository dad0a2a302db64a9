import { presentOwnNumber } from "@parley/shared/domain/present/account";
import { notFound } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { AddNumberBody, NumberList, OwnNumber } from "../../schemas/manage/mobile-numbers.ts";
import { E164 } from "../../schemas/types.ts";
import { endpoint } from "../endpoint.ts";

export function mobileNumberRoutes(gate: GateContext, { accounts }: Clients) {
  return new Elysia({ prefix: "/v1/manage/mobile-numbers" })
    .get(
      "/",
      ...endpoint(
        gate,
        {
          id: "listOwnMobileNumbers",
          tag: "Management",
          summary: "List phone numbers in the order in which they were added",
          scope: "session",
          response: NumberList,
        },
        async ({ ownerId, origin }) => {
          const { mobileNumbers } = await accounts.listMobileNumbers({ ownerId }, { origin });
          return { mobile_numbers: mobileNumbers.map(presentOwnNumber) };
        },
      ),
    )
    .post(
      "/",
      ...endpoint(
        gate,
        {
          id: "addMobileNumber",
          tag: "Management",
          summary: "Add a phone number bought from a carrier",
          scope: "session",
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
    .delete(
      "/:mobile_number",
      ...endpoint(
        gate,
        {
          id: "removeMobileNumber",
          tag: "Management",
          summary: "Remove a phone number",
          description:
            "An imported number gets its previous settings at the carrier back, later if the carrier is down.",
          scope: "session",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const mobileNumber = params.mobile_number ?? "";
          if (!IS_NUMBER.test(mobileNumber)) throw notFound("Mobile number");
          await accounts.removeMobileNumber({ ownerId, mobileNumber }, { origin });
          return { message: "Mobile number removed" };
        },
      ),
    );
}

/** A malformed id in a path is 404; the account service cannot know that the number came from a path. */
const IS_NUMBER = new RegExp(E164.pattern ?? "");
