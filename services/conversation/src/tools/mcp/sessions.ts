import type { RevealedSecret } from "@parley/proto/parley/account/v1/account_service.ts";
import type { McpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { Egress } from "@parley/shared/egress/egress";
import { LRUCache } from "lru-cache";
import { authorizationOf, type RevealSecrets, secretsOf, tokenRequestOf } from "../http/authorization.ts";
import type { OAuthTokens } from "../http/oauth-tokens.ts";
import { headersOf } from "../http/request.ts";
import type { Sources } from "../http/values.ts";
import { connectMcp, type McpConnection } from "./connection.ts";

export interface McpServers {
  fetch: Egress["fetch"];
  revealSecrets: RevealSecrets;
  tokens: OAuthTokens;
}

export interface McpSession {
  connection: McpConnection;
  /** Values that the model and the owner must not see. */
  secrets: readonly string[];
}

/** Sessions with MCP servers, one for each conversation and tool, kept while they are used. */
export interface McpSessions {
  /** @param place whose session it is @throws McpFailure; Refused without a header's value */
  open(place: McpPlace, mcp: McpTool, signal: AbortSignal): Promise<McpSession>;
  /** Forgets a session that the server no longer knows. */
  drop(place: McpPlace): void;
  close(): void;
}

export interface McpPlace {
  ownerId: string;
  conversationId: string;
  toolId: string;
  variables: Sources["variables"];
}

const SESSIONS_MAX = 1_000;
const IDLE_MS = 300_000;

interface Kept {
  session: McpSession;
  /** A session serves only the server and the credentials that it was opened with. */
  openedWith: string;
}

export function mcpSessions(servers: McpServers): McpSessions {
  const kept = new LRUCache<string, Kept>({
    max: SESSIONS_MAX,
    ttl: IDLE_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: ({ session }) => session.connection.close(),
  });
  return {
    async open(place, mcp, signal) {
      const secrets = await secretsOf(servers.revealSecrets, place.ownerId, mcp);
      const { server, openedWith, hidden } = serverOf(servers, place, mcp, secrets);
      const known = kept.get(keyOf(place));
      if (known?.openedWith === openedWith) return known.session;
      const session = { connection: await connectMcp(server, signal), secrets: hidden };
      kept.set(keyOf(place), { session, openedWith });
      return session;
    },
    drop: (place) => kept.delete(keyOf(place)),
    close: () => kept.clear(),
  };
}

function keyOf({ ownerId, conversationId, toolId }: McpPlace): string {
  return JSON.stringify([ownerId, conversationId, toolId]);
}

function serverOf(
  { fetch, tokens }: McpServers,
  { ownerId, variables }: McpPlace,
  { url, headers, auth }: McpTool,
  revealed: ReadonlyMap<string, RevealedSecret>,
) {
  const secrets = new Map([...revealed].map(([name, { value }]) => [name, value]));
  const tokenRequest = tokenRequestOf(ownerId, auth, revealed);
  const sent = { ...headersOf(headers, { args: {}, variables, secrets }), ...authorizationOf(auth, secrets) };
  const credentials = Object.values(sent).map((value) => value.replace(/^(Bearer|Basic) /, ""));
  const authProvider = tokenRequest && {
    token: () => tokens.get(tokenRequest),
    onUnauthorized: async () => tokens.drop(tokenRequest),
  };
  return {
    server: { url, headers: { "user-agent": "Parley", ...sent }, auth: authProvider, fetch },
    openedWith: JSON.stringify([url, sent, tokenRequest]),
    hidden: secrets.size === 0 ? [] : [...secrets.values(), ...credentials.filter((value) => value !== "")],
  };
}
