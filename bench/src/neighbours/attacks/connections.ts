import type { Attack } from "../attack.ts";
import { head } from "../hostile/client.ts";

const TRICKLE_MS = 500;
const PIPELINED = 1_000;

/** Attacks with many connections and little traffic. */
export const CONNECTION_ATTACKS: readonly Attack[] = [
  {
    name: "idle-connections",
    what: "2,000 connections on which nothing is sent",
    tier: "free",
    prepare: async (hostile) => () => hostile.hold(2_000, () => {}),
  },
  {
    name: "slow-headers",
    what: "1,000 requests whose headers never end",
    tier: "free",
    prepare: async (hostile) => () =>
      hostile.hold(1_000, (socket) => {
        socket.write("GET /v1/public/agents HTTP/1.1\r\nHost: parley\r\n");
        setInterval(() => socket.write("X: y\r\n"), TRICKLE_MS);
      }),
  },
  {
    name: "pipelining",
    what: "20 connections with 1,000 requests sent at once on each, and none read",
    tier: "enterprise",
    prepare: async (hostile) => () =>
      hostile.hold(20, (socket) => socket.write(head(hostile, "GET", "/v1/public/agents").repeat(PIPELINED))),
  },
];
