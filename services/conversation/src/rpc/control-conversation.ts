import { invalid } from "@parley/shared/errors";
import { actorText } from "@parley/shared/rpc/actor";
import { counter } from "@parley/shared/telemetry/instruments";
import type { ConversationContext, Handler } from "../context.ts";
import { readConversation } from "../lists/read-conversation.ts";
import { controlCall, controlText, hasEnded } from "../live/control.ts";
import { operatorState } from "../live/operator-state.ts";
import { findConversation } from "../store/conversations.ts";

const controls = counter("parley.live.controls", "Actions of operators in running conversations, by action");

export function controlConversation(ctx: ConversationContext): Handler<"controlConversation"> {
  return async ({ ownerId, conversationId, action }, { actor, log }) => {
    if (!action) throw invalid("action", "action is required");
    const row = await readConversation(ctx, { ownerId, conversationId }, "Conversation");
    if (row.status !== "IN_PROGRESS") throw hasEnded();
    const control = row.type === "CHAT" || row.type === "WHATSAPP" ? controlText : controlCall;
    await control({ ctx, row, actor }, action);
    controls().add(1, { action: action.$case });
    log.info(
      { conversation_id: conversationId, action: action.$case, actor: actorText(actor) },
      "conversation steered",
    );
    return { operator: operatorState((await findConversation(ctx.db, row, ctx.clock.now())) ?? row) };
  };
}
