/** Contender (b): a bare Elysia route with one unary grpc-js call to another process, which returns the same JSON. */
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { Elysia } from "elysia";
import { ECHO } from "./echo.ts";
import { readAgents } from "./fixture.ts";

// Both features cost a tenth of every call, so Parley's own client also turns them off.
const client = new Client(`127.0.0.1:${process.env.ECHO_PORT}`, credentials.createInsecure(), {
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
});
const { path, requestSerialize, responseDeserialize } = ECHO.echo;

function echo(request: Buffer): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, new Metadata(), (error, response) =>
    response ? resolve(response) : reject(error),
  );
  return promise;
}

const texts = new Map([...(await readAgents())].map(([id, agent]) => [id, Buffer.from(JSON.stringify(agent))]));
const app = new Elysia().get("/v1/public/agents/:agent_id", async ({ params, status }) => {
  const text = texts.get(params.agent_id);
  if (!text) return status(404);
  return new Response(await echo(text), { headers: { "Content-Type": "application/json; charset=utf-8" } });
});
app.listen({ hostname: "127.0.0.1", port: Number(process.env.PORT) });
