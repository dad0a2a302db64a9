import { eventually } from "@parley/testkit/eventually";
import type { Api } from "./api.ts";
import type { Talk } from "./corpus.ts";

export interface HeldTalk extends Talk {
  conversationId: string;
}

/** How a replay ended. */
export interface Replayed {
  total: number;
  /** Conversations with a difference, or that could not be held. */
  differing: number;
  /** Conversations with a difference of each kind. */
  counts: Record<string, number>;
  errors: number;
  seconds: number;
  /** The first difference of each kind, for people to read. */
  examples: string[];
}

const AT_ONCE = 8;
const ANALYZED_WITHIN_MS = 120_000;
const ENDS_WITHIN_MS = 900_000;
const POLL_MS = 1_000;
const EXAMPLE_CHARACTERS = 240;

/** Holds conversations over the API and waits for their analyses. */
export async function hold(api: Api, agentId: string, talks: readonly Talk[]): Promise<HeldTalk[]> {
  const held: HeldTalk[] = [];
  const queue = [...talks];
  const worker = async () => {
    for (let talk = queue.shift(); talk; talk = queue.shift())
      held.push({ ...talk, conversationId: await chat(api, agentId, talk) });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return held;
}

async function chat(api: Api, agentId: string, { lines, isGreeted }: Talk): Promise<string> {
  type Session = { session_id: string };
  let session = isGreeted ? await api<Session>("GET", `/agents/${agentId}/first-message`) : null;
  for (const message of lines) {
    const known = session && { session_id: session.session_id };
    session = await api<Session>("POST", "/chat", { agent_id: agentId, message, streaming: false, ...known });
  }
  const conversationId = session?.session_id ?? "";
  await eventually(async () => {
    const conversation = await api<Record<string, unknown>>("GET", `/conversations/${conversationId}`);
    if (conversation.conversation_status === "COMPLETED" && conversation.conversation_analysis === null)
      throw new Error(`conversation ${conversationId} is not analyzed`);
  }, ANALYZED_WITHIN_MS);
  return conversationId;
}

interface Replay {
  replay_id: string;
  status: string;
  error: string | null;
  ended_at: string | null;
  results: {
    conversation_id: string;
    status: string;
    error: string | null;
    differences: { what: string; field?: string; before?: unknown; after?: unknown; reason?: string }[];
  }[];
}

/** Replays conversations against the newest version. */
export async function replay(api: Api, agentId: string, request: object): Promise<Replayed> {
  const startedAt = performance.now();
  const path = `/agents/${agentId}/replays`;
  const { replay_id } = await api<Replay>("POST", path, { agent_version: "latest", ...request });
  while (true) {
    // Of the list, because it has no results.
    const { replays } = await api<{ replays: Pick<Replay, "ended_at">[] }>("GET", `${path}?page_size=1`);
    if (replays[0]?.ended_at) break;
    if (performance.now() - startedAt > ENDS_WITHIN_MS) throw new Error(`replay ${replay_id} does not end`);
    await Bun.sleep(POLL_MS);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { results } = await api<Replay>("GET", `${path}/${replay_id}`);
  const counts: Record<string, number> = {};
  const examples = new Map<string, string>();
  for (const { conversation_id, differences, error } of results) {
    for (const what of new Set(differences.map((each) => each.what))) counts[what] = (counts[what] ?? 0) + 1;
    for (const each of differences) {
      if (examples.has(each.what)) continue;
      examples.set(each.what, `${conversation_id} ${JSON.stringify(each).slice(0, EXAMPLE_CHARACTERS)}`);
    }
    if (error !== null) examples.set("error", `${conversation_id} ${error}`);
  }
  return {
    total: results.length,
    differing: results.filter(({ status }) => status !== "PASSED").length,
    counts,
    errors: results.filter(({ status }) => status === "ERROR").length,
    seconds,
    examples: [...examples.values()],
  };
}
