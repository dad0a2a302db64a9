import { expect, test } from "bun:test";
import { earlyRequests } from "./requests.ts";

const ORIGIN = "https://parley.example";

test("a page's first requests are sent once, with the id of its address", async () => {
  const sent: string[] = [];
  const take = earlyRequests(
    ["/v1/manage/me", "/v1/public/agents/_", "/v1/public/calls?agent_id=_&shape=some_thing"],
    { origin: ORIGIN, pathname: "/agents/agt_1", search: "" },
    async (path) => {
      sent.push(path);
      return new Response(path);
    },
  );
  expect(sent).toEqual([
    "/v1/manage/me",
    "/v1/public/agents/agt_1",
    "/v1/public/calls?agent_id=agt_1&shape=some_thing",
  ]);
  expect(await (await take(`${ORIGIN}/v1/public/agents/agt_1`))?.text()).toBe("/v1/public/agents/agt_1");
  expect(take(`${ORIGIN}/v1/public/agents/agt_1`)).toBeNull();
  expect(take(`${ORIGIN}/v1/public/agents/agt_2`)).toBeNull();
});

test("a page with filters asks early only who is signed in", () => {
  const sent: string[] = [];
  const send = async (path: string) => {
    sent.push(path);
    return new Response();
  };
  earlyRequests(
    ["/v1/manage/me", "/v1/public/agents"],
    { origin: ORIGIN, pathname: "/agents", search: "?page=2" },
    send,
  );
  expect(sent).toEqual(["/v1/manage/me"]);
});

test("an early request that failed fails for whoever takes it, and for nobody else", async () => {
  const send = () => Promise.reject(new TypeError("Failed to fetch"));
  const take = earlyRequests(["/v1/manage/me"], { origin: ORIGIN, pathname: "/", search: "" }, send);
  expect(take(`${ORIGIN}/v1/manage/me`)).rejects.toThrow("Failed to fetch");
});
