import type { RevealedSecret } from "@parley/proto/parley/account/v1/account_service.ts";
import type { McpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { RevealSecrets } from "@parley/shared/domain/secret-keys";
import type { Egress } from "@parley/shared/egress/egress";
import type { ByteShares } from "@parley/shared/shares/byte-shares";
import { ownerCache } from "@parley/shared/shares/owner-cache";
import { storable } from "../../store/storable.ts";
import { ERROR_BYTES_MAX, withRestNoted } from "../http/answer.ts";
import { authorizationOf, credentialOf, secretsOf, tokenRequestOf } from "../http/authorization.ts";
import { maskOf } from "../http/masks.ts";
import type { OAuthTokens } from "../http/oauth-tokens.ts";
import { headersOf } from "../http/request.ts";
import type { Sources } from "../http/values.ts";
import { connectMcp, type McpConnection, McpFailure, type McpServer } from "./connection.ts";
import { countedFetch } from "./counted-fetch.ts";

interface McpServers {
  fetch: Egress["fetch"];
  revealSecrets: RevealSecrets;
  tokens: OAuthTokens;
  answers: ByteShares;
}

export interface McpSession {
  connection: McpConnection;
  /** Replaces what the model and the owner must not see: secrets, and what authorizes requests. */
  mask(text: string): string;
}

/** Sessions with MCP servers, one for each conversation and tool, kept while they are used. */
export interface McpSessions {
  /** @param place whose session it is @throws McpFailure; Refused without a header's value */
  open(place: McpPlace, mcp: McpTool): Promise<McpSession>;
  /** Forgets the session of a place, or that one alone if it is given: another may be in its place by now. */
  drop(place: McpPlace, session?: McpSession): void;
  close(): void;
}

export interface McpPlace {
  ownerId: string;
  conversationId: string;
  toolId: string;
  variables: Sources["variables"];
}

/** Of all owners, and of one, whose own idlest makes room. */
const SESSIONS_MAX = 1_000;
const OWNER_SESSIONS_MAX = 200;
const IDLE_MS = 300_000;

interface Kept {
  /** Calls of one round wait for the same connection. */
  opening: Promise<McpSession>;
  session?: McpSession;
  /** A session serves only the server and the credentials that it was opened with. */
  openedWith: string;
  idle: Timer;
}

export function mcpSessions(servers: McpServers): McpSessions {
  const kept = ownerCache<Kept>({
    totalBytes: SESSIONS_MAX,
    ownerBytes: OWNER_SESSIONS_MAX,
    removed: ({ opening, idle }) => {
      clearTimeout(idle);
      void opening.then(
        ({ connection }) => connection.close(),
        () => {},
      );
    },
  });

  function forget({ ownerId, name }: Key, opened: Kept): void {
    if (kept.get(ownerId, name) === opened) kept.delete(ownerId, name);
  }

  return {
    async open(place, mcp) {
      const revealed = await secretsOf(servers.revealSecrets, place.ownerId, mcp);
      const { server, openedWith, hidden } = serverOf(servers, place, mcp, revealed);
      const key = keyOf(place);
      const known = kept.get(key.ownerId, key.name);
      if (known?.openedWith === openedWith) {
        known.idle.refresh();
        return known.opening;
      }
      const idle = setTimeout(() => forget(key, opened), IDLE_MS);
      const opened: Kept = { opening: openSession(server, hidden), openedWith, idle };
      kept.set(key.ownerId, key.name, opened, 1);
      try {
        opened.session = await opened.opening;
        return opened.session;
      } catch (error) {
        forget(key, opened);
        throw error;
      }
    },
    drop(place, session) {
      const { ownerId, name } = keyOf(place);
      if (!session || kept.get(ownerId, name)?.session === session) kept.delete(ownerId, name);
    },
    close: () => kept.clear(),
  };
}

async function openSession(server: McpServer, hidden: ReadonlySet<string>): Promise<McpSession> {
  let known = { mask: maskOf(hidden), size: hidden.size };
  const mask = (text: string) => {
    // A token may have been added.
    if (known.size !== hidden.size) known = { mask: maskOf(hidden), size: hidden.size };
    return known.mask(text);
  };
  const connection = await connectMcp(server).catch((error) => {
    throw tellable(error, mask);
  });
  return { connection, mask };
}

/** What went wrong as the model and the owner are told: without secrets, and of what the server said only the beginning. */
export function tellable(error: unknown, mask: McpSession["mask"]): unknown {
  if (!(error instanceof McpFailure)) return error;
  return new McpFailure(withRestNoted(mask(storable(error.message)), ERROR_BYTES_MAX), error.isForgotten);
}

interface Key {
  ownerId: string;
  name: string;
}

function keyOf({ ownerId, conversationId, toolId }: McpPlace): Key {
  return { ownerId, name: JSON.stringify([conversationId, toolId]) };
}

function serverOf(
  { fetch, tokens, answers }: McpServers,
  { ownerId, variables }: McpPlace,
  { url, headers, auth }: McpTool,
  revealed: ReadonlyMap<string, RevealedSecret>,
): { server: McpServer; openedWith: string; hidden: ReadonlySet<string> } {
  const secrets = new Map([...revealed].map(([name, { value }]) => [name, value]));
  const tokenRequest = tokenRequestOf(ownerId, auth, revealed);
  const authorization = authorizationOf(auth, secrets);
  const sent = { ...headersOf(headers, { args: {}, variables, secrets }), ...authorization };
  const hidden = new Set([...secrets.values(), ...Object.values(authorization).map(credentialOf)]);
  const authProvider = tokenRequest && {
    async token() {
      const token = await tokens.get(tokenRequest);
      hidden.add(token);
      return token;
    },
    onUnauthorized: async () => tokens.drop(tokenRequest),
  };
  return {
    server: {
      ...{ url, headers: { "user-agent": "Parley", ...sent }, auth: authProvider },
      fetch: countedFetch(fetch, answers, ownerId),
    },
    openedWith: JSON.stringify([url, sent, tokenRequest]),
    hidden,
  };
}
