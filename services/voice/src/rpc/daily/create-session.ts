import { CreateDailySessionResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { runPrepared } from "@parley/shared/idempotency/run";
import { sealedResponses } from "@parley/shared/idempotency/sealed-responses";
import type { DailyContext } from "../../daily/context.ts";
import { beginConversation, openSession, type PreparedSession, prepareSession } from "../../daily/new-session.ts";
import type { Handler } from "../../feature.ts";

export function createDailySession(ctx: DailyContext): Handler<"createDailySession"> {
  return async ({ idempotency, ...asked }, call) => {
    const { ownerId } = asked;
    const codec = sealedResponses(CreateDailySessionResponse, ctx.sealer, ownerId);
    let opened: PreparedSession | null = null;
    const response = await runPrepared(
      ctx,
      { ownerId, idempotency, codec, call },
      {
        // A repeat creates a room that a job deletes.
        prepare: () => prepareSession(ctx, asked),
        write: async (tx, prepared) => {
          const answer = await openSession(tx, ctx, prepared);
          opened = prepared;
          return answer;
        },
      },
    );
    if (opened) await beginConversation(ctx, opened);
    return response;
  };
}
