import { SendWhatsAppTemplateResponse } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { newUuid } from "@parley/shared/ids";
import { E164 } from "@parley/shared/phone/e164";
import type { Handler } from "../../../context.ts";
import { insertOutgoing } from "../../../store/outgoing.ts";
import { GIVE_UP_MS } from "../../../threads/back-off.ts";
import { countDay } from "../../../threads/count-day.ts";
import { enqueueThreads } from "../../../threads/thread-queue.ts";
import type { WhatsAppContext } from "../context.ts";
import { checkTemplate, templateText } from "../template.ts";

/** The template is durable once the call returns: a job begins the conversation and sends it. */
export function sendTemplate(ctx: WhatsAppContext): Handler<"sendWhatsAppTemplate"> {
  return async (
    { ownerId, agentId, agentVersion, latestVersion, toMobileNumber, template: given, idempotency },
    call,
  ) => {
    const { name = "", language = "", components = [] } = given ?? {};
    const template = { name, language, components };
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: SendWhatsAppTemplateResponse, call },
      {
        prepare: async () => {
          if (!E164.test(toMobileNumber))
            throw invalid(
              "to_mobile_number",
              "to_mobile_number must be a phone number in E.164 form, such as +14155550123",
            );
          checkTemplate(template);
          // Refuses an agent that does not exist or is another owner's, too.
          const asked = { ownerId, agentId, agentVersion, latestVersion };
          const checked = await ctx.conversations.checkRoom(asked, { origin: call });
          const connection = await ctx.connections.ofAgent(ownerId, agentId);
          if (connection) return { ...connection, version: latestVersion ? checked.agentVersion : agentVersion };
          throw new ServiceError(
            "condition",
            "The agent has no WhatsApp number: connect one with its agent_id in POST /v1/manage/carriers",
          );
        },
        write: async (tx, { carrierId, version }) => {
          const now = ctx.clock.now();
          const [messageId, conversationId] = [newUuid(), newUuid()];
          const key = { ownerId, carrierId, contact: toMobileNumber.slice(1) };
          const content = { type: "template", template, text: templateText(template), agentVersion: version } as const;
          const giveUpAt = new Date(now.getTime() + GIVE_UP_MS);
          const message = {
            ...key,
            channel: ctx.channel.name,
            messageId,
            conversationId,
            agentId,
            sequence: null,
            content,
            giveUpAt,
          };
          await countDay(tx, ctx.channel, ownerId, 1, now);
          await insertOutgoing(tx, [message], now);
          await enqueueThreads(tx, [{ ...key, dueAt: now }]);
          return { messageId, conversationId };
        },
      },
    );
  };
}
