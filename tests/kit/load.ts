import { type Answer, type Api, answerOf } from "./api.ts";
import { echoOf } from "./scripted-model.ts";

/** The outcome of one chat turn. */
export interface Turn {
  message: string;
  /** Null when the connection was lost before an answer. */
  status: number | null;
  /** Empty while the server has reported none. */
  sessionId: string;
  /** The reply; null when it broke off. */
  reply: string | null;
}

export interface Load {
  turns: readonly Turn[];
  /** Statuses of reads; null for a lost connection. */
  reads: readonly (number | null)[];
  /** The number of turns that were answered completely so far. */
  answered(): number;
  /** Stops after the requests in progress. */
  stop(): Promise<void>;
}

const WORKERS = 4;
const PAUSE_MS = 250;

/** Chats, each in a session of its own, alternately streamed and non-streamed, and reads in turn: a few at a time until stopped. */
export function startLoad(api: Api, agentId: string): Load {
  const turns: Turn[] = [];
  const reads: (number | null)[] = [];
  const paths = ["/agents?page_size=1", `/agents/${agentId}`, "/prompts?page_size=1", "/conversations?page_size=1"];
  let stopped = false;

  async function work(worker: number): Promise<void> {
    for (let round = 0; !stopped; round++) {
      const turn = await chatOnce(api, agentId, `${worker}/${round} ${Bun.randomUUIDv7()}`, round % 2 === 0);
      turns.push(turn);
      reads.push(await statusOf(api.get(paths[round % paths.length] ?? "")));
      // Pauses, because refused connections would make the load unbounded and delay the process that is starting.
      await Bun.sleep(PAUSE_MS);
    }
  }

  const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker));
  return {
    turns,
    reads,
    answered: () => turns.filter(({ reply }) => reply !== null).length,
    stop: async () => {
      stopped = true;
      await Promise.all(workers);
    },
  };
}

async function chatOnce(api: Api, agentId: string, message: string, streaming: boolean): Promise<Turn> {
  const turn: Turn = { message, status: null, sessionId: "", reply: null };
  try {
    const response = await api.chat({ agent_id: agentId, message, streaming });
    turn.status = response.status;
    turn.sessionId = response.headers.get("x-session-id") ?? "";
    const { body } = await answerOf(response);
    if (response.status === 200) turn.reply = streaming ? body : body.response;
  } catch {
    // The fields that are null show what went wrong.
  }
  return turn;
}

async function statusOf(answer: Promise<Answer>): Promise<number | null> {
  try {
    return (await answer).status;
  } catch {
    return null;
  }
}

/** The messages of a turn's session now, as `role: content`. */
export async function storedOf(api: Api, { sessionId }: Turn): Promise<string[]> {
  const { status, body } = await api.get(`/chat/sessions/${sessionId}`);
  if (status !== 200) throw new Error(`no session ${sessionId}: ${status} ${body.detail}`);
  return body.messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
}

/** The messages that the session must have if the turn was answered completely. */
export function wholeOf({ message }: Turn): string[] {
  return [`user: ${message}`, `assistant: ${echoOf(message)}`];
}
