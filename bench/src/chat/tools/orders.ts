/** The owner's server that the tool of both contenders asks. */
import { ORDER } from "../reply.ts";

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  fetch(request) {
    const { pathname } = new URL(request.url);
    return pathname === `/orders/${ORDER.order_id}` ? Response.json(ORDER) : new Response("no order", { status: 404 });
  },
});
