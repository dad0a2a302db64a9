import type { Carrier } from "@parley/proto/parley/account/v1/account.ts";
import type { ListTrunkRegistrationsResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { CARRIER_CALL_MS } from "@parley/shared/carriers/rest";
import { presentOwnNumber } from "@parley/shared/domain/present/account";
import {
  presentCarrier,
  presentCarrierNumber,
  presentRegistration,
  presentSip,
  readCarrierSettings,
} from "@parley/shared/domain/present/carrier";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import {
  CarrierList,
  CarrierNumbers,
  ConnectCarrierBody,
  Carrier as ConnectedCarrier,
  ImportNumberBody,
  ShowCarrierQuery,
  ShownCarrier,
} from "../../schemas/manage/carriers.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { OwnNumber } from "../../schemas/manage/mobile-numbers.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function carrierRoutes(gate: GateContext, { accounts, voices }: Clients) {
  const route = endpoints(gate, MANAGED);
  const trunksOf = (ownerId: string, include: string | undefined, origin: CallOrigin) =>
    include === "registration" ? voices.listTrunkRegistrations({ ownerId }, { origin }) : null;

  return new Elysia({ prefix: "/v1/manage/carriers" })
    .get(
      "/",
      ...route(
        {
          id: "listCarriers",
          summary: "List connected carriers in the order in which they were connected",
          query: ShowCarrierQuery,
          response: CarrierList,
        },
        async ({ ownerId, query, origin }) => {
          const [{ carriers }, trunks] = await Promise.all([
            accounts.listCarriers({ ownerId }, { origin }),
            trunksOf(ownerId, query.include, origin),
          ]);
          return { carriers: carriers.map((carrier) => shown(carrier, trunks)), ...(trunks && presentSip(trunks)) };
        },
      ),
    )
    .post(
      "/",
      ...route(
        {
          id: "connectCarrier",
          summary: "Connect an account with a carrier, after verifying the credentials there",
          description: "Connecting an account again replaces its credentials.",
          body: ConnectCarrierBody,
          response: ConnectedCarrier,
          refuses: ["condition", "conflict", "carrier"],
        },
        async ({ ownerId, body, origin }) => {
          const settings = readCarrierSettings(body);
          const request = { ownerId, provider: body.provider, settings };
          const { carrier } = await accounts.connectCarrier(request, { origin, timeoutMs: CARRIER_CALL_MS });
          return presentCarrier(required(carrier));
        },
      ),
    )
    .get(
      "/:carrier_id",
      ...route(
        {
          id: "getCarrier",
          summary: "Get a connected carrier",
          query: ShowCarrierQuery,
          response: ShownCarrier,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const { carrier } = await accounts.getCarrier({ ownerId, carrierId: params.carrier_id ?? "" }, { origin });
          return shown(required(carrier), await trunksOf(ownerId, query.include, origin));
        },
      ),
    )
    .delete(
      "/:carrier_id",
      ...route(
        {
          id: "disconnectCarrier",
          summary: "Disconnect a carrier that has no phone numbers left",
          response: Done,
          refuses: ["conflict", "not_found"],
        },
        async ({ ownerId, params, origin }) => {
          await accounts.disconnectCarrier({ ownerId, carrierId: params.carrier_id ?? "" }, { origin });
          return { message: "Carrier disconnected" };
        },
      ),
    )
    .get(
      "/:carrier_id/numbers",
      ...route(
        {
          id: "listCarrierNumbers",
          summary: "List the phone numbers of a carrier account",
          response: CarrierNumbers,
          refuses: ["condition", "not_found", "carrier"],
        },
        async ({ ownerId, params, origin }) => {
          const request = { ownerId, carrierId: params.carrier_id ?? "" };
          const { numbers } = await accounts.listCarrierNumbers(request, { origin, timeoutMs: CARRIER_CALL_MS });
          return { numbers: numbers.map(presentCarrierNumber) };
        },
      ),
    )
    .post(
      "/:carrier_id/numbers",
      ...route(
        {
          id: "importCarrierNumber",
          summary: "Import a phone number, so that its calls reach Parley",
          description: "Removing the number restores its previous settings at the carrier.",
          body: ImportNumberBody,
          response: OwnNumber,
          refuses: ["condition", "conflict", "not_found", "carrier"],
        },
        async ({ ownerId, params, body, origin }) => {
          const request = { ownerId, carrierId: params.carrier_id ?? "", mobileNumber: body.mobile_number };
          const { mobileNumber } = await accounts.importCarrierNumber(request, { origin, timeoutMs: CARRIER_CALL_MS });
          return presentOwnNumber(required(mobileNumber));
        },
      ),
    );
}

/** @param trunks how the registrations stand; null if that was not asked for */
function shown(carrier: Carrier, trunks: ListTrunkRegistrationsResponse | null) {
  return { ...presentCarrier(carrier), ...(trunks && { registration: presentRegistration(carrier, trunks) }) };
}
