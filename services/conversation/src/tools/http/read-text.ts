import type { Answer } from "@parley/shared/egress/answer";
import { storable } from "../../store/storable.ts";

/**
 * Reads a body up to so many bytes as UTF-8, and no further. Invalid UTF-8 becomes U+FFFD, NUL is left out.
 * @throws what the answer's `read` throws
 */
export async function readText(answer: Answer, bytesMax: number): Promise<{ text: string; isCut: boolean }> {
  // Each piece that is kept takes memory of its own, however small it is.
  const body = new Bun.ArrayBufferSink();
  body.start({ asUint8Array: true });
  let bytes = 0;
  for (let next = await answer.read(); next && bytes <= bytesMax; next = await answer.read()) {
    for (const piece of next) bytes += Number(body.write(piece));
  }
  const isCut = bytes > bytesMax;
  if (isCut) answer.cancel();
  const read = body.end() as Uint8Array;
  // A character that is cut at the end is left out.
  return { text: storable(new TextDecoder().decode(read.subarray(0, bytesMax), { stream: isCut })), isCut };
}
