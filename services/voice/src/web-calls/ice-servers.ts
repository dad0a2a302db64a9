import { createHmac } from "node:crypto";

export interface IceServer {
  urls: string[];
  username?: string | undefined;
  credential?: string | undefined;
}

/** Whom a web call's credentials are for, and how long they last. */
export interface TurnUse {
  /** Names the call in the TURN server's log. */
  conversationId: string;
  until: Date;
}

/**
 * The ICE servers for one web call. A TURN server without credentials of its own gets some that end with the call: visitors of a page
 * see them. The form is coturn's (`use-auth-secret`, draft-uberti-behave-turn-rest): `<Unix second of the end>:<name>`, and its
 * HMAC-SHA1 in base64.
 */
export function iceServersOf(
  servers: readonly IceServer[],
  turnSecret: string,
  { conversationId, until }: TurnUse,
): IceServer[] {
  const username = `${Math.floor(until.getTime() / 1_000)}:${conversationId}`;
  return servers.map((server) => {
    if (!needsCredentials(server)) return server;
    return { ...server, username, credential: createHmac("sha1", turnSecret).update(username).digest("base64") };
  });
}

/** Whether browsers refuse the server as it is: a TURN server without credentials. */
export function needsCredentials({ urls, username, credential }: IceServer): boolean {
  return urls.some((url) => /^turns?:/.test(url)) && (username === undefined || credential === undefined);
}
