import type { StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import { invalid } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { isTimeZone } from "@parley/shared/text/time-zone";
import { checkProviders, type ProviderConfigs } from "./check-providers.ts";
import type { AgentContext } from "./context.ts";
import { keySecretsOf } from "./model-keys/key-secrets.ts";
import { checkStartWebhook, secretsOfStartWebhook } from "./start-webhook/check-start-webhook.ts";
import { requireSecrets } from "./tools/tool-uses.ts";

interface GivenFields extends ProviderConfigs {
  ownerId: string;
  timezone?: string | undefined;
  startWebhook: StartWebhook | undefined;
}

/** Checks the fields of an agent that a request gives. @throws ServiceError invalid at the first rule that one of them breaks */
export async function checkFields(
  ctx: Pick<AgentContext, "catalogue" | "allowedHosts" | "accounts">,
  given: GivenFields,
  origin: CallOrigin,
): Promise<void> {
  const { ownerId, timezone, startWebhook } = given;
  checkProviders(ctx, given);
  if (timezone !== undefined && !isTimeZone(timezone))
    throw invalid("timezone", "timezone must be an IANA time zone, such as Europe/Berlin");
  if (startWebhook) checkStartWebhook(startWebhook, ctx.allowedHosts);
  const ofStart = startWebhook ? secretsOfStartWebhook(startWebhook) : [];
  await requireSecrets(ctx, ownerId, [...keySecretsOf(given), ...ofStart], origin);
}
