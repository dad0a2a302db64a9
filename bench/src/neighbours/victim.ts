import { newUuid } from "@parley/shared/ids";
import type { BenchStack } from "../stack.ts";
import { createPhase, type Phase } from "./phase.ts";
import type { Receiver } from "./receiver.ts";

/**
 * The victim's steady requests, with their intervals in milliseconds: in the ten seconds of an attack, more than a hundred of each
 * kind, of which the second slowest is the p99. Two kinds last until a webhook has arrived.
 */
export const KINDS = {
  agent: 50,
  conversation: 95,
  list: 94,
  search: 93,
  chat: 92,
  stream: 91,
  prompt: 90,
  webhook: 89,
  analysis: 88,
} as const;
export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

export interface Victim {
  /** Counts requests that begin from now on in this phase. */
  enter(): Phase;
  stop(): void;
}

export interface VictimAccount {
  stack: Pick<BenchStack, "url">;
  apiKey: string;
  receiver: Receiver;
  /** The ids of an agent without analysis and of one with it. */
  agentId: string;
  analysedId: string;
}

const REQUEST_MS = 30_000;
const GOODBYE = "Thank you, goodbye!";
const WORD = "opening";
/** Open sessions are not in the index for a minute: with a session a turn, searches would read hundreds of them. */
const SESSION_TURNS = 20;

/** A small steady load: requests begin on schedule, however long others take, each on its own connection. */
export async function startVictim({ stack, apiKey, receiver, agentId, analysedId }: VictimAccount): Promise<Victim> {
  async function ask(method: string, path: string, body?: object): Promise<string> {
    const response = await fetch(`${stack.url}/v1/public${path}`, {
      method,
      headers: { "X-API-Key": apiKey, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      // A kept connection would not show that new ones are refused.
      keepalive: false,
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    return text;
  }
  const chat = (agent: string, message: string, streaming: boolean, session?: string) =>
    ask("POST", "/chat", { agent_id: agent, message, streaming, ...(session && { session_id: session }) });
  const free: { id: string; turns: number }[] = [];
  /** A turn of a session that has had few and none in progress, or of a new one. */
  async function turn(streaming: boolean): Promise<void> {
    const session = free.pop();
    const answer = await chat(agentId, "When do you open?", streaming, session?.id);
    const { id, turns } = session ?? { id: streaming ? null : (JSON.parse(answer).session_id as string), turns: 0 };
    if (id !== null && turns + 1 < SESSION_TURNS) free.push({ id, turns: turns + 1 });
  }
  const goodbye = async (agent: string) => JSON.parse(await chat(agent, GOODBYE, false)).session_id as string;

  const { session_id: sessionId } = JSON.parse(await chat(agentId, `What are your ${WORD} hours?`, false));
  const kinds: Record<Kind, () => Promise<unknown>> = {
    agent: () => ask("GET", `/agents/${agentId}`),
    conversation: () => ask("GET", `/conversations/${sessionId}`),
    list: () => ask("GET", "/conversations?page_size=10"),
    search: () => ask("GET", `/conversations?page_size=10&search=${WORD}`),
    chat: () => turn(false),
    stream: () => turn(true),
    prompt: () => ask("POST", "/prompts", { prompt_name: newUuid(), prompt_content: "Be brief." }),
    webhook: async () => receiver.arrival(await goodbye(agentId)),
    analysis: async () => {
      if (!(await receiver.arrival(await goodbye(analysedId))).isAnalysed)
        throw new Error("reported without its analysis");
    },
  };

  let phase = createPhase();
  function once(kind: Kind): void {
    const end = phase.begin(kind);
    kinds[kind]().then(
      () => end(),
      (error) => end(error instanceof Error ? error.message : String(error)),
    );
  }
  const timers = KIND_NAMES.map((kind) => setInterval(once, KINDS[kind], kind));
  return {
    enter: () => {
      phase = createPhase();
      return phase;
    },
    stop: () => timers.forEach(clearInterval),
  };
}
