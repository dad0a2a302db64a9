/** How soon more occurrences of a word stop to count, and how much the length of a chunk counts: the values of published figures. */
export const K1 = 0.9;
export const B = 0.4;

/** How much a word tells, by the number of chunks that have it: its inverse document frequency. */
export function idfOf(chunksWithWord: number, chunks: number): number {
  return Math.log(1 + (Math.max(0, chunks - chunksWithWord) + 0.5) / (chunksWithWord + 0.5));
}
