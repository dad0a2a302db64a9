import type { StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import { CHANNELS } from "@parley/shared/domain/channels";
import { START_WEBHOOK_MS } from "@parley/shared/domain/start-webhook";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { checkAddress } from "@parley/shared/egress/url";
import { invalid } from "@parley/shared/errors";
import { STARS } from "@parley/shared/sealing";
import { checkHeaderName, checkHeaderValue } from "../tools/check-headers.ts";
import type { SecretUse } from "../tools/tool-uses.ts";

const PATH = "start_webhook";
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/** @throws ServiceError invalid at the first rule that the webhook breaks */
export function checkStartWebhook(given: StartWebhook, allowedHosts: AllowList): void {
  const { url, headers, secret, timeoutMs, channels } = given;
  checkAddress(`${PATH}.url`, url, allowedHosts);
  const taken = new Set<string>();
  for (const { name, value } of headers) {
    const path = `${PATH}.headers.${name}`;
    checkHeaderName(path, name);
    if (value?.$case === "text") checkHeaderValue(path, value.value);
    if (taken.has(name.toLowerCase())) throw invalid(path, `${path} must not be repeated`);
    taken.add(name.toLowerCase());
  }
  if (secret !== undefined && !secret.startsWith(STARS) && !SECRET.test(secret))
    throw invalid(`${PATH}.secret`, `${PATH}.secret must be whsec_ and at least 24 bytes in base64`);
  const { min, max } = START_WEBHOOK_MS;
  if (timeoutMs !== 0 && (timeoutMs < min || timeoutMs > max))
    throw invalid(`${PATH}.timeout_ms`, `${PATH}.timeout_ms must be from ${min} to ${max}`);
  for (const [at, channel] of channels.entries()) {
    const path = `${PATH}.channels.${at}`;
    if (!CHANNELS.some((known) => known === channel))
      throw invalid(path, `${path} must be one of ${CHANNELS.join(", ")}`);
    if (channels.indexOf(channel) !== at) throw invalid(path, `${path} must not be repeated: ${channel}`);
  }
}

/** The owner's secrets that its headers refer to. */
export function secretsOfStartWebhook({ headers }: Pick<StartWebhook, "headers">): SecretUse[] {
  return headers.flatMap(({ name, value }) =>
    value?.$case === "secret" ? [{ path: `${PATH}.headers.${name}.secret`, name: value.value }] : [],
  );
}
