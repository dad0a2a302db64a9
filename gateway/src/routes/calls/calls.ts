import { CALL_STATUSES, nameOf, numberOf, VOICEMAILS } from "@parley/shared/domain/api-names";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentCall } from "../../present/call.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import { CallBody, CallList, CreatedCall, ListCallsQuery, PhoneCall } from "../../schemas/calls.ts";
import { endpoints } from "../endpoint.ts";
import { versionOf } from "../version.ts";

/** Limit for a request, which is stored until the call has ended. */
const BODY_BYTES_MAX = 64 * 1024;

export function callRoutes(gate: GateContext, { voices }: Clients) {
  const route = endpoints(gate, { tag: "Calls" });
  return new Elysia({ prefix: "/v1/public/calls" })
    .post(
      "/",
      ...route(
        {
          id: "createCall",
          summary: "Have an agent call a number",
          description:
            "The call is stored before the response is sent, and placed within an hour, in order, as your carrier account allows. It ends once, with one webhook (docs/outbound-calls.md).",
          scope: "calls",
          body: CallBody,
          bodyBytesMax: BODY_BYTES_MAX,
          response: CreatedCall,
          refuses: ["condition", "not_found", "forbidden", "conflict"],
        },
        async ({ ownerId, body, idempotency, write }) => {
          const { call } = await voices.createCall(
            {
              ownerId,
              agentId: body.agent_id,
              ...versionOf(body),
              toMobileNumber: body.to_mobile_number,
              fromMobileNumber: body.from_mobile_number ?? undefined,
              dynamicVariables: body.dynamic_variables ?? undefined,
              metadata: body.metadata ?? undefined,
              isTestCall: body.is_test_call ?? false,
              maxDurationSeconds: body.max_duration_seconds ?? undefined,
              ringSeconds: body.ring_seconds ?? undefined,
              voicemail: numberOf(VOICEMAILS, body.voicemail ?? undefined),
              idempotency,
            },
            write,
          );
          const { callId, conversationId, status } = required(call);
          return { conversation_id: conversationId, call_id: callId, status: nameOf(CALL_STATUSES, status) };
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listCalls",
          summary: "List the calls that agents make",
          description:
            "Newest first. Calls are kept for 30 days after they end, and their conversations for your retention period.",
          scope: "calls",
          query: ListCallsQuery,
          isList: true,
          response: CallList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { calls, total } = await voices.listCalls(
            {
              ownerId,
              page,
              statuses: (query.status?.split(",") ?? []).map((name) =>
                numberOf(CALL_STATUSES, name as keyof typeof CALL_STATUSES),
              ),
              agentId: query.agent_id ?? "",
              toMobileNumber: query.to_mobile_number ?? "",
              batchId: query.batch_id ?? "",
            },
            { origin },
          );
          return { calls: calls.map(presentCall), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/:call_id",
      ...route(
        {
          id: "getCall",
          summary: "Get a call",
          scope: "calls",
          response: PhoneCall,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { call } = await voices.getCall({ ownerId, callId: params.call_id ?? "" }, { origin });
          return presentCall(required(call));
        },
      ),
    )
    .post(
      "/:call_id/hangup",
      ...route(
        {
          id: "hangUpCall",
          summary: "Hang up a call",
          description:
            "Removes a call from the queue, stops its ringing, or ends it. The response may still show the call as in progress, because the carrier ends it a moment later. Has no effect on a call that has ended.",
          scope: "calls",
          response: PhoneCall,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const key = { ownerId, callId: params.call_id ?? "" };
          const { call } = await voices.hangUpCall({ ...key, idempotency }, write);
          return presentCall(required(call));
        },
      ),
    );
}
