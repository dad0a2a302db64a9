import type { CallClient } from "../call/port.ts";
import type { WebRtcPeer } from "../transport/webrtc/peer.ts";
import { clientCallMessage, errorMessage, pageMessage } from "./messages.ts";

/** With this subprotocol of its data channel, a page says that it makes calls of client tools. */
const PROTOCOL = "client_tools";

/** The page at the other end, which makes the calls that it gets over its data channel. */
export function pageClient(peer: Pick<WebRtcPeer, "tell" | "protocol" | "hear">): CallClient {
  const refuse = (toolCallId: string | null, detail: string) => void peer.tell(errorMessage(toolCallId, detail));
  return {
    isThere: () => peer.protocol() === PROTOCOL,
    hand: (call) => peer.tell(clientCallMessage(call)),
    refuse,
    listen: ({ gave, left }) =>
      peer.hear({
        text: (text) => {
          const message = pageMessage(text);
          if ("fault" in message) refuse(message.toolCallId, message.fault);
          else gave(message.result);
        },
        closed: left,
      }),
  };
}
