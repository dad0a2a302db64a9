/** A customer's endpoint that a test kills: it writes each request to a file before it answers. */
import { appendFileSync } from "node:fs";

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  fetch: async (request) => {
    await request.arrayBuffer();
    const { pathname } = new URL(request.url);
    appendFileSync(process.env.RECEIVED ?? "", `${pathname} ${request.headers.get("webhook-id")} ${Date.now()}\n`);
    return new Response("ok");
  },
});
