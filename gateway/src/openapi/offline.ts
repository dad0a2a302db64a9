import { createApp } from "../app.ts";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";

/** The OpenAPI document as the gateway serves it, as JSON. Making the routes calls no service, so none need run. */
export async function offlineDocument(): Promise<string> {
  const clients = new Proxy({}, { get: () => ({}) }) as Clients;
  const app = createApp({} as GateContext, clients, { isDraining: false });
  const answer = await app.handle(new Request("http://gateway/openapi.json"));
  return answer.text();
}
