/** The customer's HTTPS endpoint: remembers when each event's first byte arrived, and on which path. */
import { nowMs } from "./event.ts";

/** When each delivery arrived, by path and event id; a repeat counts, and the first one's time stays. */
let arrivals = new Map<string, { atMs: number; times: number }>();

export type Arrivals = [delivery: string, atMs: number, times: number][];

if (import.meta.main) {
  const [cert, key] = [Bun.file(process.env.BENCH_CERT ?? ""), Bun.file(process.env.BENCH_KEY ?? "")];
  Bun.serve({ hostname: "127.0.0.1", port: Number(process.env.PORT), tls: { cert, key }, fetch: receive });
  // Queried over plain HTTP, so that no certificate is needed.
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.env.CONTROL_PORT),
    fetch: (request) => {
      if (request.method === "DELETE") arrivals = new Map();
      if (new URL(request.url).pathname === "/count") return Response.json(arrivals.size);
      return Response.json([...arrivals].map(([delivery, { atMs, times }]) => [delivery, atMs, times]));
    },
  });
}

/** Called when the head of a request has arrived; the body is read as a receiver would. */
async function receive(request: Request): Promise<Response> {
  const atMs = nowMs();
  const body = await request.arrayBuffer();
  if (body.byteLength === 0) return new Response(null, { status: 400 });
  const delivery = `${new URL(request.url).pathname} ${request.headers.get("webhook-id")}`;
  const known = arrivals.get(delivery);
  if (known) known.times++;
  else arrivals.set(delivery, { atMs, times: 1 });
  return new Response("ok");
}
