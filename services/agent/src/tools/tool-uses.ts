import type { Tool, ToolAuth } from "@parley/proto/parley/agent/v1/tool.ts";
import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";

/** A secret that something refers to, and where. */
export interface SecretUse {
  path: string;
  name: string;
}

/** The names of the owner's secrets that a tool refers to. */
export function secretNamesOf(kind: Tool["kind"]): string[] {
  return [...new Set(secretsOf(kind).map(({ name }) => name))];
}

/** @throws ServiceError invalid, naming every place that refers to a secret that the owner does not have */
export async function requireSecrets(
  { accounts }: Pick<AgentContext, "accounts">,
  ownerId: string,
  uses: readonly SecretUse[],
  origin: CallOrigin,
): Promise<void> {
  if (uses.length === 0) return;
  const used = [...new Set(uses.map(({ name }) => name))];
  const { names } = await accounts.findSecrets({ ownerId, names: used }, { origin });
  const violations = uses
    .filter(({ name }) => !names.includes(name))
    .map(({ path, name }) => ({ path, message: `${path} must be one of your secrets: there is no ${name}` }));
  if (violations[0]) throw new ServiceError("invalid", violations[0].message, { violations });
}

/** The secrets that a tool refers to. */
export function secretsOf(kind: Tool["kind"]): SecretUse[] {
  if (!kind || kind.$case === "client") return [];
  const { headers, auth } = kind.value;
  const parameters = kind.$case === "http" ? kind.value.parameters : [];
  return [
    ...headers.flatMap(({ name, value }) =>
      value?.$case === "secret" ? [{ path: `headers.${name}.secret`, name: value.value }] : [],
    ),
    ...secretOfAuth(auth).map((name) => ({ path: "auth.secret", name })),
    ...parameters.flatMap(({ source }, at) =>
      source?.$case === "secret" ? [{ path: `parameters.${at}.secret`, name: source.value }] : [],
    ),
  ];
}

function secretOfAuth(auth: ToolAuth | undefined): string[] {
  return auth?.kind ? [auth.kind.value.secret] : [];
}
