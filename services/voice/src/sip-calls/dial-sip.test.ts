import { expect, test } from "bun:test";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { listening } from "../../tests/listening.ts";
import { noPortFree } from "../transport/rtp/ports.ts";
import type { CallAnswer } from "../transport/sip/calling.ts";
import type { UserAgent } from "../transport/sip/user-agent.ts";
import { dialSip } from "./dial-sip.ts";

const CALL = {
  ownerId: "own_1",
  user: "+14155550123",
  host: "127.0.0.1",
  protocol: "UDP",
  from: "+14155550124",
} as const;

/** How a call fails with which this user agent has this outcome. */
async function failure(outcome: () => Promise<CallAnswer>) {
  const agent = { call: outcome } as unknown as UserAgent;
  const dial = dialSip(agent, parseAllowList("127.0.0.1"));
  const { signal } = new AbortController();
  return dial({ ...CALL, ringSeconds: 5 }, listening().to, signal, async () => {}).then(
    () => null,
    ({ how, note }) => ({ how, note }),
  );
}

test("a call for which no port is free is tried again, because nobody's phone has rung", async () => {
  const none = async () => {
    throw noPortFree();
  };
  expect(await failure(none)).toEqual({
    how: "unreached",
    note: "No RTP port is free: try again later, or widen PARLEY_RTP_PORTS",
  });
});

test("a call that the trunk redirects fails, and says so", async () => {
  expect(await failure(async () => ({ refused: 302, reason: "Moved Temporarily", isUnreached: false }))).toEqual({
    how: "failed",
    note: "SIP 302: Moved Temporarily: the trunk redirects the call, which Parley does not follow; have the trunk place it",
  });
});
