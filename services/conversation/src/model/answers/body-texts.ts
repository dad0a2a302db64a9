import { loopTurns } from "@parley/shared/shares/loop-shares";

/** Bytes that are parsed at once. A single chunk may be longer, if the network delivered it so. */
const BYTES_AT_ONCE = 16 * 1024;
const turns = loopTurns();

/**
 * Decodes a body as it is read and has it parsed in short pieces, one in each turn of the event loop, because much of a model's
 * answer may arrive while its turn waits for its reader.
 * @param ownerId null for a model that nobody shares the loop with
 */
export function bodyTexts(ownerId: string | null) {
  const decoder = new TextDecoder();
  return {
    /** @param parse gets a text and how many bytes follow it; is awaited if it returns a promise */
    async parse(
      chunks: readonly Uint8Array[],
      parse: (text: string, leftBytes: number) => Promise<void> | null,
    ): Promise<void> {
      let leftBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      for (let at = 0; at < chunks.length; ) {
        if (at > 0 && ownerId !== null) await turns.next(ownerId);
        let text = "";
        let bytes = 0;
        for (; at < chunks.length; at++) {
          const chunk = chunks[at] as Uint8Array;
          if (bytes > 0 && bytes + chunk.length > BYTES_AT_ONCE) break;
          bytes += chunk.length;
          text += decoder.decode(chunk, { stream: true });
        }
        leftBytes -= bytes;
        const wait = parse(text, leftBytes);
        if (wait) await wait;
      }
    },
  };
}
