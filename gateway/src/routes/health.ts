import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import { tellRequestId } from "../http/request-id.ts";

/** `/healthz`: this process answers. `/readyz`: it can serve, that is every service behind it can be reached. */
export function healthRoutes(clients: Clients) {
  return new Elysia()
    .onAfterHandle(tellRequestId)
    .get("/healthz", () => new Response("ok\n"))
    .get("/readyz", async () => {
      const unreachable = await clients.unreachable();
      return unreachable.length === 0
        ? new Response("ready\n")
        : new Response(`not reachable: ${unreachable.join(", ")}\n`, { status: 503 });
    });
}
