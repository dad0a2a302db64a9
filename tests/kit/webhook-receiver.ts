/** A customer's endpoint that is going to be killed: what arrives is in a file before it is answered. */
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
