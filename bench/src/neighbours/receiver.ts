export interface Arrival {
  isAnalysed: boolean;
}

/** The victim's webhook endpoint. */
export interface Receiver {
  port: number;
  /** Settles when the webhook of that conversation has arrived. */
  arrival(conversationId: string): Promise<Arrival>;
  stop(): Promise<void>;
}

export function startReceiver(): Receiver {
  const expected = new Map<string, PromiseWithResolvers<Arrival>>();
  const of = (conversationId: string) => {
    const known = expected.get(conversationId) ?? Promise.withResolvers<Arrival>();
    expected.set(conversationId, known);
    return known;
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const payload = JSON.parse(String((await request.formData()).get("payload")));
      of(payload.conversation_id).resolve({ isAnalysed: (payload.conversation_analysis ?? []).length > 0 });
      return new Response("ok");
    },
  });
  return {
    port: server.port ?? 0,
    async arrival(conversationId) {
      const arrival = await of(conversationId).promise;
      expected.delete(conversationId);
      return arrival;
    },
    stop: () => server.stop(true),
  };
}
