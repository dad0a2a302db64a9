import { createHttpClient, type HttpAnswer, type HttpClient } from "@parley/testkit/network/http-client";
import { echoOf, type Script } from "./scripted-model.ts";

/** Requests of every kind through the gateway's port, by clients that never resend one. */
export interface Traffic {
  /** Requests with a wrong answer, or none. */
  failures: readonly string[];
  /** The number of answered requests of each kind. */
  answered: Readonly<Record<Kind, number>>;
  /** The number of streamed replies in progress. */
  streaming(): number;
  /** The chats that ended; each has an event. */
  ended: readonly string[];
  /** Stops after the requests in progress. */
  stop(): Promise<void>;
}

type Kind = "read" | "list" | "patch" | "whole" | "streamed" | "slow" | "goodbye";

/** The number of clients of each kind; each sends one request at a time. */
const CLIENTS: Record<Kind, number> = { read: 1, list: 1, patch: 1, whole: 1, streamed: 1, slow: 3, goodbye: 1 };
/** The pause between two requests of a client: less than the half second in which a draining gateway asks idle connections to close. */
const PAUSE_MS = 400;
const SLOW_PIECES = 10;
const SLOW_PAUSE_MS = 200;
const SLOW = "Slowly";
const GOODBYE = "Goodbye";
const SLOW_REPLY = Array.from({ length: SLOW_PIECES }, (_, at) => `word ${at} `);

/** The model for this traffic: it echoes, speaks for two seconds, or ends the call. The agent needs the tool `end_call`. */
export const trafficScript: Script = async (exchange) => {
  const message = exchange.request.body.messages.at(-1)?.content ?? "";
  if (message.startsWith(GOODBYE)) exchange.toolCall("end_call", { message: "Bye." });
  else if (!message.startsWith(SLOW)) exchange.text(echoOf(message));
  else
    for (const piece of SLOW_REPLY) {
      exchange.text(piece);
      await Bun.sleep(SLOW_PAUSE_MS);
    }
  exchange.finish();
};

export function startTraffic(url: string, apiKey: string, agentId: string): Traffic {
  const failures: string[] = [];
  const ended: string[] = [];
  const answered: Record<Kind, number> = { read: 0, list: 0, patch: 0, whole: 0, streamed: 0, slow: 0, goodbye: 0 };
  let streaming = 0;
  let stopped = false;

  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const get = (client: HttpClient, path: string) => client.request("GET", `/v1/public${path}`, { headers });
  const chat = (client: HttpClient, message: string, isStreamed: boolean, onHead?: () => void) =>
    client.request("POST", "/v1/public/chat", {
      headers,
      body: JSON.stringify({ agent_id: agentId, message, streaming: isStreamed }),
      ...(onHead && { onHead }),
    });

  /** Sends one request. @returns the body of a correct answer, and the expected one */
  const kinds: Record<Kind, (client: HttpClient, round: number) => Promise<HttpAnswer & { expected?: string }>> = {
    read: (client) => get(client, `/agents/${agentId}`),
    list: (client, round) => get(client, `/${["agents", "conversations", "prompts"][round % 3]}?page_size=2`),
    patch: (client, round) =>
      client.request("PATCH", `/v1/public/agents/${agentId}`, {
        headers,
        body: JSON.stringify({ agent_name: `Front desk ${round}` }),
      }),
    whole: async (client, round) => {
      const answer = await chat(client, `Whole ${round}`, false);
      const { response } = JSON.parse(answer.body);
      return { ...answer, body: response ?? answer.body, expected: echoOf(`Whole ${round}`) };
    },
    streamed: async (client, round) => ({
      ...(await chat(client, `Streamed ${round}`, true)),
      expected: echoOf(`Streamed ${round}`),
    }),
    slow: async (client, round) => {
      let isCounted = false;
      const count = () => {
        isCounted = true;
        streaming++;
      };
      try {
        return { ...(await chat(client, `${SLOW} ${round}`, true, count)), expected: SLOW_REPLY.join("") };
      } finally {
        if (isCounted) streaming--;
      }
    },
    goodbye: async (client, round) => {
      const answer = await chat(client, `${GOODBYE} ${round}`, true);
      if (answer.status === 200) ended.push(answer.headers.get("x-session-id") ?? "");
      return { ...answer, expected: "Bye." };
    },
  };

  async function work(kind: Kind): Promise<void> {
    const client = createHttpClient(url);
    for (let round = 0; !stopped; round++) {
      try {
        const { status, body, expected = body } = await kinds[kind](client, round);
        if (status === 200 && body === expected) answered[kind]++;
        else failures.push(`${kind} ${round}: ${status} ${body}`);
      } catch (error) {
        failures.push(`${kind} ${round}: ${(error as Error).message}`);
      }
      await Bun.sleep(PAUSE_MS);
    }
    client.close();
  }

  const workers = Object.entries(CLIENTS).flatMap(([kind, count]) =>
    Array.from({ length: count }, () => work(kind as Kind)),
  );
  return {
    failures,
    answered,
    streaming: () => streaming,
    ended,
    stop: async () => {
      stopped = true;
      await Promise.all(workers);
    },
  };
}
