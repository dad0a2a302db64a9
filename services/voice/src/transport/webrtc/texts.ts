import type { RTCDataChannel, RTCPeerConnection } from "werift";

/** Texts for a browser that is slow, or whose channel is not open yet; more is dropped. */
const UNSENT_MAX_BYTES = 64 * 1024;

/**
 * Sends texts over the first data channel that the browser opens. It opens after the audio has connected, so what is said until then
 * waits for it.
 */
export function textsTo(connection: RTCPeerConnection): (text: string) => void {
  let channel: RTCDataChannel | null = null;
  let waiting: string[] = [];
  let waitingBytes = 0;

  const send = (to: RTCDataChannel, text: string) => {
    if (to.readyState !== "open" || to.bufferedAmount >= UNSENT_MAX_BYTES) return;
    try {
      to.send(text);
    } catch {
      // The browser accepts only shorter messages (RFC 8841, max-message-size).
    }
  };
  connection.onDataChannel.subscribe((opened) => {
    if (channel) return;
    channel = opened;
    opened.stateChanged.subscribe((state) => {
      if (state !== "open") return;
      const texts = waiting;
      waiting = [];
      for (const text of texts) send(opened, text);
    });
  });
  return (text) => {
    if (channel && channel.readyState !== "connecting") return send(channel, text);
    waitingBytes += Buffer.byteLength(text);
    if (waitingBytes <= UNSENT_MAX_BYTES) waiting.push(text);
  };
}
