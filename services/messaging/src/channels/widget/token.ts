import { ServiceError } from "@parley/shared/errors";
import type { Sealer } from "@parley/shared/sealing";

/** The rights of a page's visitor: to chat with one agent, in one session. */
interface WidgetGrant {
  ownerId: string;
  agentId: string;
  /** The page's origin, such as `https://shop.example`. */
  origin: string;
  sessionId: string;
}

export interface WidgetTokens {
  /** @param renewableUntil the time of the session's first token; absent for that token */
  issue(grant: WidgetGrant, now: Date, renewableUntil?: Date): { token: string; expiresAt: Date };
  /** @throws ServiceError unauthenticated unless the token is ours, of this origin and has not expired */
  open(token: string, origin: string, now: Date): WidgetGrant;
  /**
   * The session to continue with, of a token that may have expired.
   * @throws ServiceError unauthenticated unless the token is ours, of this origin, and its session has not become too old
   */
  renew(token: string, origin: string, now: Date): { grant: WidgetGrant; renewableUntil: Date };
}

/** Short, because a token that leaks cannot be revoked. */
const VALID_MS = 15 * 60_000;
/** Longer than a chat session lasts in silence, and no visitor keeps a page open for longer. */
const RENEWABLE_MS = 24 * 60 * 60_000;
const CONTEXT = "widget token";
/** Longer than every token: an origin has at most 300 characters. */
const TOKEN_CHARACTERS_MAX = 1_500;

/** Seals what a token is for in the token itself, because anyone may request one and nothing should be stored for that. */
export function widgetTokens(sealer: Sealer): WidgetTokens {
  const read = (token: string, origin: string): Contents => {
    const contents = token.length <= TOKEN_CHARACTERS_MAX ? opened(sealer, token) : null;
    if (contents?.origin !== origin) throw wrongToken();
    return contents;
  };
  return {
    issue: (grant, now, renewableUntil = new Date(now.getTime() + RENEWABLE_MS)) => {
      const expiresAt = new Date(Math.min(now.getTime() + VALID_MS, renewableUntil.getTime()));
      const { ownerId, agentId, origin, sessionId } = grant;
      const times = { expires: expiresAt.getTime(), renewable: renewableUntil.getTime() };
      return {
        token: sealer.seal(JSON.stringify({ ownerId, agentId, origin, sessionId, ...times }), CONTEXT),
        expiresAt,
      };
    },
    open: (token, origin, now) => {
      const { expires, renewable: _, ...grant } = read(token, origin);
      if (now.getTime() >= expires) throw wrongToken();
      return grant;
    },
    renew: (token, origin, now) => {
      const { expires: _, renewable, ...grant } = read(token, origin);
      if (now.getTime() >= renewable) throw wrongToken();
      return { grant, renewableUntil: new Date(renewable) };
    },
  };
}

interface Contents extends WidgetGrant {
  /** Epoch milliseconds. */
  expires: number;
  renewable: number;
}

function opened(sealer: Sealer, token: string): Contents | null {
  try {
    return JSON.parse(sealer.open(token, CONTEXT));
  } catch {
    return null;
  }
}

/** The same answer in every case, so that guesses reveal nothing. */
export function wrongToken(): ServiceError {
  return new ServiceError("unauthenticated", "The widget token is wrong or has expired: request another one");
}
