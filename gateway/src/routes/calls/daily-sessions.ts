import { CARRIER_CALL_MS } from "@parley/shared/carriers/rest";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { DailySession, DailySessionBody } from "../../schemas/daily.ts";
import { endpoint } from "../endpoint.ts";
import { versionOf } from "../version.ts";

/** Limit for a request, which is stored until the session has ended. */
const BODY_BYTES_MAX = 64 * 1024;

export function dailySessionRoutes(gate: GateContext, { voices }: Clients) {
  return new Elysia().post(
    "/v1/public/daily/sessions",
    ...endpoint(
      gate,
      {
        id: "createDailySession",
        tag: "Calls",
        summary: "Open a Daily room with an agent",
        description:
          "Creates a private room and a token for one person. The agent joins when that person enters, which must be within two minutes, and leaves when they leave (docs/daily.md).",
        scope: "calls",
        body: DailySessionBody,
        bodyBytesMax: BODY_BYTES_MAX,
        response: DailySession,
        refuses: ["condition", "not_found", "forbidden", "conflict", "carrier"],
      },
      async ({ ownerId, body, idempotency, write }) => {
        const created = await voices.createDailySession(
          {
            ownerId,
            agentId: body.agent_id,
            ...versionOf(body),
            dynamicVariables: body.dynamic_variables ?? undefined,
            metadata: body.metadata ?? undefined,
            expiresInSeconds: body.expires_in_seconds ?? undefined,
            idempotency,
          },
          { ...write, timeoutMs: CARRIER_CALL_MS },
        );
        return {
          conversation_id: created.conversationId,
          room_url: created.roomUrl,
          room_name: created.roomName,
          token: created.token,
          expires_at: required(created.expiresAt).toISOString(),
        };
      },
    ),
  );
}
