/**
 * Reads a body whose length nobody promises.
 * @param arrived is told the bytes that have arrived before more are read; what it throws ends the reading
 * @returns null, and the rest is left, when it has more than `bytesMax`
 */
export async function readBounded(
  { body }: Pick<Response, "body">,
  bytesMax: number,
  arrived?: (bytes: number) => Promise<void> | null,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return null;
    const wait = arrived?.(bytes);
    if (wait) await wait;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
