import { expect, test } from "bun:test";
import { ownGateway } from "./own-gateway.ts";

test("an address gets 300 answers a minute that its key is missing, then 429 with the time to retry", async () => {
  const app = ownGateway({});
  const ask = (path: string) => app.handle(new Request(`http://gateway/v1/${path}`));
  for (let at = 0; at < 300; at++) expect((await ask(at % 2 ? "public/agents" : "manage/me")).status).toBe(401);
  const refused = await ask("public/prompts");
  expect([refused.status, await refused.json()]).toEqual([
    429,
    { detail: "Too many requests without an API key from this address. Wait a minute." },
  ]);
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
});
