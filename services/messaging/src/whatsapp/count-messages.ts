import type { Sql } from "@parley/shared/db/database";
import type { MessagingContext } from "../context.ts";
import { countMessages } from "../store/message-days.ts";

const REFUSAL =
  "The account's WhatsApp numbers have had the maximum number of messages for one day: try again tomorrow, or have the operator raise PARLEY_WHATSAPP_MESSAGES_PER_DAY";

/**
 * Counts messages towards the day's limit. They are rows for weeks, and an owner, who knows the app's secret, can sign callbacks
 * about messages that nobody wrote.
 * @throws ServiceError rate_limited until the next UTC day
 */
export async function countWhatsAppMessages(
  { clock, whatsAppMessagesPerDay: max }: Pick<MessagingContext, "clock" | "whatsAppMessagesPerDay">,
  tx: Sql,
  ownerId: string,
  messages: number,
): Promise<void> {
  await countMessages(tx, "whatsapp_days", { ownerId, now: clock.now(), messages, max, refusal: REFUSAL });
}
