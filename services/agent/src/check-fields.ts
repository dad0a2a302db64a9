import type { AgentKnowledge, StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKnowledgeList } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { invalid } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { isTimeZone } from "@parley/shared/text/time-zone";
import { checkProviders, type ProviderConfigs } from "./check-providers.ts";
import type { AgentContext } from "./context.ts";
import { checkKnowledge } from "./knowledge/check-knowledge.ts";
import { checkStartWebhook, secretsOfStartWebhook } from "./start-webhook/check-start-webhook.ts";
import { requireSecrets } from "./tools/tool-uses.ts";

interface GivenFields extends ProviderConfigs {
  ownerId: string;
  timezone?: string | undefined;
  startWebhook: StartWebhook | undefined;
  knowledge: AgentKnowledge[] | AgentKnowledgeList | undefined;
}

/** Checks the fields of an agent that a request gives. @throws ServiceError invalid at the first rule that one of them breaks */
export async function checkFields(
  ctx: Pick<AgentContext, "catalogue" | "allowedHosts" | "accounts" | "knowledge">,
  given: GivenFields,
  origin: CallOrigin,
): Promise<void> {
  const { ownerId, timezone, startWebhook, knowledge = [] } = given;
  checkProviders(ctx, given);
  if (timezone !== undefined && !isTimeZone(timezone))
    throw invalid("timezone", "timezone must be an IANA time zone, such as Europe/Berlin");
  await checkKnowledge(ctx, ownerId, Array.isArray(knowledge) ? knowledge : knowledge.values, origin);
  if (!startWebhook) return;
  checkStartWebhook(startWebhook, ctx.allowedHosts);
  await requireSecrets(ctx, ownerId, secretsOfStartWebhook(startWebhook), origin);
}
