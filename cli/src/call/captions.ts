/** A conversation's transcript so far, as the public API shows it. */
export interface CallConversation {
  conversation_id: string;
  conversation_status: string;
  /** Null if nothing was said. */
  conversation_transcript: { role: string; content: string }[] | null;
}

export interface Captions {
  /** Settles with the conversation when it has ended, or null if it could not be followed. */
  end(): Promise<CallConversation | null>;
  /** The same, for a call that ends by itself. */
  over(): Promise<CallConversation | null>;
}

const EVERY_MS = 400;
const REQUEST_MS = 5_000;
/** How long to wait until the end of a call is stored. */
const ENDS_WITHIN_MS = 10_000;

/**
 * Reports what is said in the agent's newest conversation, once there is a new one.
 * @param known the newest before the call
 * @param say is given each message when it is stored; `end` and `over` throw what it throws, and nothing more is followed
 */
export function followCall(
  api: CallApi,
  agentId: string,
  known: string | null,
  say: (role: string, content: string) => Promise<void>,
): Captions {
  let told = 0;
  let found: CallConversation | null = null;
  let isOver = false;
  const look = async () => {
    const newest = found ? await api.find(found.conversation_id) : await api.newest(agentId);
    if (!newest || newest.conversation_id === known) return [];
    found = newest;
    // The last message may still grow while the call continues.
    const isFinal = newest.conversation_status !== "IN_PROGRESS";
    const complete = newest.conversation_transcript?.slice(told, isFinal ? undefined : -1) ?? [];
    told += complete.length;
    if (isFinal) isOver = true;
    return complete;
  };
  const stopping = new AbortController();
  const following = (async () => {
    for (let until = Number.POSITIVE_INFINITY; !isOver && performance.now() < until; await Bun.sleep(EVERY_MS)) {
      // The call continues while the API is down.
      const complete = await look().catch(() => []);
      for (const { role, content } of complete) await say(role, content);
      if (stopping.signal.aborted && until === Number.POSITIVE_INFINITY) until = performance.now() + ENDS_WITHIN_MS;
    }
  })();
  // Whoever waits for the end is told.
  following.catch(() => {});
  return {
    end: async () => {
      stopping.abort();
      await following;
      return found;
    },
    over: async () => {
      await following;
      return found;
    },
  };
}

export interface CallApi {
  newest(agentId: string): Promise<CallConversation | null>;
  find(conversationId: string): Promise<CallConversation | null>;
}

/** The gateway's list of conversations. `search` finds the newest one that contains a text. */
export function callApi(
  url: string,
  apiKey: string,
): CallApi & { search(text: string): Promise<CallConversation | null> } {
  const list = async (query: Record<string, string>): Promise<CallConversation | null> => {
    const response = await fetch(
      `${url}/v1/public/conversations?${new URLSearchParams({ page_size: "1", ...query })}`,
      {
        headers: { "X-API-Key": apiKey },
        signal: AbortSignal.timeout(REQUEST_MS),
      },
    );
    if (!response.ok) throw new Error(`the API answered with ${response.status}`);
    const { data } = (await response.json()) as { data: CallConversation[] };
    return data[0] ?? null;
  };
  return {
    newest: (agentId) => list({ agent_id: agentId }),
    find: (conversationId) => list({ conversation_id: conversationId }),
    search: (text) => list({ search: text }),
  };
}
