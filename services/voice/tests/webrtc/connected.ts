import { answerOffer, type WebRtcOptions } from "../../src/transport/webrtc/peer.ts";
import { listening } from "../listening.ts";
import { browser } from "./browser.ts";

export const OPTIONS: WebRtcOptions = {
  hostname: "127.0.0.1",
  ports: { first: 26_000, last: 26_999 },
  dropped: () => {},
};

/** Calls between browsers and agents, for a test to end. */
export function connectedCalls() {
  const open: { close(): unknown }[] = [];
  return {
    open,
    connected: async (change = (offer: string) => offer, options: Partial<WebRtcOptions> = {}) => {
      const page = await browser();
      open.push(page);
      const agent = listening();
      const peer = await answerOffer(change(page.offer), { ...OPTIONS, ...options }, agent.to);
      await page.accept(peer.answer);
      const leg = await peer.connected;
      open.push({ close: () => leg.hangUp() });
      return { page, agent, peer, leg };
    },
    end: async () => {
      for (const each of open.splice(0).toReversed()) await each.close();
    },
  };
}

export function sctpOf({ connection }: Awaited<ReturnType<typeof browser>>) {
  const { sctp } = connection.sctpTransport ?? {};
  if (!sctp) throw new Error("the page has no data channel");
  return sctp;
}
