import type { RevealedSecret } from "@parley/proto/parley/account/v1/account_service.ts";
import type { ToolAuth, ToolHeader, ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import type { RevealSecrets } from "@parley/shared/domain/secret-keys";
import type { TokenRequest } from "./oauth-tokens.ts";
import { headerOf } from "./request.ts";
import { Refused, secretOf } from "./values.ts";

/** The parts of a tool that name secrets. */
interface SecretUses {
  headers: readonly ToolHeader[];
  parameters?: readonly ToolParameter[];
  auth: ToolAuth | undefined;
}

/** The secrets that a tool uses, by name, as far as they exist. */
export async function secretsOf(
  reveal: RevealSecrets,
  ownerId: string,
  { headers, parameters = [], auth }: SecretUses,
): Promise<Map<string, RevealedSecret>> {
  const ofHeaders = headers.flatMap(({ value }) => (value?.$case === "secret" ? [value.value] : []));
  const ofParameters = parameters.flatMap(({ source }) => (source?.$case === "secret" ? [source.value] : []));
  const ofAuth = auth?.kind ? [auth.kind.value.secret] : [];
  const names = [...new Set([...ofHeaders, ...ofParameters, ...ofAuth])];
  const revealed = names.length === 0 ? [] : await reveal(ownerId, names);
  return new Map(revealed.map((secret) => [secret.name, secret]));
}

/** The header that authorizes; none without `auth`, and for an OAuth client. @throws Refused without its secret */
export function authorizationOf(
  auth: ToolAuth | undefined,
  secrets: ReadonlyMap<string, string>,
): Record<string, string> {
  switch (auth?.kind?.$case) {
    case "bearer":
      return Object.fromEntries([headerOf("authorization", `Bearer ${secretOf(secrets, auth.kind.value.secret)}`)]);
    case "basic": {
      const { username, secret } = auth.kind.value;
      const credential = Buffer.from(`${username}:${secretOf(secrets, secret)}`).toString("base64");
      return { authorization: `Basic ${credential}` };
    }
    case "header":
      return Object.fromEntries([headerOf(auth.kind.value.name, secretOf(secrets, auth.kind.value.secret))]);
    default:
      return {};
  }
}

/** What of an authorizing header's value must not be seen. */
export function credentialOf(value: string): string {
  return value.replace(/^(?:Bearer|Basic) /, "");
}

/** What to ask an OAuth issuer for; null for other kinds of `auth`. @throws Refused without its secret */
export function tokenRequestOf(
  ownerId: string,
  auth: ToolAuth | undefined,
  revealed: ReadonlyMap<string, RevealedSecret>,
): TokenRequest | null {
  if (auth?.kind?.$case !== "oauth2ClientCredentials") return null;
  const secret = revealed.get(auth.kind.value.secret);
  if (!secret) throw new Refused(`Nothing was called: the secret "${auth.kind.value.secret}" does not exist.`);
  return { ...auth.kind.value, ownerId, clientSecret: secret.value };
}
