import type { CreateWebCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { HttpError } from "../../problem.ts";
import { WebCall, WebCallBody } from "../../schemas/web-calls.ts";
import { draftIdOf } from "../draft.ts";
import { endpoint } from "../endpoint.ts";
import { versionOf } from "../version.ts";

export const WEB_CALLS = "/v1/public/web-calls";

/** Limit for the given values, which are stored until the call begins. */
const GIVEN_BYTES_MAX = 64 * 1024;

export function webCallRoutes(gate: GateContext, { agents, voices }: Clients) {
  return new Elysia().post(
    WEB_CALLS,
    ...endpoint(
      gate,
      {
        id: "createWebCall",
        tag: "Calls",
        summary: "Let a browser call an agent",
        description:
          "Request it from your server, where the API key is, and pass `url` and `token` to the page. The page connects with WHIP (docs/calls.md). Over the call's data channel, it gets captions and makes calls of the agent's client tools, if it opens the channel with the subprotocol `client_tools`.",
        scope: "calls",
        body: WebCallBody,
        response: WebCall,
        refuses: ["condition", "not_found", "forbidden", "conflict"],
      },
      async (admitted) => {
        const { ownerId, body, idempotency, write, request } = admitted;
        refuseMuch(body);
        const draftId = await draftIdOf(agents, admitted);
        const created = await voices.createWebCall(
          {
            ownerId,
            agentId: body.agent_id,
            dynamicVariables: body.dynamic_variables ?? undefined,
            metadata: body.metadata ?? undefined,
            idempotency,
            ...(draftId === undefined ? versionOf(body) : { draftId }),
          },
          write,
        );
        return presentWebCall(created, gate.publicUrl || new URL(request.url).origin);
      },
    ),
  );
}

/** @throws HttpError 413 */
function refuseMuch({ dynamic_variables, metadata }: typeof WebCallBody.static): void {
  if (Buffer.byteLength(JSON.stringify([dynamic_variables, metadata])) <= GIVEN_BYTES_MAX) return;
  throw new HttpError(413, "dynamic_variables and metadata must be at most 64 KiB together");
}

function presentWebCall({ conversationId, token, expiresAt, iceServers }: CreateWebCallResponse, base: string) {
  return {
    conversation_id: conversationId,
    url: `${base}${WEB_CALLS}/${conversationId}`,
    token,
    ice_servers: iceServers.map(({ urls, username, credential }) => ({
      urls,
      ...(username !== undefined && { username }),
      ...(credential !== undefined && { credential }),
    })),
    expires_at: required(expiresAt).toISOString(),
  };
}
