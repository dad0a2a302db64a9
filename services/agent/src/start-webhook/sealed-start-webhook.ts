import { StartFailure, type StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ToolHeader } from "@parley/proto/parley/agent/v1/tool.ts";
import { START_WEBHOOK_MS } from "@parley/shared/domain/start-webhook";
import { STARS } from "@parley/shared/sealing";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import { type KeyUse, type ModelKeys, useOf } from "../model-keys/model-keys.ts";
import { type Before, openKey, sealKey } from "../model-keys/sealed-key.ts";
import {
  ADDRESS_OF_START_SECRET,
  addressOfStartHeader,
  type StoredHeader,
  type StoredStartWebhook,
} from "../store/stored-keys.ts";

/**
 * Prepares a start webhook for storing. The mask of a header's value stands for the value that it was made from, as long as that still
 * goes to the same address. Without a secret the agent's own stays, or it gets a new one.
 * @param before null for a new agent that is no copy
 * @throws ServiceError as `sealKey` does
 */
export function sealStartWebhook(
  { url, headers, secret, timeoutMs, onFailure, channels }: StartWebhook,
  before: Before<StoredStartWebhook> | null,
  keys: ModelKeys,
  agent: AgentKey,
): StoredStartWebhook {
  const { of = agent, config: stored = null } = before ?? {};
  const kept = stored ? [{ ...stored.secret, use: useOfSecret(of) }] : [];
  const ownSecret = of.agentId === agent.agentId ? stored?.secret.apiKeyMask : undefined;
  const given = secret ?? ownSecret ?? newSigningSecret();
  const sealHeader = ({ name, value }: ToolHeader): StoredHeader => {
    if (value?.$case === "secret") return { name, secret: value.value };
    const known = (stored?.headers ?? []).flatMap((header) =>
      header.name === name && header.text ? [{ ...header.text, use: useOfHeader(of, stored?.url ?? "", name) }] : [],
    );
    const use = useOfHeader(agent, url, name);
    return { name, text: sealKey(value?.value ?? "", use, known, keys, `start_webhook.headers.${name}`, "url") };
  };
  return {
    url,
    headers: headers.map(sealHeader),
    secret: sealKey(given, useOfSecret(agent), kept, keys, "start_webhook.secret"),
    timeoutMs: timeoutMs || START_WEBHOOK_MS.usual,
    onFailure: onFailure || StartFailure.START_FAILURE_CONTINUE,
    channels,
  };
}

/** The webhook as its owner may see it. */
export function maskedStartWebhook(stored: StoredStartWebhook): StartWebhook {
  return revealed(stored, stored.secret.apiKeyMask, ({ text }) => text?.apiKeyMask);
}

/** The webhook as a conversation asks it; without its secret if something of it cannot be opened. */
export function openStartWebhook(stored: StoredStartWebhook, keys: ModelKeys, agent: AgentKey): StartWebhook {
  const open = (sealed: string | undefined, use: KeyUse) => (sealed ? openKey(sealed, use, keys) : null);
  const texts = new Map(
    stored.headers.map((header) => [
      header.name,
      header.text && open(header.text.sealedApiKey, useOfHeader(agent, stored.url, header.name)),
    ]),
  );
  const isUnreadable = [...texts.values()].includes(null);
  const secret = isUnreadable ? null : open(stored.secret.sealedApiKey, useOfSecret(agent));
  return revealed(stored, secret ?? undefined, ({ name }) => texts.get(name) ?? undefined);
}

/** The secret, if this change has set it; it is shown once. */
export function newSecretOf(
  given: StartWebhook | undefined,
  before: StoredStartWebhook | null,
  stored: StoredStartWebhook | null,
  keys: ModelKeys,
  agent: AgentKey,
): string | null {
  const isNew = given?.secret === undefined ? before === null : !given.secret.startsWith(STARS);
  if (!given || !stored?.secret.sealedApiKey || !isNew) return null;
  return openKey(stored.secret.sealedApiKey, useOfSecret(agent), keys);
}

function revealed(
  { url, headers, timeoutMs, onFailure, channels }: StoredStartWebhook,
  secret: string | undefined,
  textOf: (header: StoredHeader) => string | undefined,
): StartWebhook {
  const shown = headers.map((header): ToolHeader => {
    const { name, secret: of } = header;
    if (of !== undefined) return { name, value: { $case: "secret", value: of } };
    return { name, value: { $case: "text", value: textOf(header) ?? "" } };
  });
  return { url, headers: shown, secret, timeoutMs, onFailure, channels };
}

function useOfSecret(agent: AgentKey): KeyUse {
  return useOf(agent, ADDRESS_OF_START_SECRET);
}

function useOfHeader(agent: AgentKey, url: string, name: string): KeyUse {
  return useOf(agent, addressOfStartHeader(url, name));
}
