import type { Attack } from "../attack.ts";
import { eachOf } from "../hostile/client.ts";

const BEHAVIORS = ["hangs", "redirects", "huge"];
const DESTINATIONS = 20;
const ENDS_AT_ONCE = 128;

/** Attacks with many ended conversations, and endpoints that accept no event. */
export const WEBHOOK_ATTACKS: readonly Attack[] = [
  {
    name: "bad-destinations",
    what: "500 ended conversations for 20 webhooks that hang, refuse, redirect or answer 100 MB",
    tier: "free",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("short"));
      const urls = [...BEHAVIORS.map(hostile.hook), "http://127.0.0.1:1/"];
      for (let at = 0; at < DESTINATIONS; at++) await hostile.createDestination(urls[at % urls.length] ?? "");
      const ends = await hostile.startConversations(agentId, 500, ["Hi", "Hello"]);
      return () => eachOf(ends, ENDS_AT_ONCE, (end) => end());
    },
  },
  {
    name: "ended-at-once",
    what: "3,000 conversations ended as fast as possible, for one webhook that works",
    tier: "free",
    async prepare(hostile) {
      const agentId = await hostile.createAgent(hostile.model("short"));
      await hostile.createDestination(hostile.hook("works"));
      const ends = await hostile.startConversations(agentId, 3_000);
      return () => eachOf(ends, ENDS_AT_ONCE, (end) => end());
    },
  },
];
