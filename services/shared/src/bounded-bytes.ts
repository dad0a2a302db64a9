/** Reads a body whose length nobody promises. Null, and the rest is left, when it has more than `bytesMax`. */
export async function readBounded(
  { body }: Pick<Response, "body">,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
