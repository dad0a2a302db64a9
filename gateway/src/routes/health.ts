import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { Drain } from "../drain.ts";
import { addCommonHeaders } from "../http/request-id.ts";

/**
 * `/healthz`: this process answers. `/readyz`: it can serve: it is not stopping, and it reaches every service it needs.
 */
export function healthRoutes(clients: Clients, drain: Pick<Drain, "isDraining">) {
  return new Elysia()
    .onAfterHandle(addCommonHeaders)
    .get("/healthz", () => new Response("ok\n"))
    .get("/readyz", async () => {
      if (drain.isDraining) return new Response("stopping\n", { status: 503 });
      const unreachable = await clients.unreachable();
      return unreachable.length === 0
        ? new Response("ready\n")
        : new Response(`not reachable: ${unreachable.join(", ")}\n`, { status: 503 });
    });
}
