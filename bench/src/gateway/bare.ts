/** Contender (a): Elysia alone, which answers the same JSON. */
import { Elysia } from "elysia";
import { readAgents } from "./fixture.ts";

const agents = await readAgents();
const app = new Elysia().get("/v1/public/agents/:agent_id", ({ params, status }) => {
  return agents.get(params.agent_id) ?? status(404);
});
app.listen({ hostname: "127.0.0.1", port: Number(process.env.PORT) });
