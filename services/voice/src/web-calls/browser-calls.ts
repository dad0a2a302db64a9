import { ServiceError } from "@parley/shared/errors";
import { NotConnected, type StartCall } from "../call/port.ts";
import type { WebCallRow } from "../store/web-calls.ts";
import { readOffer } from "../transport/webrtc/offer.ts";
import { answerOffer, type WebRtcOptions } from "../transport/webrtc/peer.ts";
import { newsMessage } from "./messages.ts";
import { pageClient } from "./page-client.ts";

/** The browsers' calls that this process holds. */
export interface BrowserCalls {
  /**
   * Starts the call and returns the answer to the browser's offer.
   * @throws ServiceError invalid for an offer that cannot be answered, or the error that refuses the call
   */
  connect(call: WebCallRow, offer: string): Promise<string>;
}

export function browserCalls(startCall: StartCall, webRtc: WebRtcOptions): BrowserCalls {
  return {
    connect: async (call, sdp) => {
      // Before anything begins: an offer that cannot be answered leaves no conversation behind.
      const peer = await answerOffer(readOffer(sdp), webRtc);
      const answered = Promise.withResolvers<string>();
      const begun = await startCall(
        {
          ...call,
          isTestCall: call.draftId !== null,
          channel: { type: "WEB" },
          watch: (news) => void peer.tell(newsMessage(news)),
          tellsTools: call.draftId !== null,
          client: pageClient(peer),
        },
        async (listener, signal) => {
          signal.addEventListener("abort", peer.close, { once: true });
          if (signal.aborted) peer.close();
          answered.resolve(peer.answer);
          try {
            return await peer.connected(listener);
          } catch (error) {
            throw new NotConnected(
              "failed",
              error instanceof ServiceError ? error.detail : "The browser was not connected",
            );
          }
        },
      ).catch((error) => {
        peer.close();
        throw error;
      });
      void begun.ended.then(() => {
        answered.reject(new ServiceError("unavailable", "The call ended before it was connected: make another one"));
      });
      return answered.promise;
    },
  };
}
