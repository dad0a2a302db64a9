import { presentDoNotCall } from "@parley/shared/domain/present/do-not-call";
import { notFound } from "@parley/shared/errors";
import { E164 } from "@parley/shared/phone/e164";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import { DoNotCallBody, DoNotCallEntry, DoNotCallList, ListDoNotCallQuery } from "../../schemas/manage/do-not-call.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function doNotCallRoutes(gate: GateContext, { voices }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/do-not-call" })
    .get(
      "/",
      ...route(
        {
          id: "listDoNotCall",
          summary: "List the numbers that agents must not call",
          query: ListDoNotCallQuery,
          isList: true,
          response: DoNotCallList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { numbers, total } = await voices.listDoNotCall(
            { ownerId, page, search: query.search ?? "" },
            { origin },
          );
          return { numbers: numbers.map(presentDoNotCall), ...pageFigures(total, page) };
        },
      ),
    )
    .post(
      "/",
      ...route(
        {
          id: "addDoNotCall",
          summary: "Add a number to the do-not-call list",
          description: "Calls to it are refused, and batches skip it. Safe to repeat.",
          body: DoNotCallBody,
          response: DoNotCallEntry,
          refuses: ["condition"],
        },
        async ({ ownerId, body, origin }) => {
          const { number } = await voices.addDoNotCall({ ownerId, mobileNumber: body.mobile_number }, { origin });
          return presentDoNotCall(required(number));
        },
      ),
    )
    .delete(
      "/:mobile_number",
      ...route(
        {
          id: "removeDoNotCall",
          summary: "Remove a number from the do-not-call list",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const mobileNumber = params.mobile_number ?? "";
          if (!E164.test(mobileNumber)) throw notFound("Number on the do-not-call list");
          await voices.removeDoNotCall({ ownerId, mobileNumber }, { origin });
          return { message: "Number removed from the do-not-call list" };
        },
      ),
    );
}
