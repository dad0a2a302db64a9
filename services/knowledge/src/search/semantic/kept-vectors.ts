/** The vectors of a base, one after another. */
export interface KeptVectors {
  ids: readonly string[];
  dimensions: number;
  values: Float32Array;
}

interface VectorMemory {
  /**
   * The vectors of an owner's base, which are read if their version is not the one that is kept.
   * @param read is given those of an earlier version, and returns null for a base that is too large to keep
   */
  get(
    ownerId: string,
    key: string,
    version: number,
    read: (before: KeptVectors | null) => Promise<KeptVectors | null>,
  ): Promise<KeptVectors | null>;
  /** That the bases of one owner may have. */
  ownerBytes: number;
}

interface Entry {
  ownerId: string;
  version: number;
  /** The newest that was read. */
  vectors: KeptVectors | null;
  reading: Promise<KeptVectors | null> | null;
}

const OWNER_BYTES = 384 * 1024 ** 2;
const TOTAL_BYTES = 768 * 1024 ** 2;

/** Keeps the vectors of the bases that were searched last, within the bytes of an owner and of the process. */
export function keepVectors(limits = { ownerBytes: OWNER_BYTES, totalBytes: TOTAL_BYTES }): VectorMemory {
  /** The one that was asked for longest ago first. */
  const entries = new Map<string, Entry>();

  function makeRoom(kept: string): void {
    for (const [key, entry] of entries) {
      const { ownerId } = entry;
      const isOver = bytesOf(ownerId) > limits.ownerBytes && ownerId === entries.get(kept)?.ownerId;
      if (key !== kept && (isOver || bytesOf() > limits.totalBytes)) entries.delete(key);
    }
  }

  function bytesOf(ownerId?: string): number {
    let bytes = 0;
    for (const entry of entries.values()) {
      if (ownerId === undefined || entry.ownerId === ownerId) bytes += entry.vectors?.values.byteLength ?? 0;
    }
    return bytes;
  }

  return {
    ownerBytes: limits.ownerBytes,
    get: async (ownerId, name, version, read) => {
      const key = `${ownerId} ${name}`;
      const entry = entries.get(key) ?? { ownerId, version: -1, vectors: null, reading: null };
      entries.delete(key);
      entries.set(key, entry);
      if (entry.version === version) return entry.reading ?? entry.vectors;
      entry.version = version;
      const reading = (entry.reading ?? Promise.resolve(null))
        .catch(() => null)
        .then(() => read(entry.vectors))
        .then((vectors) => {
          entry.vectors = vectors;
          makeRoom(key);
          return vectors;
        });
      entry.reading = reading;
      try {
        return await reading;
      } catch (error) {
        // The next search reads again.
        if (entry.reading === reading) entry.version = -1;
        throw error;
      } finally {
        if (entry.reading === reading) entry.reading = null;
      }
    },
  };
}
