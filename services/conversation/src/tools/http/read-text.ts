import type { Answer } from "@parley/shared/egress/answer";
import { storable } from "../../store/storable.ts";

/**
 * Reads a body up to so many bytes as UTF-8, and no further. Invalid UTF-8 becomes U+FFFD, NUL is left out.
 * @throws what the answer's `read` throws
 */
export async function readText(answer: Answer, bytesMax: number): Promise<{ text: string; isCut: boolean }> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (let next = await answer.read(); next; next = await answer.read()) {
    pieces.push(...next);
    bytes += next.reduce((sum, piece) => sum + piece.length, 0);
    if (bytes <= bytesMax) continue;
    answer.cancel();
    // A character that is cut at the end is left out.
    const text = new TextDecoder().decode(Buffer.concat(pieces, bytesMax), { stream: true });
    return { text: storable(text), isCut: true };
  }
  return { text: storable(new TextDecoder().decode(Buffer.concat(pieces))), isCut: false };
}
