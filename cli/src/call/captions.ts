/** A conversation's transcript so far, as the public API shows it. */
export interface CallConversation {
  conversation_id: string;
  conversation_status: string;
  /** Null if nothing was said. */
  conversation_transcript: { role: string; content: string; tool_calls?: CalledTool[] }[] | null;
}

interface CalledTool {
  tool_call_id: string;
  name: string;
  /** JSON. */
  arguments: string;
  status: string;
  result: string;
  duration_ms: number | null;
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
/** Characters that are shown of arguments and results. */
const SHOWN_MAX = 200;

/**
 * Reports what is said in the agent's newest conversation, once there is a new one.
 * @param known the newest before the call
 * @param say is given each message when it is stored, and, with the role `tool`, each tool call when it begins and when it ends; `end` and
 * `over` throw what it throws, and nothing more is followed
 */
export function followCall(
  api: CallApi,
  agentId: string,
  known: string | null,
  say: (role: string, content: string) => Promise<void>,
): Captions {
  let told = 0;
  /** The status of each tool call that was told. */
  const calls = new Map<string, string>();
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
    const called = (newest.conversation_transcript ?? []).flatMap(({ tool_calls = [] }) => tool_calls);
    const changed = called.filter(({ tool_call_id, status }) => calls.get(tool_call_id) !== status);
    for (const { tool_call_id, status } of changed) calls.set(tool_call_id, status);
    return [...changed.map((call) => ({ role: "tool", content: toolLine(call) })), ...complete];
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

/** A tool call in one line: with its arguments while it runs, then with its result. */
function toolLine({ name, status, arguments: given, result, duration_ms }: CalledTool): string {
  if (status === "REQUESTED" || status === "RUNNING") return `${name} ${beginning(given)} …`;
  const took = duration_ms === null ? "" : ` after ${duration_ms} ms`;
  return `${name} ${beginning(given)} ${status}${took}: ${beginning(result)}`;
}

function beginning(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= SHOWN_MAX ? line : `${line.slice(0, SHOWN_MAX).toWellFormed()}…`;
}

interface CallApi {
  newest(agentId: string): Promise<CallConversation | null>;
  find(conversationId: string): Promise<CallConversation | null>;
}

/** The gateway's conversations. `search` finds the newest one that contains a text. */
export function callApi(
  url: string,
  apiKey: string,
): CallApi & { search(text: string): Promise<CallConversation | null> } {
  const get = (path: string, query: Record<string, string>) =>
    fetch(`${url}/v1/public/conversations${path}?${new URLSearchParams(query)}`, {
      headers: { "X-API-Key": apiKey },
      signal: AbortSignal.timeout(REQUEST_MS),
    });
  const read = async (response: Response) => {
    if (!response.ok) throw new Error(`the API answered with ${response.status}`);
    return response.json();
  };
  const list = async (query: Record<string, string>): Promise<CallConversation | null> => {
    const { data } = (await read(await get("", { page_size: "1", ...query }))) as { data: CallConversation[] };
    return data[0] ?? null;
  };
  const find = async (conversationId: string): Promise<CallConversation | null> => {
    const response = await get(`/${conversationId}`, { include: "replies" });
    return response.status === 404 ? null : ((await read(response)) as CallConversation);
  };
  return {
    newest: (agentId) => list({ agent_id: agentId }),
    find,
    search: (text) => list({ search: text }),
  };
}
