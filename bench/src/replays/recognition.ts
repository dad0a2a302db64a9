/**
 * Serves speech to text as the stand-in does, but like a real recognizer it finds words of the language that it is set to, whatever is
 * spoken.
 */
export function startRecognition(speechUrl: string): { url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 255,
    routes: {
      "/v1/audio/transcriptions": {
        POST: async (request) => {
          const { headers, signal } = request;
          const body = await request.arrayBuffer();
          const form = await new Response(body, { headers }).formData();
          if (form.get("language") !== "en") return Response.json({ text: "guen de llopen" });
          const heard = await fetch(`${speechUrl}/v1/audio/transcriptions`, {
            method: "POST",
            headers: { "content-type": headers.get("content-type") ?? "" },
            body,
            // What nobody waits for anymore must not keep the next words waiting.
            signal,
          });
          return Response.json(await heard.json(), { status: heard.status });
        },
      },
    },
  });
  return { url: server.url.origin, stop: () => server.stop(true) };
}
