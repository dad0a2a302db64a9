/** Finds the vectors that are closest to one. */
export interface VectorIndex {
  /**
   * The chunks of bases whose vectors are closest, the closest first. Bases whose vectors have another number of dimensions have none.
   * @throws when the database does not answer
   */
  nearest(asked: NearestQuery): Promise<NearChunk[]>;
}

interface NearestQuery {
  ownerId: string;
  bases: readonly { baseId: string; version: number }[];
  model: string;
  /** Of length 1. */
  vector: Float32Array;
  limit: number;
}

export interface NearChunk {
  chunkId: string;
  /** The cosine of the angle, from -1 to 1. */
  similarity: number;
}
