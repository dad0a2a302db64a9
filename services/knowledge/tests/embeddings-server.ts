/** A server of OpenAI's `/embeddings` whose vectors count the letters of a text, so that texts of the same letters are close. */
export interface EmbeddingsServer {
  url: string;
  /** The bodies that were sent. */
  requests: { model: string; input: string[] }[];
  /** Answers instead. */
  answer: ((body: { model: string; input: string[] }) => Response | Promise<Response> | null) | null;
  stop(): Promise<void>;
}

export function startEmbeddingsServer(): EmbeddingsServer {
  const requests: EmbeddingsServer["requests"] = [];
  const started: EmbeddingsServer = { url: "", requests, answer: null, stop: () => server.stop(true) };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const body = (await request.json()) as { model: string; input: string[] };
      requests.push(body);
      return (await started.answer?.(body)) ?? vectors(body.input.map(lettersOf));
    },
  });
  started.url = `http://127.0.0.1:${server.port}/v1`;
  return started;
}

export function vectors(list: readonly (readonly number[])[]): Response {
  return Response.json({ data: list.map((embedding, index) => ({ index, embedding })) });
}

/** How often each letter is in a text. */
export function lettersOf(text: string): number[] {
  const counts = new Array<number>(26).fill(0);
  for (const letter of text.toLowerCase()) {
    const at = letter.charCodeAt(0) - 97;
    if (at >= 0 && at < 26) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}
