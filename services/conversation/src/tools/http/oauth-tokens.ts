import { createHash } from "node:crypto";
import type { ClientCredentialsAuth } from "@parley/proto/parley/agent/v1/tool.ts";
import type { Egress } from "@parley/shared/egress/egress";
import { parseObject } from "@parley/shared/json/json-object";
import { ownerCache } from "@parley/shared/shares/owner-cache";
import { readText } from "./read-text.ts";
import { Refused } from "./values.ts";

/** Of all owners, and of one, whose own oldest makes room. */
const TOKENS_MAX = 1_000;
const OWNER_TOKENS_MAX = 100;
const TOKEN_BYTES_MAX = 64 * 1024;
const TOKEN_MS = 10_000;

export interface TokenRequest extends ClientCredentialsAuth {
  ownerId: string;
  clientSecret: string;
}

/** OAuth tokens of clients (RFC 6749, 4.4), kept per owner, issuer, client, value of the secret and scope until they expire. */
export interface OAuthTokens {
  /** @throws Refused with the reason when the issuer gives none */
  get(request: TokenRequest): Promise<string>;
  /** Forgets a token that a server refused. */
  drop(request: TokenRequest): void;
}

export function oauthTokens(ask: Egress["ask"]): OAuthTokens {
  const tokens = ownerCache<Kept>({ totalBytes: TOKENS_MAX, ownerBytes: OWNER_TOKENS_MAX });
  return {
    async get(request) {
      const { ownerId } = request;
      const key = keyOf(request);
      const known = tokens.get(ownerId, key);
      if (known && performance.now() < known.expiresAt) return (await known.issued).token;
      const kept: Kept = { issued: fetchToken(ask, request), expiresAt: Number.POSITIVE_INFINITY };
      tokens.set(ownerId, key, kept, 1);
      try {
        const { token, expiresInMs } = await kept.issued;
        kept.expiresAt = performance.now() + expiresInMs;
        return token;
      } catch (error) {
        if (tokens.get(ownerId, key) === kept) tokens.delete(ownerId, key);
        throw error;
      }
    },
    drop: (request) => tokens.delete(request.ownerId, keyOf(request)),
  };
}

interface Issued {
  token: string;
  expiresInMs: number;
}

interface Kept {
  /** Calls that come together wait for the same one. */
  issued: Promise<Issued>;
  /** In `performance.now()` time. */
  expiresAt: number;
}

/** A secret's version comes again when it is deleted and made anew; another value has another hash. */
function keyOf({ tokenUrl, clientId, clientSecret, scope = "" }: TokenRequest): string {
  const secret = createHash("sha256").update(clientSecret).digest("base64");
  return JSON.stringify([tokenUrl, clientId, secret, scope]);
}

async function fetchToken(
  ask: Egress["ask"],
  { tokenUrl, clientId, clientSecret, scope }: TokenRequest,
): Promise<Issued> {
  const fields = new URLSearchParams({ grant_type: "client_credentials", ...(scope && { scope }) });
  const basic = btoa(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`);
  const headers = {
    accept: "application/json",
    authorization: `Basic ${basic}`,
    "content-type": "application/x-www-form-urlencoded",
    "user-agent": "Parley",
  };
  const asked = { method: "POST", headers, body: fields.toString(), signal: AbortSignal.timeout(TOKEN_MS) };
  const { status, text } = await ask(tokenUrl, asked)
    .then(async (answer) => ({ status: answer.status, ...(await readText(answer, TOKEN_BYTES_MAX)) }))
    .catch((error: unknown) => {
      throw new Refused(`Nothing was called: no token could be had. ${reasonOf(error)}.`);
    });
  const given = parseObject(text);
  const token = given?.access_token;
  if (status !== 200 || typeof token !== "string" || token === "") {
    const code = typeof given?.error === "string" ? ` (${given.error.slice(0, 100)})` : "";
    throw new Refused(`Nothing was called: ${new URL(tokenUrl).host} gave no token: HTTP status ${status}${code}.`);
  }
  // Without a time of its own a token is used once (RFC 6749, 5.1, recommends one).
  const seconds = typeof given?.expires_in === "number" ? given.expires_in : Number(given?.expires_in);
  return { token, expiresInMs: seconds > 0 ? seconds * 1_000 : 1 };
}

/** RFC 6749, 2.3.1: both parts are encoded as in a form. */
function formEncoded(text: string): string {
  return new URLSearchParams({ t: text }).toString().slice(2);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
