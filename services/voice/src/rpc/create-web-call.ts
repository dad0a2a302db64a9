import { CreateWebCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { RoomSettings } from "@parley/shared/domain/full";
import { runPrepared } from "@parley/shared/idempotency/run";
import { sealedResponses } from "@parley/shared/idempotency/sealed-responses";
import { newUuid } from "@parley/shared/ids";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import { askedVersion, CALL_SECONDS_MAX } from "../call/port.ts";
import type { Handler } from "../feature.ts";
import { insertWebCall } from "../store/web-calls.ts";
import { newToken, tokenDigest } from "../token.ts";
import type { WebCallContext } from "../web-calls/context.ts";

/** Long enough for a page to load and a person to allow the microphone. */
const VALID_MS = 5 * 60_000;
/** Of one owner: 2,000 with the most that they may be created with, or 200,000 small ones. */
const ROOM: RoomSettings = {
  bytesMax: 128 * 1024 ** 2,
  what: "The web calls that no browser has connected yet",
  remedy: "they expire after five minutes",
};

export function createWebCall(ctx: WebCallContext): Handler<"createWebCall"> {
  return async ({ ownerId, agentId, dynamicVariables = {}, metadata = {}, idempotency, draftId, ...version }, call) =>
    runPrepared(
      ctx,
      { ownerId, idempotency, codec: sealedResponses(CreateWebCallResponse, ctx.sealer, ownerId), call },
      {
        // Refuses what would refuse the call: an agent of another owner, a variable that cannot be filled, a missing key.
        prepare: () =>
          ctx.checkAgent({
            ...{ ownerId, agentId, dynamicVariables, metadata, draftId: draftId ?? null, ...version },
            channel: { type: "WEB" },
          }),
        write: async (tx, checked): Promise<CreateWebCallResponse> => {
          const conversationId = newUuid();
          const token = newToken();
          const createdAt = ctx.clock.now();
          const expiresAt = new Date(createdAt.getTime() + VALID_MS);
          const digest = tokenDigest(token);
          const row = { ownerId, conversationId, agentId, dynamicVariables, metadata, draftId: draftId ?? null };
          const agentVersion = askedVersion(version, checked);
          const insert = () => insertWebCall(tx, { ...row, agentVersion, tokenDigest: digest, createdAt, expiresAt });
          await withinRoom(tx, ownerId, ROOM, insert);
          const until = new Date(expiresAt.getTime() + CALL_SECONDS_MAX * 1_000);
          return { conversationId, token, expiresAt, iceServers: ctx.iceServersFor({ conversationId, until }) };
        },
      },
    );
}
