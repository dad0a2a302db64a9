import type { DataChannel } from "node-datachannel";

/** Texts for a browser that is slow, or whose channel is not open yet; more is dropped. */
const UNSENT_MAX_BYTES = 64 * 1024;

interface Texts {
  /** Sends texts over this channel from now on, unless there is one already. */
  use(channel: DataChannel): void;
  /** @returns false if the text is dropped */
  tell(text: string): boolean;
  /** What the browser's application speaks over the channel (RFC 8832, section 5.1); null while it is not open. */
  protocol(): string | null;
  /** Whether texts are sent over this channel. */
  uses(channel: DataChannel): boolean;
}

/**
 * Sends texts over the first data channel that the browser opens. It opens after the audio has connected, so what is said until then
 * waits for it.
 */
export function textsFor(): Texts {
  let channel: DataChannel | null = null;
  let waiting: string[] = [];
  let waitingBytes = 0;

  const send = (to: DataChannel, text: string) => {
    try {
      if (!to.isOpen() || to.bufferedAmount() >= UNSENT_MAX_BYTES) return false;
      // It answers whether the text has left, not whether it will.
      to.sendMessage(text);
      return true;
    } catch {
      // The browser accepts only shorter messages (RFC 8841, max-message-size), or has just left.
      return false;
    }
  };
  return {
    use: (opened) => {
      if (channel) return opened.close();
      channel = opened;
      for (const text of waiting) send(opened, text);
      waiting = [];
    },
    tell: (text) => {
      if (channel) return send(channel, text);
      waitingBytes += Buffer.byteLength(text);
      if (waitingBytes > UNSENT_MAX_BYTES) return false;
      waiting.push(text);
      return true;
    },
    protocol: () => (channel?.isOpen() ? channel.getProtocol() : null),
    uses: (other) => other === channel,
  };
}
