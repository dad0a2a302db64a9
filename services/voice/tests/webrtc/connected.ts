import { readOffer } from "../../src/transport/webrtc/offer.ts";
import { answerOffer, type WebRtcOptions } from "../../src/transport/webrtc/peer.ts";
import { listening } from "../listening.ts";
import { type BrowserSettings, browser } from "./browser.ts";

export const OPTIONS: WebRtcOptions = {
  hostname: "127.0.0.1",
  ports: { first: 26_000, last: 26_999 },
  dropped: () => {},
};

/** Calls between browsers and agents, for a test to end. */
export function callsForTest() {
  const open: { close(): unknown }[] = [];
  const opened = async (settings?: BrowserSettings) => {
    const page = await browser(settings);
    open.push(page);
    return page;
  };
  /** An answer to an offer, whose call the page has not connected yet. */
  const answered = async (offer: string, options: Partial<WebRtcOptions> = {}) => {
    const agent = listening();
    const peer = await answerOffer(readOffer(offer), { ...OPTIONS, ...options });
    open.push(peer);
    const connected = peer.connected(agent.to);
    connected.catch(() => {});
    return { agent, peer: { ...peer, connected } };
  };
  return {
    opened,
    answered,
    connected: async (
      change = (offer: string) => offer,
      options: Partial<WebRtcOptions> = {},
      settings: BrowserSettings = {},
    ) => {
      const page = await opened(settings);
      const { agent, peer } = await answered(change(page.offer), options);
      page.accept(peer.answer);
      return { page, agent, peer, leg: await peer.connected };
    },
    end: async () => {
      for (const each of open.splice(0).toReversed()) await each.close();
    },
  };
}
